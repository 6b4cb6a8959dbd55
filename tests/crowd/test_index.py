"""The annotated items numbered on their own, against loops over the answers."""

import pickle
from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from hypothesis import given

from semicrowd.crowd.annotations import PairAnnotations

from .conftest import any_answers


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
