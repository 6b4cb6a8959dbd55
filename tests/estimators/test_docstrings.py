"""``help`` of a method: all parameters, all attributes that a fit sets, and examples that run."""

import doctest

import numpy as np
import pytest
from sklearn.datasets import load_iris

from semicrowd import SCDC, BayesSCDC, CoTraining
from semicrowd.estimators.docstrings import sections


@pytest.mark.parametrize("kind", [SCDC, BayesSCDC, CoTraining])
def test_its_examples_run(kind: type) -> None:
    found = doctest.DocTestFinder(recurse=False).find(kind, globs={})
    results = [doctest.DocTestRunner().run(one) for one in found]
    assert sum(one.attempted for one in results) > 3
    assert not any(one.failed for one in results)


@pytest.mark.parametrize("kind", [SCDC, BayesSCDC])
def test_every_attribute_of_a_fit_is_described(kind: type) -> None:
    features, _ = load_iris(return_X_y=True)
    model = kind(epochs=0, settings={"start.kind": "cold"}).fit(features, pairs=np.array([[0, 1, 1]]))
    described = {name.strip() for line in sections(kind)["Attributes"].splitlines()
                 for name in line.partition(" : ")[0].split(",")}  # fmt: skip
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert {"model_", "labels_"} <= public
    assert public <= described
