"""Slow parts of a start are done once in a process for the same inputs."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.small_fits import small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.fitting.monitor import Monitor
from semicrowd.starts import recent, vae
from semicrowd.starts.recent import RECENT, RecentResults
from semicrowd.starts.vae import train_vae

ITEMS = np.random.default_rng(0).normal(size=(30, 2))


def nothing(_: str) -> None:
    """Tell nobody."""


def test_the_same_inputs_have_one_result_and_others_their_own() -> None:
    kept, said, made = RecentResults(), list[str](), list[int]()

    def compute() -> tuple[int, np.ndarray]:
        made.append(len(made))
        return made[-1], np.zeros(3)

    def of(items: np.ndarray, seed: int, name: str = "it") -> tuple[int, np.ndarray]:
        return kept.of(compute, (items, seed), said.append, name)

    assert [of(ITEMS, 0)[0], of(ITEMS + 1e-9, 0)[0], of(ITEMS, 1)[0], of(ITEMS, 0, "that")[0]] == [0, 1, 2, 3]
    assert not said
    number, values = of(ITEMS.copy(), 0)
    values[:] = 1
    assert number == 0
    assert of(ITEMS, 0)[1].tolist() == [0, 0, 0], "each user has a copy of its own"
    assert said == ["start: it as in an earlier fit of this process"] * 2


def test_seconds_of_a_fit_count_the_saved_ones_after_a_resume_too(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(recent, "perf_counter", lambda: now[0])

    def compute() -> int:
        now[0] += 5
        return 1

    RECENT.of(compute, 0, nothing, "it")
    monitor, resumed = Monitor(), Monitor()
    monitor.begin()
    RECENT.of(compute, 0, nothing, "it")
    now[0] += 1
    assert monitor.seconds == 6
    resumed.load_state(monitor.state())
    now[0] += 2
    resumed.end()
    now[0] += 4
    assert resumed.seconds == 8


def test_the_oldest_results_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, made = RecentResults(), list[int]()

    def compute() -> np.ndarray:
        made.append(0)
        return ITEMS

    kept.of(compute, 0, nothing, "items")
    one = len(kept._kept.popitem()[1][0])
    assert one > ITEMS.nbytes
    monkeypatch.setattr(recent, "_MOST_BYTES", 2 * one)

    def of(inputs: int) -> int:
        before = len(made)
        kept.of(compute, inputs, nothing, "items")
        return len(made) - before

    assert [of(inputs) for inputs in (0, 1, 1, 2, 1, 0)] == [1, 1, 0, 1, 0, 1]
    monkeypatch.setattr(recent, "_MOST_BYTES", one - 1)
    assert [of(inputs) for inputs in (5, 5, 0)] == [1, 1, 0], "what is too large is not kept, and nothing is forgotten"


@pytest.mark.parametrize("name", ["scdc", "bayes"])
def test_fits_share_their_vae_whatever_their_answers(
    name: str, pinwheel: Dataset, answers: PairAnnotations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The networks of the second model are those of the first, to the byte, and other settings train anew."""
    trained, real = list[object](), vae._train

    def counted(*given: Any) -> None:
        trained.append(given)
        real(*given)

    monkeypatch.setattr(vae, "_train", counted)

    def values(answers: PairAnnotations | None = None, **how: Any) -> list[torch.Tensor]:
        fit = small_fit(name, pinwheel.features, answers, **how)
        train_vae(fit.model, fit.data, fit.recipe.start, fit.said.append)
        return [parameter.detach().clone() for parameter in fit.model.vae_parameters()]

    first, again = values(), values(answers)
    assert len(trained) == 1
    assert all(torch.equal(one, other) for one, other in zip(first, again, strict=True))
    others: list[dict[str, Any]] = [
        {"seed": 1}, {"batch_size": 20}, {"start": {"epochs": 1}}, {"hidden": (9,)}, {"latent_dim": 3},
        {"initial_variance": 0.5},
    ]  # fmt: skip
    for number, how in enumerate(others, 2):
        values(**how)
        assert len(trained) == number
