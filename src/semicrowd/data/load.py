"""A data set by its name."""

from importlib import import_module
from pathlib import Path
from typing import Any

from semicrowd.data.dataset import Dataset
from semicrowd.settings.sources import source_settings

#: Name → module in ``semicrowd.data`` with its ``load_<name>(root, settings)``, imported when asked for, so that a run
#: imports the code of its own data alone. A new data set is an entry here and its settings.
LOADERS = {
    "pinwheel": "generated", "shapes": "generated", "mnist": "mnist", "face": "faces", "cifar10": "cifar10",
    "table": "table", "npz": "npz", "images": "images", "benchmark": "benchmark", "sequence": "sequences",
    "encoded": "encoded",
}  # fmt: skip


def module_of(name: str) -> str:
    """The module of a data set's loader."""
    return f"semicrowd.data.{LOADERS[name]}"


def load_dataset(name: str, root: Path, /, **options: Any) -> Dataset:
    """Load the data set called ``name``.

    Parameters
    ----------
    root : data root, where files are looked for and fetched to
    options : of the data set; see :mod:`semicrowd.settings.sources`
    """
    settings = source_settings("data", name, options)
    data: Dataset = getattr(import_module(module_of(name)), f"load_{name}")(root, settings)
    return data
