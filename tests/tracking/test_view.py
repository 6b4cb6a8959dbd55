"""The saved view that the UI opens with."""

import json

from semicrowd.tracking.store import open_store
from semicrowd.tracking.ui import page


def test_the_page_names_a_view_that_the_experiment_has(uri: str) -> None:
    store = open_store(uri, "viewed")
    address = page(store)
    assert address.startswith(f"#/experiments/{store.experiment_id}/runs?")
    key = address.rpartition("viewStateShareKey=")[2]
    tags = store.client.get_experiment(store.experiment_id).tags
    view = json.loads(tags[f"mlflow.sharedViewState.{key}"])
    assert {"params.`seed`", "metrics.`train/acc`"} <= set(json.loads(view["state"])["selectedColumns"])


def test_a_view_that_was_changed_stays(uri: str) -> None:
    store = open_store(uri, "viewed")
    key = page(store).rpartition("viewStateShareKey=")[2]
    store.client.set_experiment_tag(store.experiment_id, f"mlflow.sharedViewState.{key}", "mine")
    page(store)
    assert store.client.get_experiment(store.experiment_id).tags[f"mlflow.sharedViewState.{key}"] == "mine"


def test_scores_by_labels_have_columns_where_a_run_has_labels(uri: str) -> None:
    store = open_store(uri, "own data")

    def columns() -> list[str]:
        key = page(store).rpartition("viewStateShareKey=")[2]
        tag = store.client.get_experiment(store.experiment_id).tags[f"mlflow.sharedViewState.{key}"]
        return list(json.loads(json.loads(tag)["state"])["selectedColumns"])

    run = store.client.create_run(store.experiment_id)
    store.client.log_metric(run.info.run_id, "clusters/used", 3)
    assert not any("acc" in column or "nmi" in column for column in columns())
    assert "metrics.`clusters/used`" in columns()
    store.client.log_metric(run.info.run_id, "train/acc", 0.9)
    assert "metrics.`train/acc`" in columns()
