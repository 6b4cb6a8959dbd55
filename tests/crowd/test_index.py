"""The annotated items numbered on their own, and counts of answers between them, against loops over the answers."""

import pickle
from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.random import stream, torch_stream


@st.composite
def any_answers(draw: st.DrawFn) -> PairAnnotations:
    """Some answers about a few items, with gaps among the ids, repetitions and contradictions; perhaps with tasks."""
    num_items = draw(st.integers(2, 25))
    num_pairs = draw(st.integers(1, 40))
    item = st.integers(0, num_items - 1)
    pair = st.tuples(item, item).filter(lambda ends: ends[0] != ends[1])
    i, j = np.array(draw(st.lists(pair, min_size=num_pairs, max_size=num_pairs))).T
    label = draw(st.lists(st.integers(0, 1), min_size=num_pairs, max_size=num_pairs))
    names = draw(st.lists(st.integers(0, 3), min_size=num_pairs, max_size=num_pairs))
    worker = np.unique(names, return_inverse=True)[1]
    with_tasks = draw(st.booleans())
    task = draw(st.lists(st.integers(0, 4), min_size=num_pairs, max_size=num_pairs)) if with_tasks else None
    return PairAnnotations.from_arrays(i, j, worker, label, num_items=num_items, task=task)


def _groups(answers: PairAnnotations) -> set[frozenset[int]]:
    """Items that answers connect, by joining two sets at a time."""
    group = {int(item): {int(item)} for item in [*answers.i, *answers.j]}
    for i, j in zip(answers.i.tolist(), answers.j.tolist(), strict=True):
        if group[i] is not group[j]:
            group[i] |= group[j]
            for item in group[j]:
                group[item] = group[i]
    return {frozenset(members) for members in group.values()}


@given(any_answers())
def test_the_index_of_any_answers(answers: PairAnnotations) -> None:
    index = answers.index
    assert index.items.tolist() == sorted({*answers.i.tolist(), *answers.j.tolist()})
    assert index.items[index.i].tolist() == answers.i.tolist()
    assert index.items[index.j].tolist() == answers.j.tolist()
    members = [index.items[index.component == c].tolist() for c in range(1 + index.component.max())]
    assert sorted(sorted(group) for group in _groups(answers)) == sorted(members)
    for m in range(answers.num_annotators):
        mine = answers.label[answers.worker == m].tolist()
        assert index.counts[m].tolist() == [mine.count(0), mine.count(1)]
    assert index.items.dtype == index.i.dtype == index.component.dtype == index.counts.dtype == np.int64


@given(any_answers())
def test_the_batch_of_all_answers(answers: PairAnnotations) -> None:
    whole = answers.index.whole
    assert whole.items.tolist() == answers.annotated.tolist()
    assert whole.items[whole.i].tolist() == answers.i.tolist()
    assert whole.items[whole.j].tolist() == answers.j.tolist()
    assert whole.worker.tolist() == answers.worker.tolist()
    assert whole.label.tolist() == answers.label.tolist()
    assert set(whole.item_weight.tolist()) == {1.0} == {whole.pair_weight}
    assert (whole.component.tolist(), whole.num_components) == (answers.index.component.tolist(), len(_groups(answers)))
    assert whole.item_weight.dtype == torch.float32


def test_no_copy_has_the_index_of_other_answers() -> None:
    answers = PairAnnotations.from_arrays([3, 5], [5, 9], [0, 0], [1, 0], num_items=10)
    kept = answers.index.whole
    other = replace(answers, i=np.array([0, 1]), label=np.array([0, 0]))
    assert other.index.items.tolist() == [0, 1, 5, 9]
    assert other.index.counts.tolist() == [[2, 0]]
    for copy in (pickle.loads(pickle.dumps(answers)), deepcopy(answers)):
        assert "index" not in vars(copy)
        assert copy.index.whole is not kept
        assert copy.index.items.tolist() == [3, 5, 9]
    assert len(pickle.dumps(answers)) == len(pickle.dumps(replace(answers)))


@given(any_answers())
def test_answers_of_a_grouping_count_as_few_independent_ones(answers: PairAnnotations) -> None:
    """E[d] / E[d²] over the items of a grouping, where d is the number of others with which an item was put."""
    effective = answers.index.effective()
    if answers.task is None:
        assert effective.tolist() == [1.0] * answers.num_pairs
        return
    groupings = list(zip(answers.task.tolist(), answers.worker.tolist(), strict=True))
    for grouping in set(groupings):
        rows = [row for row, one in enumerate(groupings) if one == grouping]
        d = dict.fromkeys((int(item) for row in rows for item in (answers.i[row], answers.j[row])), 0)
        for row in rows:
            for item in (answers.i[row], answers.j[row]):
                d[int(item)] += int(answers.label[row])
        squares = sum(number**2 for number in d.values())
        expected = sum(d.values()) / squares if squares else 1.0
        np.testing.assert_allclose(effective[rows], expected)
        np.testing.assert_allclose(answers.index.effective(np.array(rows)), expected)
        assert 0 < expected <= 1


def _pairs() -> PairAnnotations:
    rng = stream(0, "test")
    i = rng.integers(8, size=25)
    worker = np.concatenate([np.arange(3), rng.integers(3, size=22)])
    return PairAnnotations.from_arrays(i, rng.integers(i + 1, 9), worker, rng.integers(2, size=25), num_items=9)


def test_agreement_is_counted_by_annotator_and_answer() -> None:
    pairs = _pairs()
    graph = pairs.index.graph
    draws = torch.randn(2, 3, len(graph.items), 4, generator=torch_stream(0, "eta"), dtype=torch.float64)
    eta = (2 * draws).softmax(-1)
    position = {int(item): k for k, item in enumerate(graph.items)}
    expected = torch.zeros(2, 3, 3, 2, dtype=torch.float64)
    counts = torch.zeros(3, 2, dtype=torch.float64)
    for i, j, m, a in zip(pairs.i, pairs.j, pairs.worker, pairs.label, strict=True):
        expected[:, :, m, a] += (eta[:, :, position[int(i)]] * eta[:, :, position[int(j)]]).sum(-1)
        counts[m, a] += 1
    torch.testing.assert_close(graph.agreement(eta)[0], expected)
    assert graph.counts.tolist() == counts.tolist()


def test_the_pull_is_the_derivative_of_the_weighted_agreement() -> None:
    graph = _pairs().index.graph
    generator = torch_stream(1, "eta")
    eta, step = (torch.randn(2, 3, len(graph.items), 4, generator=generator, dtype=torch.float64) for _ in range(2))
    weight = torch.randn(2, 3, 3, 2, generator=generator, dtype=torch.float64)
    agreement, neighbours = graph.agreement(eta)
    # The agreement is a quadratic form: central differences are exact.
    ahead, behind = ((weight * graph.agreement(eta + h * step)[0]).sum() for h in (0.5, -0.5))
    torch.testing.assert_close((graph.pull(neighbours, weight) * step).sum(), ahead - behind)
    assert agreement.shape == weight.shape
