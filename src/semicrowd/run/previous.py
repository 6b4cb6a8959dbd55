"""The clusters of an earlier run, from which a new run with more answers or more items starts."""

from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.data import Dataset
from semicrowd.errors import UserError

_ASSIGNMENTS = "assignments.csv"


def clusters_of(run: Path) -> Path:
    """The file with the clusters of an earlier run."""
    return run.expanduser() / _ASSIGNMENTS


def read_clusters(run: Path, data: Dataset) -> np.ndarray:
    """[N] clusters of the items of ``data`` in an earlier run; −1 for items that the earlier run did not have.

    Items are matched by their names, or by their rows if they have no names.

    Parameters
    ----------
    run : folder of the earlier run, which has finished

    Raises
    ------
    UserError
        For a folder without a finished run, and for a run that has none of the items of ``data``.
    """
    path = clusters_of(run)
    if not path.is_file():
        raise UserError(f"previous={run}: no {_ASSIGNMENTS}; expected the folder of a finished run")
    try:
        table = pd.read_csv(path, dtype={"item": str}, keep_default_na=False)
        earlier = pd.Series(table["cluster"].to_numpy(np.int64), index=table["item"])
    except (ValueError, KeyError, OSError) as error:
        raise UserError(f"previous={run}: {_ASSIGNMENTS} has no columns item and cluster of whole numbers") from error
    if not earlier.index.is_unique or (earlier < 0).any() or (earlier > len(earlier)).any():
        raise UserError(f"previous={run}: {_ASSIGNMENTS} is not that of a run; expected each item once")
    names = data.names if data.names is not None else tuple(map(str, range(len(data.features))))
    clusters: np.ndarray = earlier.reindex(list(names), fill_value=-1).to_numpy(np.int64)
    if (clusters < 0).all():
        raise UserError(f"previous={run}: has none of these items; expected a run about some of them")
    return clusters
