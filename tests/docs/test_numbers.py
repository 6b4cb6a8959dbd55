"""Every number of README and docs/ with two digits after the point has a file; not code, rendered parts, addresses."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_NUMBER = re.compile(r"(?<![\w.,])(\d*\.\d{2,})(?![\w.])")
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.name != "results.md"]


@cache
def known() -> list[float]:
    """Numbers of the rendered page, of the files that have a number a line, of the papers and of conf/."""
    files = [ROOT / "docs/results.md", *(ROOT / "src/reproduction/report").rglob("printed.yaml"),
             *(ROOT / "conf").rglob("*.yaml"), *(ROOT / "recorded" / f"{name}.csv"
               for name in ("measured", "speed", "collapse", "released_bayes"))]  # fmt: skip
    texts = (path.read_text(encoding="utf-8") for path in files)
    return [float(one) for text in texts for one in re.findall(r"(?<![\w.])\d*\.\d+(?:e-?\d+)?", text)]


def without_file(text: str) -> list[str]:
    """The numbers of a page that no file has, after rounding to their digits."""
    text = re.sub(r"^```.*?^```|<!-- results:.*?<!-- /results -->|`[^`]*`|\]\(http\S*", "", text, flags=re.M | re.S)
    near = {one: 0.5 * 10.0 ** -len(one.partition(".")[2]) + 1e-9 for one in _NUMBER.findall(text)}
    return [one for one, margin in near.items() if all(abs(value - float(one)) > margin for value in known())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_number_without_a_file(page: Path) -> None:
    assert without_file(page.read_text(encoding="utf-8")) == []


def test_a_number_without_a_file_is_seen() -> None:
    assert without_file("ACC .956 (`.8765`), and .12345 in 9876.54 s\n```\n.8765\n```\n") == [".12345", "9876.54"]
