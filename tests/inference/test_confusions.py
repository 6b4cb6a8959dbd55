"""Confusions of kinds against sums over all z and y, and on made tasks."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import betaln, gammaln

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.batch import RelationalBatch
from semicrowd.expfam import dirichlet
from semicrowd.inference.confusions import Placed, place
from semicrowd.inference.task_messages import Confusions

K = 2
AT_FIRST = torch.tensor([0.9, 0.1], dtype=torch.float64).log().expand(1, 8, 2)


def table(rng: np.random.Generator) -> torch.Tensor:
    """ln C of two annotators, [1, 2, K, K + 1]."""
    return torch.from_numpy(rng.dirichlet(np.ones(K + 1), (1, 2, K))).log()


def test_the_perception_sums_over_what_is_perceived() -> None:
    rng = np.random.default_rng(0)
    log_table, h = table(rng), torch.from_numpy(rng.normal(size=(1, 3, K)))
    worker = torch.tensor([0, 1, 1])
    found = Confusions(log_table, worker).perception(h)
    own = torch.from_numpy(rng.dirichlet(np.ones(K), (1, 3)))
    for u, annotator in enumerate(worker):
        weights = [
            [math.exp(log_table[0, annotator, z, k] + (h[0, u, k] if k < K else 0.0)) for k in range(K + 1)]
            for z in range(K)
        ]
        assert found.message[0, u].tolist() == pytest.approx([math.log(sum(row)) for row in weights])
        kind = [sum(float(own[0, u, z]) * weights[z][k] / sum(weights[z]) for z in range(K)) for k in range(K)]
        assert found.marginal(own)[0, u].tolist() == pytest.approx(kind)


def test_who_never_confuses_perceives_what_there_is() -> None:
    rng = np.random.default_rng(2)
    h, own = torch.from_numpy(rng.normal(size=(1, 3, K))), torch.from_numpy(rng.dirichlet(np.ones(K), (1, 3)))
    found = Confusions(table(rng), torch.tensor([0, 1, 1])).never().perception(h)
    torch.testing.assert_close(found.message, h)
    torch.testing.assert_close(found.marginal(own), own)


def given_type(found: Placed, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ln p(an annotator's counts [K, K + 1], type) of each type, and the posterior mean of C given it."""
    types, K = found.types[0], len(counts)
    joint, means = [], []
    for (right, wrong), share in zip(types.rows, types.shares, strict=True):
        prior = np.full((K, K + 1), wrong / K) + (right - wrong / K) * np.eye(K, K + 1)
        joint.append(np.log(share) + dirichlet_multinomial(prior, counts))
        means.append((prior + counts) / (prior + counts).sum(1, keepdims=True))
    return np.array(joint), np.array(means)


def tasks_of(groups: list[list[int]], items: list[list[int]], worker: list[int]) -> RelationalBatch:
    """All pairs of each task; the same group, the answer 1."""
    rows = [
        (a, b, w, int(group[x] == group[y]), t)
        for t, (group, members, w) in enumerate(zip(groups, items, worker, strict=True))
        for (x, a), (y, b) in itertools.combinations(enumerate(members), 2)
    ]
    i, j, annotators, label, task = (np.array(column) for column in zip(*rows, strict=True))
    num_items = int(max(i.max(), j.max())) + 1
    names = tuple(map(str, range(annotators.max() + 1)))
    return PairAnnotations(i, j, annotators, label, task, num_items, names).index.whole


def test_the_posterior_is_near_the_sum_over_everything() -> None:
    """Exact: z and y enumerated, C a Dirichlet-multinomial, α and β Beta-binomials; the last item's kind stays open
    where its features say one and the answers the other."""
    answers = tasks_of([[0, 0, 1]], [[0, 1, 2]], [0])
    for first, last in ((0.9, 0.1), (0.99, 0.01), (0.99, 0.8)):
        p = np.array([[first, 1 - first], [first, 1 - first], [last, 1 - last]])
        found = place(torch.from_numpy(np.log(p))[None], answers, AT_FIRST[:, :1], AT_FIRST[:, :1])
        joint = np.full((K, K, K), -np.inf)
        for z in itertools.product(range(K), repeat=3):
            for y in itertools.product(range(K + 1), repeat=3):
                counts = np.zeros((K, K + 1))
                np.add.at(counts, (list(z), list(y)), 1)
                rows = np.logaddexp.reduce(given_type(found, counts)[0])
                hits = np.zeros((2, 2))
                for i, j, label in zip(answers.i, answers.j, answers.label, strict=True):
                    same = y[i] == y[j] and y[i] < K
                    hits[0 if same else 1, 0 if same == bool(label) else 1] += 1
                quality = sum(betaln(10 + right, 1 + wrong) - betaln(10, 1) for right, wrong in hits)
                joint[z] = np.logaddexp(joint[z], np.log(p[range(3), z]).sum() + rows + quality)
        exact = np.exp(joint - np.logaddexp.reduce(joint, axis=None))
        for item in range(3):
            others = tuple({0, 1, 2} - {item})
            np.testing.assert_allclose(found.log_z[0, item].exp(), exact.sum(others), atol=0.05)


