"""The hidden Markov model: rooms of a generated walk, the likelihood by its definition, sequences apart."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.metrics import normalized_mutual_info_score

from semicrowd.data.generated import draw_walk
from semicrowd.errors import UserError
from semicrowd.methods.hmm import HMM
from semicrowd.random import stream


def test_rooms_of_a_walk_are_found_and_its_law() -> None:
    counts, rooms, walks = draw_walk(stream(0, "test"))
    model = HMM(6, family="multinomial").fit(counts, sequence=walks)
    assert normalized_mutual_info_score(rooms, model.labels_) > 0.95
    stays = np.diag(model.transitions_) @ np.bincount(model.labels_) / len(rooms)
    assert stays == pytest.approx(0.95, abs=0.03)
    # The likelihood by the forward recursion, of three walks apart.
    emission = counts @ np.log(np.maximum(model.emissions_, 1e-12)).T
    total = 0.0
    for walk in range(3):
        rows = emission[walks == walk]
        with np.errstate(divide="ignore"):
            forward, move = np.log(model.beginning_) + rows[0], np.log(model.transitions_)
        for row in rows[1:]:
            forward = logsumexp(forward[:, None] + move, axis=0) + row
        total += logsumexp(forward)
    assert model.log_likelihood_ == pytest.approx(total, abs=0.05)  # the parameters are one step further


def test_time_tells_what_a_row_alone_does_not() -> None:
    rng = stream(1, "test")
    states = np.repeat(np.arange(20) % 2, 25)
    features = (states + 0.8 * rng.normal(size=500))[:, None]
    found = normalized_mutual_info_score(states, HMM(2).fit(features).labels_)
    assert found > 0.7
    shuffled = rng.permutation(500)
    assert normalized_mutual_info_score(states[shuffled], HMM(2).fit(features[shuffled]).labels_) < found / 2


def test_rows_of_sequences_may_be_mixed() -> None:
    counts, _, walks = draw_walk(stream(2, "test"))
    mixed = np.argsort(np.tile(np.arange(200), 3), kind="stable")
    apart, together = (HMM(6, family="multinomial", n_init=1) for _ in range(2))
    apart.fit(counts, sequence=walks)
    together.fit(counts[mixed], sequence=walks[mixed])
    assert np.array_equal(together.labels_, apart.labels_[mixed])


@pytest.mark.parametrize(
    ("rows", "sequence", "message"),
    [
        ([[1, 2], [3, 0.5]], None, r"X, row 1, column 1: 0\.5; family=multinomial takes whole counts >= 0"),
        ([[1, 2], [-3, 0]], None, r"X, row 1, column 0: -3; family=multinomial takes whole counts >= 0"),
        ([[1, 2], [3, 0]], [0], r"sequence: int64 \[1\]; expected 2 whole numbers, one a row"),
        ([[1, 2], [3, 0]], [0.5, 1], r"sequence: float64 \[2\]; expected 2 whole numbers, one a row"),
    ],
)
def test_what_does_not_fit_is_named(rows: list[list[float]], sequence: list[float] | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        HMM(2, family="multinomial").fit(np.array(rows), sequence=sequence)
