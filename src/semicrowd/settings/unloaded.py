"""Names of a class's settings from the text of its file: to load a method's file takes seconds, for torch."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path


def names_in_text(module: str, kind: str) -> list[str]:
    """Names of the settings of a class and of those that it is made of, in no particular order.

    Parameters
    ----------
    module, kind : where it is, and its name
    """
    return sorted(set(_names(module, kind)))


def _names(module: str, kind: str) -> Iterator[str]:
    defined, imported = _parsed(module)
    if kind not in defined:
        return
    for line in defined[kind].body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=ast.Name(id="setting"))):
                yield name
    for base in (ast.unparse(one) for one in defined[kind].bases):
        yield from _names(imported.get(base, module), base)


@cache
def _parsed(module: str) -> tuple[dict[str, ast.ClassDef], dict[str, str]]:
    """Classes of a file of ours, and the modules that its other names are from; nothing of other packages' files."""
    spec = find_spec(module) if module.startswith("semicrowd.") else None
    if spec is None or spec.origin is None:
        return {}, {}
    lines = ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body
    imported = {name.asname or name.name: str(one.module) for one in lines if isinstance(one, ast.ImportFrom)
                for name in one.names}
    return {one.name: one for one in lines if isinstance(one, ast.ClassDef)}, imported
