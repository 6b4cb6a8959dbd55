"""Digests of the inputs of the pipeline's results, by which outdated results are recognised, and the code among them.

Beside a result is the sha256 of all that it depends on: settings, code, answers, data. A result of other inputs is
deleted. A result of the same inputs is kept, and continued if it was stopped.

Of the package's source files, a run depends on those that it imports, which are found by following the imports, and on
no others. A new data set or method changes no file of other runs: the modules that list data sets and methods import
them only when they are used, and are not counted themselves.
"""

import ast
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path

import yaml

import semicrowd
from semicrowd.data.load import module_of
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.files import sha256_of, write_text

#: The folder that holds the package.
SOURCE = Path(semicrowd.__file__).parents[1]
#: Modules that are never followed: those that only report on a run, those whose values are in the configuration, and
#: those that fetch files, which are dependencies of their own.
LEFT_OUT = (
    "semicrowd.tracking", "semicrowd.figures", "semicrowd.page", "semicrowd.run.page", "semicrowd.settings",
    "semicrowd.data.fetch",
)  # fmt: skip
#: Modules that are followed but not counted: they only list names and where to import them from.
TABLES = ("semicrowd", "semicrowd.estimators", "semicrowd.data.load")


def run_modules(method: str, data: str) -> list[str]:
    """Modules from which a run's imports are followed: the one that executes it, its method's and its data set's."""
    return ["semicrowd.run.execute", ESTIMATORS[method].__module__, *data_modules(data)]


def data_modules(data: str) -> list[str]:
    """Modules from which the imports are followed for a data set and its answers."""
    return ["semicrowd.data.answers", module_of(data)]


def fingerprints(modules: Iterable[str], source: Path = SOURCE) -> dict[str, str]:
    """Path within the source folder → sha256, of every file on which ``modules`` depend."""
    return {name: _sha256(source / name) for name in sorted(files_behind(modules, source))}


def files_behind(modules: Iterable[str], source: Path = SOURCE) -> set[str]:
    """Files that ``modules`` import, directly or not, also within functions, as paths within ``source``."""
    waiting, paths = [*modules], dict[str, Path]()
    while waiting:
        name = waiting.pop()
        path = _file_of(name, source)
        if path is None or name in paths or any(f"{name}.".startswith(f"{out}.") for out in LEFT_OUT):
            continue
        paths[name] = path
        # Importing a module imports the packages that it is in.
        waiting += [name.rpartition(".")[0], *_imports_of(path)]
    return {path.relative_to(source).as_posix() for name, path in paths.items() if name not in TABLES}


def _file_of(module: str, source: Path) -> Path | None:
    """A module's file; None if there is no such module below ``source``."""
    place = source.joinpath(*module.split("."))
    package = place / "__init__.py"
    if package.is_file():
        return package
    file = place.with_suffix(".py")
    return file if file.is_file() else None


@cache
def _imports_of(path: Path) -> tuple[str, ...]:
    return tuple(name for node in _running(ast.parse(path.read_text(encoding="utf-8"))) for name in _names(node))


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    yield tree
    only_checked = isinstance(tree, ast.If) and ast.unparse(tree.test).endswith("TYPE_CHECKING")
    for child in tree.orelse if isinstance(tree, ast.If) and only_checked else ast.iter_child_nodes(tree):
        yield from _running(child)


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom) or node.module is None:  # the package has no relative imports
        return []
    return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]


_sha256 = cache(sha256_of)


#: File beside a result with the digest of what it was made of.
INPUTS = "inputs.sha256"


def digest(*parts: object) -> str:
    """sha256 of files, of folders with all that is in them, and of plain values."""
    found = sha256()
    for part in parts:
        for one in _digests(part):
            found.update(one)
    return found.hexdigest()


def _digests(part: object) -> Iterator[bytes]:
    if not isinstance(part, Path):
        yield sha256(yaml.safe_dump(part).encode()).digest()
    elif part.is_dir():
        for path in sorted(part.rglob("*")):
            if path.is_file():
                yield sha256(path.relative_to(part).as_posix().encode()).digest()
                yield from _digests(path)
    elif part.is_file():
        with part.open("rb") as file:  # piece by piece: a user's images may be larger than the memory
            yield file_digest(file, "sha256").digest()
    else:
        raise UserError(f"{part}: not there; an earlier stage of the pipeline writes it, or it is yours to bring")


def forget_others(place: Path, note: Path, made_of: str) -> bool:
    """Delete a result of other inputs than ``made_of``; returns whether there is a result of these inputs.

    Parameters
    ----------
    place : folder of the result
    note : file with the digest of what the result was made of
    """
    if note.is_file() and note.read_text(encoding="utf-8").strip() == made_of:
        return True
    note.unlink(missing_ok=True)  # first: what is left after a kill is no result of its inputs
    try:
        shutil.rmtree(place)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{place}: cannot be deleted: {error.strerror}") from error
    write_text(note, f"{made_of}\n")
    return False


def is_current(result: Path, made_of: str) -> bool:
    """Whether there is a result of the inputs ``made_of``; a result of other inputs is deleted with its folder.

    Parameters
    ----------
    result : the file that is written last, in a folder of its own
    """
    return forget_others(result.parent, result.with_name(INPUTS), made_of) and result.is_file()
