"""docs/EQUATIONS.md names functions and tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = re.findall(r"`([\w/]+\.py):(?:\w+\.)*(\w+)`", (ROOT / "docs" / "EQUATIONS.md").read_text(encoding="utf-8"))


@cache
def defined(path: Path) -> frozenset[str]:
    """Functions, methods and classes of a file."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return frozenset(node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds))


def test_there_are_names() -> None:
    assert len(NAMES) > 20


@pytest.mark.parametrize(("file", "name"), NAMES)
def test_named_functions_exist(file: str, name: str) -> None:
    package = "src" if file.startswith("reproduction/") else "src/semicrowd"
    folder = "tests" if Path(file).name.startswith("test_") else package
    assert name in defined(ROOT / folder / file)
