"""Clusters of two classes are found from the answers about pairs within clusters, and no others are."""

import numpy as np
import pytest

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.page.mixed_clusters import mixed_clusters

#: Classes of 120 items, and clusters of which the first holds two of them.
LABELS = np.arange(120) % 4
MERGED = np.maximum(LABELS, 1) + 4


def _answers(seed: int, kind: str = "pairs") -> PairAnnotations:
    rng = np.random.default_rng(seed)
    if kind == "pairs":
        return simulate.two_coin(LABELS, rng, num_annotators=3, pairs_per_annotator=100, sensitivity=0.9,
                                 specificity=0.9, num_annotated=120)  # fmt: skip
    return simulate.tasks(LABELS, rng, num_annotators=5, num_tasks=20, task_size=8, sensitivity=0.9, specificity=0.9,
                          num_annotated=120)  # fmt: skip


@pytest.mark.parametrize("kind", ["pairs", "tasks"])
def test_a_cluster_of_two_classes_is_found_with_its_counts(kind: str) -> None:
    answers = _answers(0, kind)
    (one,) = mixed_clusters(MERGED, answers)
    assert one.number == 5
    inside: dict[bool, list[int]] = {True: [], False: []}
    for i, j, label in zip(answers.i, answers.j, answers.label, strict=True):
        if MERGED[i] == MERGED[j]:
            inside[bool(MERGED[i] == 5)].append(1 - label)
    assert one.answers == len(inside[True])
    assert one.different == pytest.approx(np.mean(inside[True]))
    assert one.elsewhere == pytest.approx(np.mean(inside[False]))
    assert one.different > 0.35 > one.elsewhere


@pytest.mark.parametrize("kind", ["pairs", "tasks"])
def test_of_right_clusters_hardly_any_is_found(kind: str) -> None:
    found = [list(mixed_clusters(LABELS, _answers(seed, kind))) for seed in range(20)]
    assert sum(map(len, found)) <= 1, "of 80 clusters"


def test_a_single_cluster_has_no_others_to_be_compared_with() -> None:
    assert not list(mixed_clusters(np.zeros(120, int), _answers(0)))


def test_clusters_without_answers_about_two_of_their_items_are_left_out() -> None:
    answers = PairAnnotations.from_arrays([0, 2], [1, 3], [0, 0], [1, 0], num_items=6)
    assert not list(mixed_clusters(np.array([0, 0, 1, 1, 2, 2]), answers))
