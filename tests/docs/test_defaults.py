"""docs/DEFAULTS.md has every statement of protocol=default, and none besides."""

import math
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from semicrowd.methods.protocols import IMAGE_BATCH, MANY_ITEMS, MNIST_ITEMS, TAUGHT, Facts, statements

DOC = Path(__file__).parents[2] / "docs" / "DEFAULTS.md"
_ROW = re.compile(r"^\|[^|]*\| (`[^|]*) \| ([^|]*) \|[^|]*\|$", re.M)
#: Sets of parameters, as ``name = value``, and the reason beside them; a bar of a cell is written with a backslash.
ROWS = {
    (settings, why.replace("¦", "|"))
    for settings, why in _ROW.findall(DOC.read_text(encoding="utf-8").replace(r"\|", "¦"))
}


def shown(value: Any) -> str:
    """As in conf/model: lists, ``true``."""
    return str(value).lower() if isinstance(value, bool) else str(list(value) if isinstance(value, tuple) else value)


def stated() -> Iterator[tuple[str, str]]:
    """Every statement under facts and parameters that differ in all that the protocol looks at."""
    shapes: tuple[dict[str, Any], ...] = (
        {}, {"image_shape": (28, 28), "unit_interval": True}, {"image_shape": (3, 32, 32), "unit_interval": True},
    )  # fmt: skip
    answers: tuple[dict[str, int], ...] = ({}, {"num_answers": 100}, {"num_answers": 50_000, "num_tasks": 90})
    given: tuple[dict[str, Any], ...] = ({}, {"architecture": "conv"}, {"architecture": "resnet"})
    for method, size, columns, shape, some, chosen in product(
        ("bayes", "scdc"), (300, 60_000), (2, 784), shapes, answers, given
    ):
        for values, why in statements(method, chosen, Facts(size, columns, **shape, **some), "default"):
            if "latent_dim" in values:
                values |= {"latent_dim": "min(8, D)"}
            if values.get("teach_weight") == columns:
                values |= {"teach_weight": "D", "amortisation": "D / 10"}
            grey = len(shape.get("image_shape", ())) == 2 and chosen.get("architecture") != "resnet"
            values = _of_grey_images(size, values) if grey else _of_tables(method, size, values)
            yield ", ".join(f"`{name} = {shown(value)}`" for name, value in values.items()), why


def _of_tables(method: str, size: int, values: dict[str, Any]) -> dict[str, Any]:
    """The same with what follows from the number of items written as the page has it, where it is that number."""
    formulas = {"n_clusters": ("15 √(N / 10000)", max(15, round(15 * math.sqrt(size / MANY_ITEMS))))}
    formulas["epochs"] = "passes(20)", _passes(20, size)
    if method == "bayes":
        formulas["init_epochs"] = "passes(20)", _passes(20, size)
        formulas["teach_epochs"] = "passes(50)", _passes(50, size)
    else:
        formulas["init_epochs"] = "passes(50)", _passes(50, size)
        enough = max(_passes(50, size), math.ceil(TAUGHT * 100 / size))
        formulas["teach_epochs"] = "max(passes(50), 100000 / N)", enough
    return values | {name: text for name, (text, value) in formulas.items() if values.get(name) == value}


def _of_grey_images(size: int, values: dict[str, Any]) -> dict[str, Any]:
    """The same of grey images."""
    written = {}
    for name in {"epochs", "init_epochs", "teach_epochs", "agree_epochs"} & values.keys():
        for of_mnist in (2, 3, 4, 6, 8, 10, 12):
            if values[name] == max(1, round(of_mnist * MNIST_ITEMS / max(size, IMAGE_BATCH))):
                written[name] = f"steps({of_mnist})"
    return values | written


def _passes(most: int, size: int) -> int:
    return max(1, min(most, round(most * MANY_ITEMS / size)))


@pytest.mark.parametrize("row", sorted(set(stated())))
def test_it_has_every_statement(row: tuple[str, str]) -> None:
    assert row in ROWS


def test_it_has_no_other() -> None:
    assert set(stated()) >= ROWS
