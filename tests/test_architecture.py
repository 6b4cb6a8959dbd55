"""Which package may import which, and that no file does several jobs."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "semicrowd"
#: Each package may import from itself, from its neighbours on the line and from those of the lines above.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"errors", "random"}),
    frozenset({"expfam", "metrics"}),
    frozenset({"data"}),
    frozenset({"inference", "crowd"}),
    frozenset({"nets"}),
    frozenset({"models", "baselines"}),
    frozenset({"tracking", "figures", "run"}),
    frozenset({"pipeline", "report"}),
)
FILES = sorted(SOURCE.rglob("*.py"))


def layer(package: str) -> int:
    """Position of a package, or of a module of the top level, among the layers."""
    return next(k for k, names in enumerate(LAYERS) if package in names)


def imported(path: Path) -> set[str]:
    """Packages of semicrowd that a file imports from."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("semicrowd.")}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_go_one_way(path: Path) -> None:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    if parts == ("__init__",):
        return
    own = layer(parts[0])
    assert {package for package in imported(path) if package != parts[0] and layer(package) > own} == set()


def test_no_file_is_long_and_none_is_for_everything() -> None:
    root = SOURCE.parents[1]
    files = [path for folder in ("src", "tests", "tools", "benchmarks") for path in (root / folder).rglob("*.py")]
    assert [path for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []
    assert [path for path in files if path.stem in ("utils", "util", "helpers", "misc")] == []
