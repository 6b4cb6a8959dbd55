"""README, CONTRIBUTING and docs/ mention nothing that is gone: scripts, make targets, modules, settings."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import yaml

import semicrowd
from semicrowd.methods import METHODS

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
#: Group → the settings that one of its choices has.
SETTINGS = {
    group: {name for path in (ROOT / "conf" / group).glob("*.yaml") for name in yaml.safe_load(path.read_text("utf-8"))}
    for group in ("data", "annotations", "model", "trainer", "logger")
}
#: The files of the worked example in docs/ARCHITECTURE.md.
_ADDED = re.compile(r"/(test_)?bisecting\.")


def missing(text: str) -> set[str]:
    """What a page mentions and the project does not have."""
    code = "\n".join(re.findall(r"`([^`\n]+)`", text) + re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S))
    code = re.sub(r"^(---|\+\+\+) [ab]/", "", code, flags=re.M)  # a diff
    gone = [path for path in re.findall(r"\b((?:src|tests|tools|benchmarks|conf|recorded|docs)/[\w/.-]*\w)", code)
            if not (ROOT / path).exists()]  # fmt: skip
    gone += [path for path in re.findall(r"(?<![\w/.])((?:\w+/)+\w+\.py)", code)
             if not any((ROOT / at / path).exists() for at in (".", "src/semicrowd", "src", "tests"))]  # fmt: skip
    gone += [f"make {name}" for name in re.findall(r"\bmake ([a-z-]+)", code) if name not in TARGETS]
    # `model.epochs=3`, `model.epochs`; neither the file `model.pt` nor an attribute of Python, `model.labels_`.
    named = re.findall(r"(?<![\w./+])([a-z]+)\.(\w+)=", code) + re.findall(r"`([a-z]+)\.(?!pt|csv)(\w*[a-zA-Z])`", text)
    gone += [f"{group}.{name}" for group, name in named if name not in SETTINGS.get(group, {name})]
    modules = re.findall(r"python -m ((?:semicrowd|reproduction)(?:\.\w+)*)", code)
    files = [ROOT / "src" / name.replace(".", "/") for name in modules]
    gone += [name for name, file in zip(modules, files, strict=True)
             if not (file.with_suffix(".py").exists() or (file / "__main__.py").exists())]  # fmt: skip
    gone += [f"recorded/runs/{name}" for name in re.findall(r"EXPERIMENT=(\w+)", code)
             if not any((ROOT / "recorded" / path).exists() for path in (f"runs/{name}.json", name))]  # fmt: skip
    return {one for one in gone if not _ADDED.search(one)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_mentions_nothing_that_is_gone(page: Path) -> None:
    assert missing(page.read_text(encoding="utf-8")) == set()


_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#([^)\s]*))?\)")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_from_outside_lead_somewhere(page: str) -> None:
    for target, anchor in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", (ROOT / target).read_text(encoding="utf-8"), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}


def test_every_public_name_is_in_the_reference_and_every_method_in_the_readme() -> None:
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^::: \S+\.(\w+)$", page, re.M)) >= set(semicrowd.__all__)
    table = PAGES[0].read_text("utf-8").partition("\n## Methods\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) == set(METHODS)


EQUATIONS = (ROOT / "docs" / "EQUATIONS.md").read_text(encoding="utf-8")
#: Its files and functions.
NAMES = re.findall(r"`([\w/]+\.py):(?:\w+\.)*(\w+)`", EQUATIONS)


@cache
def defined(path: Path) -> dict[str, str]:
    """Functions, methods and classes of a file, and the first lines of their docstrings."""
    return {node.name: (ast.get_docstring(node) or "").partition("\n")[0]
            for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef | ast.ClassDef)
            }  # fmt: skip


@pytest.mark.parametrize(("file", "name"), NAMES)
def test_named_functions_exist(file: str, name: str) -> None:
    package = "src" if file.startswith("reproduction/") else "src/semicrowd"
    folder = "tests" if Path(file).name.startswith("test_") else package
    assert name in defined(ROOT / folder / file)


@pytest.mark.parametrize("number", ["14", "17", "20"])
def test_an_equation_is_found_by_its_number(number: str) -> None:
    scdc = EQUATIONS.partition("## MPCK-means")[0]
    rows = re.findall(rf"^\| [^|]*\b{number}\b[^|]*\|[^|]*\| `([\w/]+\.py):(?:\w+\.)*(\w+)`", scdc, re.M)
    assert rows
    for file, name in rows:
        assert re.search(rf"\b{number}\b", defined(ROOT / "src" / "semicrowd" / file)[name])
