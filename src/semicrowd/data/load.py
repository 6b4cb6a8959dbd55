"""A data set by its name."""

from importlib import import_module
from pathlib import Path
from typing import Any

from semicrowd.data.dataset import Dataset
from semicrowd.settings.sources import source_settings

#: Name → module and its loader(root, settings), imported when asked for, so that a run imports the code of its own data
#: alone. A new data set is a line here and its settings.
LOADERS: dict[str, str] = {
    "pinwheel": "semicrowd.data.generated:load_pinwheel",
    "shapes": "semicrowd.data.generated:load_shapes",
    "mnist": "semicrowd.data.mnist:load_mnist",
    "face": "semicrowd.data.faces:load_face",
    "cifar10": "semicrowd.data.cifar10:load_cifar10",
    "table": "semicrowd.data.table:load_table",
    "npz": "semicrowd.data.npz:load_npz",
    "images": "semicrowd.data.images:load_images",
    "benchmark": "semicrowd.data.benchmark:load_benchmark",
    "sequence": "semicrowd.data.sequences:load_sequence",
    "encoded": "semicrowd.data.encoded:load_encoded",
}


def load_dataset(name: str, root: Path, **options: Any) -> Dataset:
    """Load the data set called ``name``.

    Parameters
    ----------
    root : data root, where files are looked for and fetched to
    options : of the data set; see :mod:`semicrowd.settings.sources`

    Raises
    ------
    UserError
        For an unknown name or option, a value that does not fit, and for data that cannot be had or read.
    """
    settings = source_settings("data", name, options)
    module, _, loader = LOADERS[name].partition(":")
    data: Dataset = getattr(import_module(module), loader)(root, settings)
    return data
