"""Where each image of a grid stands."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from semicrowd.figures.images import draw_grid


@pytest.mark.parametrize("shape", [(2, 4), (1, 2, 4), (3, 2, 4)])
def test_images_stand_in_their_rows_and_columns_with_a_pixel_between(shape: tuple[int, ...]) -> None:
    images = np.random.default_rng(0).random((3, 2, int(np.prod(shape))))
    axes = Figure().subplots()
    draw_grid(axes, images, shape, ["a", "b", "c"])
    drawn = np.asarray(axes.images[0].get_array())
    assert drawn.shape == (3 * 3 + 1, 2 * 5 + 1, 3)
    seen = np.zeros(drawn.shape[:2], bool)
    for row in range(3):
        for column in range(2):
            place = slice(3 * row + 1, 3 * row + 3), slice(5 * column + 1, 5 * column + 5)
            channels = images[row, column].reshape(-1, 2, 4)
            np.testing.assert_allclose(drawn[place], np.broadcast_to(channels.transpose(1, 2, 0), (2, 4, 3)))
            seen[place] = True
    assert len(np.unique(drawn[~seen])) == 1  # the grey between them


@pytest.mark.parametrize("rows", [1, 3])
def test_names_stand_in_the_middle_of_their_row(rows: int) -> None:
    axes = Figure().subplots()
    draw_grid(axes, np.zeros((rows, 2, 6)), (2, 3), ["a", "b", "c"][:rows])
    # Rows of two pixels with one between: the edges of row r are at 3 r + 1/2 and 3 r + 5/2 of pixel centres at 0, 1, …
    np.testing.assert_allclose(axes.get_yticks(), [1.5, 4.5, 7.5][:rows])


def test_a_single_image_has_its_name_in_its_middle() -> None:
    axes = Figure().subplots()
    draw_grid(axes, np.zeros((1, 1, 6)), (2, 3), ["a"])
    height = np.asarray(axes.images[0].get_array()).shape[0]
    assert axes.get_yticks()[0] == (height - 1) / 2


def test_values_beyond_black_and_white_are_cut() -> None:
    axes = Figure().subplots()
    draw_grid(axes, np.array([[[-1.0, 2.0]]]), (1, 2), ["a"])
    drawn = np.asarray(axes.images[0].get_array())
    assert (drawn.min(), drawn.max()) == (0, 1)
