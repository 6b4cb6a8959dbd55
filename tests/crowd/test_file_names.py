"""Pictures that answers call without folder or ending."""

import pytest

from semicrowd.crowd.file_names import files_called

IDS = ("a/1.jpg", "b/1.jpg", "b/2.png", "Häuser schön.JPG", "c.d.jpeg")


@pytest.mark.parametrize(
    ("cell", "item"),
    [
        ("2", 2), ("2.png", 2), ("b/2", 2), ("photos/b/2.png", 2), ("photos\\b\\2", 2), ("a/1", 0), ("x/a/1.jpg", 0),
        ("Häuser schön", 3), ("c.d", 4), ("c.d.jpeg", 4),
        # Two files, another folder, another ending, nothing.
        ("1", None), ("c/2.png", None), ("2.jpg", None), ("c", None), ("", None), ("b", None),
    ],
)  # fmt: skip
def test_a_cell_is_the_item_whose_path_it_fits_if_there_is_one_only(cell: str, item: int | None) -> None:
    assert files_called([cell], IDS) == ({} if item is None else {cell: item})


def test_ids_that_are_no_files_have_no_shorter_names() -> None:
    assert files_called(["3", "x"], ("3.5", "x.jpg")) == {}
