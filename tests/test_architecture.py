"""One order of folders, no circle of files, a library without the frame around it, and that no file is long."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "semicrowd"
#: A file imports from its own folder and from those before it.
ORDER = (
    "errors", "random", "files", "expfam", "metrics", "crowd", "inference", "nets", "data", "models", "starts",
    "training", "result", "evaluation", "estimators", "methods", "figures", "page",
)  # fmt: skip
#: What the library leaves to those who use it.
FRAME = {"hydra", "omegaconf", "mlflow", "dvc", "reproduction"}


def files(source: Path) -> dict[str, Path]:
    """Modules of a package by their names in it, ``data.table``; a folder's ``__init__`` is the folder."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path) -> Iterator[str]:
    """All that a file imports by its dotted name, inside functions and for the type checker too.

    Names that are looked up while the program runs (``importlib``) are no imports: that is how a registry lets those
    below it choose.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def graph(source: Path, package: str = "semicrowd") -> dict[str, set[str]]:
    """Module → modules of the package that it imports, without itself."""
    modules, found = files(source), {}
    for name, path in modules.items():
        parts = [one.split(".")[1:] for one in imported(path) if one.split(".")[0] == package]
        # The longest beginning that is a file; what follows it is a name in that file.
        known = (next(m for end in range(len(one), -1, -1) if (m := ".".join(one[:end])) in modules) for one in parts)
        found[name] = set(known) - {name}
    return found


def upward(imports: dict[str, set[str]], order: tuple[str, ...]) -> list[str]:
    """Imports of a folder that comes later in the order; the package's own file comes first."""
    floor = {name: number for number, name in enumerate(("", *order))}
    return sorted(
        f"{module} imports {other}"
        for module, others in imports.items()
        for other in others
        if floor[other.split(".")[0]] > floor[module.split(".")[0]]
    )


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, none where there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_go_one_way() -> None:
    assert upward(graph(SOURCE), ORDER) == []


@pytest.mark.parametrize("package", ["semicrowd", "reproduction"])
def test_no_files_import_each_other_in_a_circle(package: str) -> None:
    assert circle(graph(SOURCE.parent / package, package)) == []


def test_the_library_does_not_import_the_frame() -> None:
    paths = SOURCE.rglob("*.py")
    assert {f"{path}: {one}" for path in paths for one in imported(path) if one.split(".")[0] in FRAME} == set()


def test_every_folder_has_its_place() -> None:
    found = {module.split(".")[0] for module in graph(SOURCE)} - {""}
    assert found == set(ORDER)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two folders in order, two files each: ``up.b`` imports ``up.a`` and ``down.a``; nothing else."""
    for name in ("up", "down"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('"""."""\n')
        (tmp_path / name / "a.py").write_text("A = 1\n")
    (tmp_path / "down" / "b.py").write_text("from semicrowd.down.a import A\nfrom semicrowd.up import a\nB = A, a\n")
    return tmp_path


PLANTED = {
    "plain": "from semicrowd.down.a import A\n",
    "of a module": "from semicrowd.down import a\n",
    "whole": "import semicrowd.down.a\n",
    "in a function": "def f():\n    from semicrowd.down.a import A\n    return A\n",
    "for types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from semicrowd.down.a import A\n",
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_upward_import_is_found(tree: Path, kind: str) -> None:
    assert upward(graph(tree), ("up", "down")) == []
    (tree / "up" / "c.py").write_text(PLANTED[kind])
    assert upward(graph(tree), ("up", "down")) == ["up.c imports down.a"]


def test_a_planted_circle_is_found(tree: Path) -> None:
    assert circle(graph(tree)) == []
    (tree / "down" / "__init__.py").write_text("from semicrowd.down.b import B\n")
    (tree / "down" / "a.py").write_text("import semicrowd.down\n")
    assert set(circle(graph(tree))) == {"down", "down.a", "down.b"}


def test_no_file_is_long_and_none_is_for_everything() -> None:
    root = SOURCE.parents[1]
    paths = [path for folder in ("src", "tests", "tools", "benchmarks") for path in (root / folder).rglob("*.py")]
    assert [path for path in paths if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []
    assert [path for path in paths if path.stem in ("utils", "util", "helpers", "misc")] == []
