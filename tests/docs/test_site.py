"""The documentation's site: the page of all settings is whole, and links from outside docs/ lead somewhere.

`make docs` checks the links within docs/, by a strict build.
"""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from semicrowd.settings.fields import described_by_name
from semicrowd.settings.groups import CHOSEN, FIXED, TOP, names_of

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#([^)\s]*))?\)")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """tools/settings_page.py."""
    spec = importlib.util.spec_from_file_location("settings_page", ROOT / "tools" / "settings_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_every_setting_of_the_command_line(tool: ModuleType) -> None:
    page = tool.settings_page()
    sections = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", page, re.M | re.S))
    for group, kinds in CHOSEN.items():
        for choice in kinds:
            for name in names_of(kinds[choice]):
                assert f"| `{group}.{name}` |" in sections[f"{group}={choice}"]
    for name in described_by_name({"": TOP[0]} | FIXED):
        group = name.partition(".")[0]
        assert f"`{name}`" in page or f"## {group}=" in page


def test_the_page_is_as_make_docs_writes_it(tool: ModuleType) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.settings_page()


def test_its_cells_are_cells(tool: ModuleType) -> None:
    rows = [line for line in tool.settings_page().splitlines() if line.startswith("| ")]
    assert len(rows) > 150
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {5}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_from_outside_lead_somewhere(page: str) -> None:
    for target, anchor in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (ROOT / target).read_text(encoding="utf-8"), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
