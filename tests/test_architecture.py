"""One order of folders, no circle of files, a library without the frame around it, and that no file is long."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "semicrowd"
TABLE = (SOURCE.parents[1] / "docs" / "ARCHITECTURE.md").read_text("utf-8").partition("| folder |")[2].partition("\n\n")
#: A file imports from its own folder and from those before it.
ORDER = [name for row in re.findall(r"^\| ([^|]*) \|", TABLE[0], re.M) for name in re.findall(r"`(\w+)/?`", row)]
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


def test_imports_go_one_way() -> None:
    """A folder imports from none that comes later in the order; the package's own file comes first."""
    imports = graph(SOURCE)
    assert {module.split(".")[0] for module in imports} - {""} == set(ORDER)
    floor = {name: number for number, name in enumerate(("", *ORDER))}
    arrows = [(module, other) for module, others in imports.items() for other in others]
    assert len(arrows) > 300
    assert [one for one in arrows if floor[one[1].split(".")[0]] > floor[one[0].split(".")[0]]] == []


@pytest.mark.parametrize("package", ["semicrowd", "reproduction"])
def test_no_files_import_each_other_in_a_circle(package: str) -> None:
    TopologicalSorter(graph(SOURCE.parent / package, package)).prepare()  # raises CycleError, which names the files


def test_the_library_does_not_import_the_frame() -> None:
    paths = SOURCE.rglob("*.py")
    assert {f"{path}: {one}" for path in paths for one in imported(path) if one.split(".")[0] in FRAME} == set()


def test_no_file_is_long_and_none_is_for_everything() -> None:
    root = SOURCE.parents[1]
    paths = [path for folder in ("src", "tests", "tools", "benchmarks") for path in (root / folder).rglob("*.py")]
    assert [path for path in paths if len(path.read_text(encoding="utf-8").splitlines()) > 400] == []
    assert [path for path in paths if path.stem in ("utils", "util", "helpers", "misc")] == []
