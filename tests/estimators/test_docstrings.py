"""``help`` of a method: all parameters, all attributes that a fit sets, and examples that run."""

import doctest
import inspect

import numpy as np
import pytest
from sklearn.datasets import load_iris

from semicrowd import SCDC, BayesSCDC, CoTraining
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.docstrings import sections


@pytest.mark.parametrize("kind", [SCDC, BayesSCDC, CoTraining])
def test_its_examples_run(kind: type) -> None:
    found = doctest.DocTestFinder(recurse=False).find(kind, globs={})
    results = [doctest.DocTestRunner().run(one) for one in found]
    assert sum(one.attempted for one in results) > 3
    assert not any(one.failed for one in results)


def test_each_example_shows_what_is_its_own() -> None:
    said = [{one.source for one in doctest.DocTestParser().get_examples(kind.__doc__ or "") if one.want}
            for kind in (SCDC, BayesSCDC, CoTraining)]
    assert not said[0] & said[1] | said[0] & said[2] | said[1] & said[2]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_help_has_parameters_and_attributes(name: str) -> None:
    kind = ESTIMATORS[name]
    found = sections(kind)
    for parameter in inspect.signature(kind).parameters:
        assert f"{parameter} : " in found["Parameters"]
    assert found["Attributes"].startswith(kind._attributes)
    assert "\nworkers_ : " in "\n" + found["Attributes"]
    assert list(found)[1:3] == ["Parameters", "Attributes"]


@pytest.mark.parametrize("kind", [SCDC, BayesSCDC])
def test_every_attribute_of_a_fit_is_described(kind: type) -> None:
    features, _ = load_iris(return_X_y=True)
    model = kind(epochs=0, settings={"start.kind": "cold"}).fit(features, pairs=np.array([[0, 1, 1]]))
    described = {name.strip() for line in sections(kind)["Attributes"].splitlines()
                 for name in line.partition(" : ")[0].split(",")}  # fmt: skip
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert {"model_", "labels_"} <= public
    assert public <= described
