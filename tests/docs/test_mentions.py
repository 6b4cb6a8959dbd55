"""README, CONTRIBUTING and docs/ mention nothing that is gone: scripts, make targets, modules, settings."""

import re
from pathlib import Path

import pytest

from semicrowd.settings.fields import described_by_name
from semicrowd.settings.groups import CHOSEN, FIXED, TOP, names_of

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
SETTINGS = {f"{group}.{name}" for group, kinds in CHOSEN.items() for kind in kinds.values() for name in names_of(kind)}
SETTINGS |= set(described_by_name({"": TOP[0]} | FIXED))
GROUPS = {*CHOSEN, *FIXED}


def missing(text: str) -> set[str]:
    """What a page mentions and the project does not have."""
    code = "\n".join(re.findall(r"`([^`\n]+)`", text) + re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S))
    gone = [path for path in re.findall(r"\b((?:src|tests|tools|benchmarks|conf|recorded|docs)/[\w/.-]*\w)", code)
            if not (ROOT / path).exists()]  # fmt: skip
    gone += [path for path in re.findall(r"(?<![\w/.])((?:\w+/)+\w+\.py)", code)
             if not any((ROOT / folder / path).exists() for folder in (".", "src/semicrowd", "tests", "tests/run"))]
    gone += [f"make {name}" for name in re.findall(r"\bmake ([a-z-]+)", code) if name not in TARGETS]
    gone += [f"{group}.{name}" for group, name in re.findall(r"(?<![\w./])([a-z]+)\.(\w+)=", code)
             if group in GROUPS and f"{group}.{name}" not in SETTINGS]  # fmt: skip
    modules = re.findall(r"python -m (semicrowd(?:\.\w+)+)", code)
    files = [(ROOT / "src" / name.replace(".", "/")) for name in modules]
    gone += [name for name, file in zip(modules, files, strict=True)
             if not (file.with_suffix(".py").exists() or (file / "__main__.py").exists())]  # fmt: skip
    return set(gone)


def test_what_is_gone_is_found() -> None:
    text = "`src/no.py`, `make nothing`, `model.nothing=3`, `nets/no.py` and `python -m semicrowd.no`; `make test`"
    assert missing(text) == {"src/no.py", "nets/no.py", "make nothing", "model.nothing", "semicrowd.no"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_mentions_nothing_that_is_gone(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == set()