def dirichlet_multinomial(prior: np.ndarray, counts: np.ndarray) -> float:
    """ln of the chance of draws with these counts, in their order; the last axis is that of the values."""
    total = gammaln(prior + counts).sum(-1) - gammaln((prior + counts).sum(-1))
    return float((total - gammaln(prior).sum(-1) + gammaln(prior.sum(-1))).sum())


def test_of_certain_items_it_is_the_textbook_posterior_of_counts() -> None:
    """Items of known kinds in tasks that are right but for two answers: what is perceived is certain, and counts are
    whole numbers. Annotators 0 and 1 have one task and two, of six items, annotator 2 three of eight."""
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
    worker = [0, 1, 1, 2, 2, 2]
    items = [list(range(6 if annotator < 2 else 8)) for annotator in worker]
    items[1] = list(range(4, 10))
    answers = tasks_of([labels[members].tolist() for members in items], items, worker)
    wrong = ((answers.i == 4) & (answers.j == 6)) | ((answers.i == 4) & (answers.j == 5))
    last = torch.arange(len(answers.label)) >= len(answers.label) - 28
    answers = replace(answers, label=torch.where(wrong & last, 1 - answers.label, answers.label))
    chance = np.full((10, 2), 1e-9)
    chance[range(10), labels] = 1 - 1e-9
    # Natural parameters, that of p(z) plus any number: it is normalised.
    found = place(torch.from_numpy(np.log(chance))[None] + 3, answers, AT_FIRST[:, :3], AT_FIRST[:, :3])
    for m in range(3):
        counts = np.zeros((K, K + 1))
        given = np.zeros((2, 2))  # right and wrong answers about pairs of one kind, then of two
        for members, annotator in zip(items, worker, strict=True):
            if annotator == m:
                for item in members:
                    counts[labels[item], labels[item]] += 1
                for a, b in itertools.combinations(members, 2):
                    given[0 if labels[a] == labels[b] else 1, 0] += 1
        if m == 2:
            given += [[-1, 1], [-1, 1]]
        joint, means = given_type(found, counts)
        mean = np.tensordot(np.exp(joint - np.logaddexp.reduce(joint)), means, 1)
        np.testing.assert_allclose(found.confusions[0, m], mean, rtol=0.02, atol=2e-3)
        for eta, side in zip(found.quality, given, strict=True):
            np.testing.assert_allclose(dirichlet.to_standard(eta)[0, m], np.array([10, 1]) + side, atol=0.05)


def crowd(merging: bool, misplaced: bool) -> tuple[RelationalBatch, np.ndarray]:
    """24 tasks of twelve of 30 items in three kinds; half of the six annotators see two kinds as one."""
    rng = np.random.default_rng(3)
    labels = np.arange(30) % 3
    items = [rng.permutation(30)[:12].tolist() for _ in range(24)]
    worker = [t % 6 for t in range(24)]
    groups = []
    for members, annotator in zip(items, worker, strict=True):
        group = labels[members].copy()
        if merging and annotator < 3:
            group[group == 2] = 1
        if misplaced:
            group[0] = (group[0] + 1) % 3
        groups.append(group.tolist())
    return tasks_of(groups, items, worker), labels


@pytest.mark.parametrize(("merging", "misplaced"), [(True, False), (False, True), (True, True)])
def test_merged_kinds_and_misplaced_items_are_seen_through(merging: bool, misplaced: bool) -> None:
    answers, labels = crowd(merging, misplaced)
    kinds = torch.from_numpy(labels[answers.items])
    unary = torch.full((1, len(kinds), 3), 0.1, dtype=torch.float64)
    unary[0, torch.arange(len(kinds)), kinds] = 0.8
    found = place(unary.log(), answers, AT_FIRST[:, :6], AT_FIRST[:, :6])
    assert (found.log_z[0].argmax(-1) == kinds).all()
    known = found.confusions[0, :, :, :-1]
    same = (known[:, 1] * known[:, 2]).sum(-1)  # the chance that an annotator takes items of these kinds for one
    if merging:
        assert same[:3].min() > same[3:].max() + 0.1  # a merged group is called by either name
    else:
        assert same.max() < 0.2


def test_rows_hold_every_placement_once_however_many_turns_there_were() -> None:
    """What an annotator never makes of a kind keeps the prior's share of the row, whose counts are his placements."""
    answers, labels = crowd(merging=True, misplaced=False)
    kinds = torch.from_numpy(labels[answers.items])
    unary = torch.full((1, len(kinds), 3), 0.25, dtype=torch.float64)  # four turns
    unary[0, torch.arange(len(kinds)), kinds] = 0.5
    found = place(unary.log(), answers, AT_FIRST[:, :6], AT_FIRST[:, :6])
    placements = answers.placements
    assert placements is not None
    for m, kind in np.ndindex(6, 3):
        number = int(((placements.worker == m) & (kinds[placements.item] == kind)).sum())
        total = found.types[0].rows.sum(1) + number
        never = found.types[0].rows[:, 1] / 3 / total
        assert never.min() * 0.99 <= float(found.confusions[0, m, kind].min()) <= never.max() * 1.01
