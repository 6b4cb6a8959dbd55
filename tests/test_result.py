"""Clusters under other numbers: the same partition, the same probabilities."""

import numpy as np

from semicrowd.result import Assignment, Result


def test_clusters_are_numbered_by_their_size() -> None:
    """Components 11, 41 and 48 of fifty, as a mixture leaves them, are 0, 1 and 2 from the largest on."""
    component = np.repeat([41, 11, 48], [3, 5, 2])
    members = np.full((10, 50), 0.1 / 49)
    members[np.arange(10), component] = 0.9
    found = Result(50, Assignment.of(members), Assignment.of(members))
    components = found.components
    assert components[:3].tolist() == [11, 41, 48]
    assert sorted(components.tolist()) == list(range(50))
    final = found.renumbered(components).final
    assert final.cluster.tolist() == [1] * 3 + [0] * 5 + [2] * 2
    assert final.memberships is not None
    np.testing.assert_array_equal(final.memberships.argmax(1), final.cluster)
    np.testing.assert_array_equal(np.sort(final.memberships, 1), np.sort(members, 1))
    np.testing.assert_array_equal(components[final.cluster], component)


def test_clusters_that_no_item_is_in_by_all_that_is_known_come_last() -> None:
    hard, soft = Assignment.hard(np.array([2, 2, 0])), Assignment.of(np.eye(4)[[3, 2, 0]])
    found = Result(3, hard, soft)
    assert found.components.tolist() == [2, 0, 1, 3]
    renumbered = found.renumbered(found.components)
    assert renumbered.final.cluster.tolist() == [0, 0, 1]
    assert renumbered.features.cluster.tolist() == [3, 0, 1]


def test_the_second_most_probable_cluster_and_its_probability() -> None:
    cluster, probability = Assignment.of(np.array([[0.2, 0.7, 0.1], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])).second()
    assert cluster.tolist() == [0, 2, 0]
    assert probability.tolist() == [0.2, 0.5, 0.0]
    for none in (Assignment.hard(np.array([1, 0])), Assignment.of(np.ones((2, 1)))):
        cluster, probability = none.second()
        assert cluster.tolist() == [-1, -1]
        assert np.isnan(probability).all()
