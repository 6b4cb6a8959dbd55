"""Types of annotators against scipy's Dirichlet-multinomial, and on crowds whose types are known."""

import numpy as np
import pytest
import torch
from scipy import stats

from semicrowd.inference.confusions import Types, _cells

K = 4


def counts_of(careful: int, confused: int, tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Placements [M, K, K + 1]: the careful misplace one item in a hundred, the confused take kinds 2 and 3 for one."""
    rows = np.full((careful + confused, K, K + 1), 0.01 / K)
    rows[:, range(K), range(K)] = 0.99
    rows[careful:, 3] = rows[careful:, 2]
    return np.array([[rng.multinomial(tasks * 3, row) for row in each] for each in rows]).astype(float)


def evidence_of(types: Types, counts: torch.Tensor) -> np.ndarray:
    """ln p(counts) of each annotator, with C and the type integrated out, [M]."""
    return np.logaddexp.reduce(types._log_joint(_cells(counts), len(counts)), axis=1)


def test_types_are_found_and_the_few_who_confuse_are_not_taken_for_the_others() -> None:
    counts = counts_of(40, 5, 4, np.random.default_rng(0))
    types = Types.usual()
    for _ in range(10):
        types = types.fitted(torch.from_numpy(counts))
    assert types.rows[0, 0] / types.rows[0].sum() > 0.97
    assert types.shares[0] > types.shares[1]
    found = types.mean(torch.from_numpy(counts)).numpy()
    share = counts / counts.sum(-1, keepdims=True)
    # One prior for all draws those who take two kinds for one to the others; their own type does so less.
    for m in range(40, 45):
        assert found[m, 3, 2] > 0.9 * share[m, 3, 2]
    assert found[:40, range(K), range(K)].min() > 0.95


def test_one_placement_moves_the_careful_little_and_the_prior_hardly() -> None:
    counts = torch.from_numpy(counts_of(30, 0, 10, np.random.default_rng(1)))
    types = Types.usual().fitted(counts)
    counts[0, 0, 1] += 1
    again = types.fitted(counts)
    assert np.abs(np.log(again.rows[0] / types.rows[0])).max() < 0.5
    assert float(again.mean(counts)[0, 0, 0]) > 0.95


def test_evidence_and_means_are_those_of_a_mixture_of_dirichlet_multinomials() -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 5, (3, K, K + 1)).astype(float)
    types = Types(np.array([[20.0, 1.0], [1.0, 2.0]]), np.array([0.7, 0.3]))
    evidence, mean = evidence_of(types, torch.from_numpy(counts)), types.mean(torch.from_numpy(counts)).numpy()
    for m in range(3):
        joint, means = [], []
        for (right, wrong), share in zip(types.rows, types.shares, strict=True):
            value, rows = np.log(share), np.empty((K, K + 1))
            for kind in range(K):
                alpha = np.full(K + 1, wrong / K)
                alpha[kind] = right
                own = counts[m, kind].astype(int)
                orders = stats.multinomial(own.sum(), np.full(K + 1, 1 / (K + 1))).logpmf(own)
                orders += own.sum() * np.log(K + 1)
                value += stats.dirichlet_multinomial(alpha, own.sum()).logpmf(own) - orders
                rows[kind] = (alpha + own) / (alpha + own).sum()
            joint.append(value)
            means.append(rows)
        assert evidence[m] == pytest.approx(np.logaddexp.reduce(joint))
        whose = np.exp(joint - np.logaddexp.reduce(joint))
        np.testing.assert_allclose(mean[m], np.tensordot(whose, means, 1), rtol=1e-9)


def test_every_turn_of_em_makes_the_crowd_likelier() -> None:
    counts, types = torch.from_numpy(counts_of(12, 6, 3, np.random.default_rng(3))), Types.usual()
    before = -np.inf
    for _ in range(6):
        evidence = float(evidence_of(types, counts).sum())
        assert evidence > before - 0.5  # the hyperprior has its say, too
        before, types = evidence, types.fitted(counts)


def test_without_placements_the_prior_is_the_usual_one() -> None:
    types = Types.usual().fitted(torch.zeros(3, K, K + 1))
    np.testing.assert_allclose(types.rows, Types.usual().rows)
    np.testing.assert_allclose(types.shares, Types.usual().shares)


def test_of_many_placements_the_likelihood_may_be_below_the_smallest_number() -> None:
    """A thousandfold of them: some e^-1000 each. The prior then says nothing beside them."""
    counts = torch.from_numpy(1000 * counts_of(12, 6, 3, np.random.default_rng(5)))
    types = Types.usual().fitted(counts)
    assert np.isfinite(types.rows).all()
    np.testing.assert_allclose(types.mean(counts), counts / counts.sum(-1, keepdim=True), atol=0.02)
