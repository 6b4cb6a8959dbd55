"""Bridge until the last caller names a loader itself."""

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.dataset import Dataset
from semicrowd.errors import UserError

LOADERS = {
    "pinwheel": "generated", "shapes": "generated", "mnist": "mnist", "face": "faces", "cifar10": "cifar10",
    "table": "table", "npz": "npz", "images": "images", "benchmark": "benchmark", "sequence": "sequences",
    "encoded": "encoded",
}  # fmt: skip


def module_of(name: str) -> str:
    """The module of a data set's loader."""
    return f"semicrowd.data.{LOADERS[name]}"


def _call(function: Any, root: Path, first: tuple[Any, ...], options: dict[str, Any]) -> Any:
    known = inspect.signature(function).parameters
    if "root" in known:
        options = {**options, "root": root}
    if unknown := [name for name in options if name not in known]:
        raise UserError(f"{unknown[0]}: no such setting")
    return function(*first, **options)


def load_dataset(name: str, root: Path, /, **options: Any) -> Dataset:
    """Load the data set called ``name``."""
    data: Dataset = _call(getattr(import_module(module_of(name)), f"load_{name}"), root, (), options)
    return data


def load_annotations(kind: str, data: Dataset, seed: int, root: Path, **options: Any) -> PairAnnotations | None:
    """The answers of this kind."""
    from semicrowd.data import answers

    found: PairAnnotations | None = _call(getattr(answers, kind), root, (data,), {**options, "seed": seed})
    return found
