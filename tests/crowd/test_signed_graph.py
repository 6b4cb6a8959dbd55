"""The signed spectral embedding on graphs whose spectrum is known."""

import numpy as np
import pytest
from tests.made import signs_of_all_pairs

from semicrowd.crowd import orientation
from semicrowd.crowd.cells import signed_embedding
from semicrowd.random import stream


def test_two_blocks_in_closed_form() -> None:
    # A = s sᵀ − I with s = ±1 by block and D = n − 1: top eigenvalue 1 with eigenvector s / √n, all others negative.
    labels = np.array([0, 1, 1, 0, 1, 0, 0])
    embedding = signed_embedding(*signs_of_all_pairs(labels), num_items=7, num=2)
    side = np.where(labels == labels[0], 1.0, -1.0) * np.sign(embedding[0, 1])
    np.testing.assert_allclose(embedding, np.stack([np.zeros(7), side], 1), atol=1e-12)


def test_three_blocks_are_the_corners_of_a_triangle() -> None:
    # The balanced complete graph: two positive eigenvalues, so that the blocks are three points 120° apart.
    labels = np.repeat([0, 1, 2], 4)
    embedding = signed_embedding(*signs_of_all_pairs(labels), num_items=12, num=3)
    corners = embedding[::4]
    np.testing.assert_allclose(embedding, corners[labels], atol=1e-10)
    np.testing.assert_allclose(corners @ corners.T, np.where(np.eye(3), 1, -0.5), atol=1e-10)


def test_large_graphs_take_the_sparse_way_to_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.arange(90) % 3
    i, j, weight = (column[stream(0, "test").permutation(4005)[:1500]] for column in signs_of_all_pairs(labels))
    dense = signed_embedding(i, j, weight, 90, 3)
    monkeypatch.setattr(orientation, "_DENSE", 0)
    np.testing.assert_allclose(np.abs(signed_embedding(i, j, weight, 90, 3)), np.abs(dense), atol=1e-8)
