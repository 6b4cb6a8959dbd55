"""The saved view that the UI opens with."""

import json

from semicrowd.tracking.store import open_store
from semicrowd.tracking.view import page


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
