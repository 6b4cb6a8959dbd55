"""Files of fitted methods: the same predictions in a process of its own, and nothing from files that are no models."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC
from tests.made import Trap

from semicrowd import MCVC, CrowdLogistic, KMeansOnly, load
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators import persistence
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods import METHODS

Problem = tuple[np.ndarray, PairAnnotations]

#: Loads every model of a folder, and writes what it says of the items in items.npy.
FRESH = """
import sys
from pathlib import Path
import numpy as np
import semicrowd
folder = Path(sys.argv[1])
items = np.load(folder / "items.npy")
for path in sorted(folder.glob("*.pt")):
    model = semicrowd.load(path)
    np.save(path.with_suffix(".labels.npy"), model.labels_)
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            np.save(path.with_suffix(f".{method}.npy"), getattr(model, method)(items))
    if model.workers_ is not None:
        model.workers_.to_csv(path.with_suffix(".csv"), index=False)
"""


def test_a_fresh_process_predicts_the_same_bytes_without_the_data(
    quick: Callable[..., CrowdClusterer], fit_once: Callable[[str], CrowdClusterer], problem: Problem, tmp_path: Path
) -> None:
    features, pairs = problem
    frame = pd.DataFrame(features, columns=["a", "b", "c"])
    items = np.random.default_rng(9).normal(size=(40, 3)) * 2
    np.save(tmp_path / "items.npy", items)
    models = {}
    for name in METHODS:
        models[name] = quick(name).fit(frame, pairs) if name == "itml" else fit_once(name)
        models[name].save(tmp_path / f"{name}.pt")
    subprocess.run([sys.executable, "-W", "ignore:X does not have", "-c", FRESH, str(tmp_path)], check=True)
    for name, model in models.items():
        assert np.load(tmp_path / f"{name}.labels.npy").tobytes() == model.labels_.tobytes()
        for method in ("predict", "predict_proba"):
            assert (tmp_path / f"{name}.{method}.npy").exists() == hasattr(model, method)
            if hasattr(model, method):
                asked = pd.DataFrame(items, columns=["a", "b", "c"]) if name == "itml" else items
                expected = getattr(model, method)(asked)
                assert np.load(tmp_path / f"{name}.{method}.npy").tobytes() == expected.tobytes()
        if model.workers_ is not None:
            found = pd.read_csv(tmp_path / f"{name}.csv", dtype={"annotator": str})
            expected = model.workers_.astype({"annotator": found["annotator"].dtype})
            pd.testing.assert_frame_equal(found, expected, check_exact=False, rtol=1e-14)


@pytest.mark.parametrize("classifier", ["logistic", "mlp"])
def test_parameters_come_back_and_a_loaded_model_can_be_saved_and_fitted(
    classifier: str, problem: Problem, tmp_path: Path
) -> None:
    path, again = tmp_path / "one.pt", tmp_path / "deep" / "two.pt"
    frame = pd.DataFrame(problem[0], columns=["a", "b", "c"])
    model = CrowdLogistic(3, classifier=classifier, random_state=np.random.RandomState(3))
    model.fit(frame, problem[1])
    model.save(path)
    found = CrowdLogistic.load(path)
    assert {**found.get_params(), "random_state": None} == {**model.get_params(), "random_state": None}
    assert found.random_state.randint(1000) == model.random_state.randint(1000)
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
    found.save(again)
    assert np.array_equal(CrowdLogistic.load(again).predict(frame), model.predict(frame))
    assert np.array_equal(found.set_params(random_state=model.seed_).fit(frame, problem[1]).labels_, model.labels_)


def test_files_that_are_no_models(problem: Problem, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with pytest.raises(NotFittedError):
        KMeansOnly(3).save(path)
    for missing in (path, tmp_path):
        with pytest.raises(UserError, match=str(missing)):
            load(missing)
    KMeansOnly(3).fit(*problem).save(path)
    with pytest.raises(UserError, match="MCVC"):
        MCVC.load(path)
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[: len(whole) // 2], whole[:200]):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"model\.pt"):
            load(path)
    with pytest.raises(TypeError, match="SVC"):
        persistence.encode({"a": [SVC()]})


#: Path of keys into the coded state of a KMeansOnly → what is put there; ``...`` leaves it out.
SPOILT: list[tuple[tuple[str, ...], Any]] = [
    ((), 1), ((), ["dict", []]), ((), ["dict", [["a", "b"], 1]]),
    *((("labels_",), value) for value in (..., 1, "text", ["list", []], ["KMeans", ["dict", []]])),
    (("n_features_in_",), "3"), (("n_clusters",), -1), (("random_state",), "a"), (("workers_",), True),
    (("columns_",), "a"), (("model_",), ["SVC", ["dict", []]]), (("labels_",), None),
    (("model_", "predict"), 1), (("model_", "__class__"), 1), (("__class__",), 1), (("predict",), 1), (("fit",), "x"),
    (("unknown_",), 1), (("result_", "final"), 1), (("result_", "unknown"), 1), (("result_", "final", "cluster"), "x"),
    (("result_", "__doc__"), "x"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "value"), SPOILT)
def test_a_state_of_other_fields_or_types_is_no_model(
    fit_once: Callable[[str], CrowdClusterer], tmp_path: Path, keys: tuple[str, ...], value: Any
) -> None:
    fit_once("kmeans").save(path := tmp_path / "model.pt")
    content = torch.load(path, weights_only=True)
    assert load(path).n_clusters_ > 1
    place = content["estimator"]
    if not keys:
        place[1] = value
    for depth, key in enumerate(keys):
        state = place[1][1]
        found = [pair for pair in state if pair[0] == key]
        if depth < len(keys) - 1:
            place = found[0][1]
            continue
        state[:] = [pair for pair in state if pair[0] != key] + ([] if value is ... else [[key, value]])
    torch.save(content, path)
    with pytest.raises(UserError, match=r"model\.pt"):
        load(path)


def test_nothing_in_a_file_is_executed_and_one_of_another_kind_is_no_model(problem: Problem, tmp_path: Path) -> None:
    path, trap = tmp_path / "model.pt", tmp_path / "executed"
    KMeansOnly(3).fit(*problem).save(path)
    content = torch.load(path, weights_only=True)
    kinds = (1, ["__class__", 1], ["SVC", ["dict", []]], ["KMeans", ["dict", []]], Trap(trap))
    others: list[dict[str, Any]] = [{"format": "another"}, {"more": Trap(trap)}, *({"estimator": one} for one in kinds)]
    for spoilt in (*({**content, **change} for change in others), Trap(trap)):
        torch.save(spoilt, path)
        with pytest.raises(UserError, match=r"model\.pt"):
            load(path)
    path.write_bytes(pickle.dumps(Trap(trap)))
    with pytest.raises(UserError, match=r"model\.pt"):
        load(path)
    assert not trap.exists()
    pickle.loads(path.read_bytes())  # the trap is one
    assert trap.exists()
