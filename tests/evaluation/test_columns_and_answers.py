"""Columns by which answers are predicted."""

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.dataset import Dataset
from semicrowd.estimators.inputs import checked_features, items_to_fit
from semicrowd.evaluation.columns_and_answers import telling_columns
from semicrowd.methods.cotraining import CoTraining

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(3, size=400)
TABLE = pd.DataFrame({
    "length": RNG.normal(size=400), "colour": np.array(["red", "blue", "green"])[COLOUR],
    "weight": RNG.normal(size=400), "town": RNG.choice(list("abcdefgh"), 400),
})  # fmt: skip


def _data(table: pd.DataFrame) -> Dataset:
    model = CoTraining()
    found = items_to_fit(model, table)
    return Dataset("table", checked_features(model, found.X, fit=True).astype(np.float32), columns=found.columns)


def _answers(number: int, seed: int = 1) -> PairAnnotations:
    """About colour alone, nine of ten right."""
    rng = np.random.default_rng(seed)
    i = rng.integers(400, size=number)
    j = (i + rng.integers(1, 400, size=number)) % 400
    right = rng.random(number) < 0.9
    return PairAnnotations.from_arrays(i, j, np.zeros_like(i), ((COLOUR[i] == COLOUR[j]) == right).astype(int),
                                       num_items=400)  # fmt: skip


@pytest.mark.parametrize("gaps", [False, True])
def test_columns_are_named_by_what_they_tell_about_the_answers(gaps: bool) -> None:
    table = TABLE.assign(length=TABLE["length"].where(TABLE.index % 9 > 0)) if gaps else TABLE
    much, little = telling_columns(_data(table), _answers(2000))
    assert much.startswith("columns that predict the answers best: colour (")
    assert little.startswith("columns that hardly matter")
    assert {"length", "weight"} <= {name for name in TABLE if f"{name} (0" in little} <= {"length", "weight", "town"}


def test_few_answers_and_columns_without_names_say_nothing() -> None:
    assert list(telling_columns(_data(TABLE), _answers(12))) == []
    assert list(telling_columns(Dataset("table", np.ones((400, 2), np.float32)), _answers(2000))) == []
