"""The package's own files that a run really imports, found by following the imports from where it begins.

A run depends on these and on no others. A new data set or method changes no other run's files: the tables that name
them import what they name when it is asked for, and do not count themselves.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import semicrowd
from semicrowd.data.load import LOADERS
from semicrowd.estimators import ESTIMATORS
from semicrowd.files import sha256_of

#: The folder that holds the package.
SOURCE = Path(semicrowd.__file__).parents[1]
#: Never followed: what only watches a run or tells people of it, what a configuration holds as values, and what brings
#: files that are dependencies of their own.
LEFT_OUT = (
    "semicrowd.tracking", "semicrowd.figures", "semicrowd.page", "semicrowd.run.page", "semicrowd.run.check",
    "semicrowd.run.forecast", "semicrowd.crowd.odd_answers", "semicrowd.data.odd_items", "semicrowd.settings",
    "semicrowd.data.fetch", "semicrowd.data.public", "semicrowd.data.sources", "semicrowd.data.unpickled",
)  # fmt: skip
#: Followed, but not counted: they say under which name a thing is found.
TABLES = ("semicrowd", "semicrowd.estimators", "semicrowd.data.load")


def run_modules(method: str, data: str) -> list[str]:
    """Where the imports of a run begin: what executes it, its method and its data set."""
    return ["semicrowd.run.execute", ESTIMATORS[method].__module__, *data_modules(data)]


def data_modules(data: str) -> list[str]:
    """Where the imports begin of what loads a data set and its answers."""
    return ["semicrowd.data.answers", LOADERS[data].partition(":")[0]]


def fingerprints(modules: Iterable[str], source: Path = SOURCE) -> dict[str, str]:
    """sha256 of every file behind ``modules``, by its path within the source folder."""
    return {name: _sha256(source / name) for name in sorted(files_behind(modules, source))}


def files_behind(modules: Iterable[str], source: Path = SOURCE) -> set[str]:
    """Files that importing ``modules`` runs, and later imports within their functions, as paths within ``source``."""
    waiting, paths = [*modules], dict[str, Path]()
    while waiting:
        name = waiting.pop()
        path = _file_of(name, source)
        if path is None or name in paths or any(f"{name}.".startswith(f"{out}.") for out in LEFT_OUT):
            continue
        paths[name] = path
        # Importing a module imports the packages that it is in.
        waiting += [name.rpartition(".")[0], *_imports_of(path, name)]
    return {path.relative_to(source).as_posix() for name, path in paths.items() if name not in TABLES}


def _file_of(module: str, source: Path) -> Path | None:
    """A module's file; None for what is no module below ``source``."""
    place = source.joinpath(*module.split("."))
    package = place / "__init__.py"
    if package.is_file():
        return package
    file = place.with_suffix(".py")
    return file if file.is_file() else None


@cache
def _imports_of(path: Path, module: str) -> tuple[str, ...]:
    """Names that a file imports, modules and what may be one; those for the type checker alone left out."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(
        name
        for node in _running(ast.parse(path.read_text(encoding="utf-8")))
        for name in _names(node, package)
    )


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those below ``if TYPE_CHECKING``."""
    yield tree
    only_checked = isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING")
    for child in tree.orelse if isinstance(tree, ast.If) and only_checked else ast.iter_child_nodes(tree):
        yield from _running(child)


def _names(node: ast.AST, package: str) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    origin = ".".join([*above, *([node.module] if node.module else [])])
    return [origin, *(f"{origin}.{alias.name}" for alias in node.names)]


_sha256 = cache(sha256_of)
