"""Co-training of the same data, answers and seed is done once in a process."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd import simulate
from semicrowd.starts import recent
from semicrowd.starts.portfolio import default_max_clusters
from semicrowd.starts.recent import RecentPortfolios
from semicrowd.starts.selection import Verdict

FEATURES = np.random.default_rng(0).normal(size=(30, 2))
ANSWERS = simulate.two_coin(np.arange(30) % 3, np.random.default_rng(1), num_annotators=2, pairs_per_annotator=20)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The arguments of every portfolio that is made; its result is the number of those before it."""
    given = list[tuple[Any, ...]]()

    class Fake:
        rows, preparations = np.arange(30), dict[str, Any]()

        def __init__(self, *arguments: Any) -> None:
            given.append(arguments)

        def winner(self) -> tuple[Any, Any]:
            return SimpleNamespace(annotators=len(given)), Verdict("it", pd.DataFrame({"score": [1.0]}), 0.0, 1.0, 20)

        def probabilities(self, winner: Any) -> Any:  # noqa: ARG002
            return np.full((30, 2), 0.4), np.full((30, 2), 0.5)

        def shares_of_preparations(self, winner: Any) -> dict[str, float]:  # noqa: ARG002
            return {"none": 1.0}

    monkeypatch.setattr(recent, "Portfolio", Fake)
    return given


def test_the_same_inputs_have_one_portfolio_and_any_other_input_has_its_own(made: list[tuple[Any, ...]]) -> None:
    kept, said = RecentPortfolios(), list[str]()
    usual: dict[str, Any] = {"features": FEATURES, "annotations": ANSWERS, "seed": 0, "max_clusters": 3, "restart": 0,
             "image_shape": None, "previous": None}  # fmt: skip
    other = np.where(np.arange(ANSWERS.num_pairs) == 7, 1 - ANSWERS.label, ANSWERS.label)
    changed: list[dict[str, Any]] = [
        {"features": FEATURES + 1e-9}, {"annotations": replace(ANSWERS, label=other)}, {"seed": 1}, {"max_clusters": 4},
        {"restart": 1}, {"image_shape": (1, 2)}, {"previous": np.zeros(30, np.int64)},
    ]  # fmt: skip
    for number, change in enumerate([{}, *changed], 1):
        found = kept.of(**{**usual, **change}, progress=said.append)
        assert found.annotators == number
    assert not said
    # The index of the answers is made when it is first needed: it is no other input.
    assert ANSWERS.index.whole.items.numel() == len(ANSWERS.annotated)
    copied = {**usual, "features": FEATURES.copy(), "annotations": replace(ANSWERS, label=ANSWERS.label.copy())}
    assert kept.of(**usual, progress=said.append).annotators == 1
    assert kept.of(**copied, progress=said.append).annotators == 1
    table = kept.of(**usual, progress=said.append).verdict.table
    table["score"] = 2.0
    assert kept.of(**usual, progress=said.append).verdict.table["score"].tolist() == [1.0]
    assert kept.of(FEATURES, ANSWERS, 0, said.append).annotators == 9, "the default is another number of clusters"
    usual["max_clusters"] = default_max_clusters(len(ANSWERS.annotated))
    assert kept.of(**usual, progress=said.append).annotators == 9, "the same number, said or not"
    assert len(made) == 9
    assert said == ["start: co-training as in an earlier fit of this process"] * 5


def test_the_oldest_results_go_first(made: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    kept = RecentPortfolios()
    kept.of(FEATURES, ANSWERS, 0, lambda _: None, 3)
    one = len(kept._kept.popitem()[1])
    assert one > 2 * (30 * 2 * 8) + 30 * 8, "probabilities twice, numbers of the items, and more"
    monkeypatch.setattr(recent, "_MOST_BYTES", 2 * one)

    def of(seed: int) -> int:
        before = len(made)
        kept.of(FEATURES, ANSWERS, seed, lambda _: None, 3)
        return len(made) - before

    assert [of(seed) for seed in (0, 1, 1, 2, 1, 0)] == [1, 1, 0, 1, 0, 1]
    monkeypatch.setattr(recent, "_MOST_BYTES", one - 1)
    assert [of(seed) for seed in (5, 5, 0)] == [1, 1, 0], "what is too large is not kept, and nothing is lost for it"
