"""docs/DEFAULTS.md has every statement of protocol=default, and none besides."""

import re
from itertools import product
from pathlib import Path
from typing import Any

from semicrowd.methods.protocols import Facts, statements

DOC = Path(__file__).parents[2] / "docs" / "DEFAULTS.md"
_ROW = re.compile(r"^\|[^|]*\| (`[^|]*) \| ([^|]*) \|[^|]*\|$", re.M)
#: Parameters with their values as text, and the reason beside them; a bar of a cell is written with a backslash.
ROWS = [
    (dict(re.findall(r"`(\w+) = ([^`]+)`", settings)), why.replace("¦", "|"))
    for settings, why in _ROW.findall(DOC.read_text(encoding="utf-8").partition("\n## ")[0].replace(r"\|", "¦"))
]
#: What has a value of its own for each size of the data: a formula.
_FORMULA = re.compile(r"\(|\b[ND]\b")


def shown(value: Any) -> str:
    """As in conf/model: lists, ``true``."""
    return str(value).lower() if isinstance(value, bool) else str(list(value) if isinstance(value, tuple) else value)


def says(row: tuple[dict[str, str], str], values: dict[str, Any], why: str) -> bool:
    """Whether a row of the page is this statement."""
    same = row[1] == why and row[0].keys() == values.keys()
    return same and all(text == shown(values[name]) or bool(_FORMULA.search(text)) for name, text in row[0].items())


def test_it_has_every_statement_and_no_other() -> None:
    """Under facts and parameters that differ in all that the protocol looks at."""
    shapes: tuple[dict[str, Any], ...] = (
        {}, {"image_shape": (28, 28), "unit_interval": True}, {"image_shape": (3, 32, 32), "unit_interval": True},
    )  # fmt: skip
    answers: tuple[dict[str, int], ...] = ({}, {"num_answers": 100}, {"num_answers": 50_000, "num_tasks": 90})
    given: tuple[dict[str, Any], ...] = ({}, {"architecture": "conv"}, {"architecture": "resnet"})
    found = set()
    for method, size, columns, shape, some, chosen in product(
        ("bayes", "scdc"), (300, 60_000), (2, 784), shapes, answers, given
    ):
        for values, why in statements(method, chosen, Facts(size, columns, **shape, **some), "default"):
            rows = {number for number, row in enumerate(ROWS) if says(row, values, why)}
            assert rows, (values, why)
            found |= rows
    assert found == set(range(len(ROWS)))
