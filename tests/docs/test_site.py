"""Links from outside docs/ lead somewhere; `make docs` checks those within, by a strict build."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#([^)\s]*))?\)")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_from_outside_lead_somewhere(page: str) -> None:
    for target, anchor in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (ROOT / target).read_text(encoding="utf-8"), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
