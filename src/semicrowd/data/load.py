"""A data set by its name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from semicrowd.data.cifar10 import load_cifar10
from semicrowd.data.dataset import Dataset
from semicrowd.data.faces import load_face
from semicrowd.data.mnist import load_mnist
from semicrowd.data.pinwheel import load_pinwheel
from semicrowd.data.table import load_table
from semicrowd.settings.sources import source_settings

#: Name → loader(root, settings). A new data set is a line here, its settings and a file of ``conf/data``.
_LOADERS: dict[str, Callable[[Path, Any], Dataset]] = {
    "pinwheel": load_pinwheel,
    "mnist": load_mnist,
    "face": load_face,
    "cifar10": load_cifar10,
    "table": load_table,
}


def load_dataset(name: str, root: Path, seed: int = 0, **options: Any) -> Dataset:  # noqa: ARG001 - see below
    """Load the data set called ``name``.

    Parameters
    ----------
    root : data root, where files are looked for and fetched to
    seed : the run's seed; no loader of today draws from it, so that the seeds of a sweep share their data
    options : of the data set; see :mod:`semicrowd.settings.sources`

    Raises
    ------
    UserError
        For an unknown name or option, a value that does not fit, and for data that cannot be had or read.
    """
    settings = source_settings("data", name, options)
    return _LOADERS[name](root, settings)
