"""The page that the tracking UI opens with: the runs with their main metrics, as one of MLflow's saved views.

MLflow keeps a saved view as a tag of the experiment. Without one its list of runs has no column of any metric.
"""

import json

from semicrowd.tracking.store import Store

#: Another one whenever the columns change: a store has the view that was made for it.
_KEY = "semicrowd-2"
_TAG = f"mlflow.sharedViewState.{_KEY}"
_COLUMNS = (
    *(f"params.`{name}`" for name in ("data", "model", "annotations", "seed", "restarts")),
    *(
        f"metrics.`{name}`"
        for name in (
            "train/acc", "train/nmi", "annotated/acc", "test/acc", "test/nmi", "answers/held_out_gain",
            "answers/cross_validated_gain", "clusters/used", "elbo/train", "warnings/count",
        )
    ),
)
_STATE = {"selectedColumns": _COLUMNS}


def page(store: Store) -> str:
    """Address of the page, relative to the server; the view is made if the experiment does not have it."""
    if _TAG not in store.client.get_experiment(store.experiment_id).tags:
        view = {"name": "results", "createdAt": 0, "updatedAt": 0, "state": json.dumps(_STATE)}
        store.client.set_experiment_tag(store.experiment_id, _TAG, json.dumps(view))
    return f"#/experiments/{store.experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={_KEY}"
