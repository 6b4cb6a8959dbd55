"""Pictures that answers call without folder or ending."""

import pytest

from semicrowd.crowd.file_names import files_called
from semicrowd.errors import UserError

IDS = ("a/1.jpg", "b/1.jpg", "b/2.png", "Häuser schön.JPG", "c.d.jpeg")


@pytest.mark.parametrize(
    ("cell", "item"),
    [
        ("2", 2), ("2.png", 2), ("b/2", 2), ("photos/b/2.png", 2), ("photos\\b\\2", 2), ("a/1", 0), ("x/a/1.jpg", 0),
        ("Häuser schön", 3), ("c.d", 4), ("c.d.jpeg", 4),
        # Another folder, another ending, nothing.
        ("c/2.png", None), ("2.jpg", None), ("c", None), ("", None), ("b", None),
    ],
)  # fmt: skip
def test_a_cell_is_the_item_whose_path_it_fits(cell: str, item: int | None) -> None:
    assert files_called([cell], IDS) == ({} if item is None else {cell: item})


@pytest.mark.parametrize(("cell", "files"), [("1", "a/1.jpg or b/1.jpg"), ("x", "a/x.jpg or a/x.png")])
def test_a_cell_that_fits_several_files_is_refused(cell: str, files: str) -> None:
    with pytest.raises(UserError, match=f"^pairs.csv: {cell} may be {files}; expected the path of one of these files$"):
        files_called(["b/2", cell], (*IDS, "a/x.jpg", "a/x.png"), "pairs.csv")


def test_ids_that_are_no_files_have_no_shorter_names() -> None:
    assert files_called(["3", "x"], ("3.5", "x.jpg")) == {}
