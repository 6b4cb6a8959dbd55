"""The page that the tracking UI opens with: the runs with their main metrics, as one of MLflow's saved views.

MLflow keeps a saved view as a tag of the experiment. Without one its list of runs has no column of any metric.
"""

import json

from semicrowd.tracking.store import Store

#: Another one whenever the columns change: a store has the view that was made for it.
_KEY = "semicrowd-4"
_PARAMETERS = tuple(f"params.`{name}`" for name in ("data", "model", "annotations", "seed", "restarts"))
#: By true classes, which a user's own data seldom have.
_SCORES = ("train/acc", "train/nmi", "annotated/acc", "test/acc", "test/nmi")
_OTHERS = (
    "answers/held_out_gain", "answers/cross_validated_gain", "clusters/used", "elbo/train", "warnings/count",
)  # fmt: skip


def page(store: Store) -> str:
    """Address of the page, relative to the server; the view is made if the experiment does not have it.

    Columns of scores by true classes are there if a run of the experiment has such a score.
    """
    labelled = _has_scores(store)
    key = _KEY if labelled else f"{_KEY}-without-labels"
    tag = f"mlflow.sharedViewState.{key}"
    if tag not in store.client.get_experiment(store.experiment_id).tags:
        metrics = (*(_SCORES if labelled else ()), *_OTHERS)
        state = {"selectedColumns": (*_PARAMETERS, *(f"metrics.`{name}`" for name in metrics))}
        view = {"name": "results", "createdAt": 0, "updatedAt": 0, "state": json.dumps(state)}
        store.client.set_experiment_tag(store.experiment_id, tag, json.dumps(view))
    return f"#/experiments/{store.experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={key}"


def _has_scores(store: Store) -> bool:
    """Whether there is a score by true classes; of an experiment without runs yet nobody knows, and there may be."""
    scored = store.client.search_runs([store.experiment_id], f"metrics.`{_SCORES[0]}` >= 0", max_results=1)
    return bool(scored) or not store.client.search_runs([store.experiment_id], max_results=1)
