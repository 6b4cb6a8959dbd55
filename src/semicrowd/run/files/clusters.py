"""``clusters.csv`` of a run: the clusters, and a column for names that people give them.

Whoever has seen what a cluster is writes it into the column ``name``. The page (``src/report.py FOLDER``),
``predict`` and runs that go on with ``previous=FOLDER``, whose clusters keep their numbers, then use the names.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Int

from semicrowd.errors import UserError
from semicrowd.files import encoding_of, write_text
from semicrowd.fitting.result import Assignment

CLUSTERS = "clusters.csv"


def write_clusters(
    folder: Path, assignment: Assignment, components: Int[np.ndarray, "K"], names: Mapping[int, str]
) -> None:
    """Write the file: cluster, number of items, the cluster's component in the model of model.pt, and name."""
    sizes = np.bincount(assignment.cluster, minlength=len(components))
    table = pd.DataFrame({"items": sizes, "component": components}).rename_axis("cluster")
    table["name"] = [names.get(cluster, "") for cluster in table.index]
    write_text(folder / CLUSTERS, table.to_csv(lineterminator="\n"))


def read_components(folder: Path, number: int) -> Int[np.ndarray, "K"]:
    """The model's component behind each of ``number`` clusters.

    A run of an earlier version has no such file; its clusters have the numbers of their components.

    Raises
    ------
    UserError
        For a file that does not have each component once.
    """
    path = folder / CLUSTERS
    if not path.is_file():
        return np.arange(number)
    try:
        components = _read(path)["component"].to_numpy(np.int64)
    except (ValueError, KeyError) as error:
        raise UserError(f"{path}: not the clusters of a run") from error
    if len(components) < number or not np.array_equal(np.sort(components), np.arange(len(components))):
        raise UserError(f"{path}: not the clusters of this run; expected each component from 0 to {number - 1} once")
    return components


def read_names(folder: Path) -> dict[int, str]:
    """Cluster → its name, of the clusters that have one; empty without the file, or for a run of an earlier version.

    Raises
    ------
    UserError
        If the file cannot be read.
    """
    path = folder / CLUSTERS
    if not path.is_file():
        return {}
    table = _read(path)
    if "name" not in table:
        return {}
    names = table["name"].str.strip()
    return {number: name for number, name in zip(table["cluster"], names, strict=True) if name}


def check_no_names(folder: Path, known: Mapping[int, str]) -> None:
    """Refuse to write other clusters into a run's folder in which people have named those that are there.

    Parameters
    ----------
    known : names that are known from an earlier run, and not lost

    Raises
    ------
    UserError
        Naming the file.
    """
    lost = {name for number, name in read_names(folder).items() if known.get(number) != name}
    if lost:
        named = ", ".join(sorted(lost))[:100]
        raise UserError(f"{folder / CLUSTERS}: has names of clusters ({named}), which would be lost; choose another "
                        f"hydra.run.dir, with previous={folder} to keep the names")


def _read(path: Path) -> pd.DataFrame:
    """The table in the order of the clusters, all other cells as text, however a spreadsheet has written it."""
    expected = "expected a column cluster with the number of each cluster once, from 0"
    try:
        lines = path.read_text(encoding=encoding_of(path)).splitlines()
        separator = max(",;\t", key=lines[0].count)
        header, *rows = (row for row in csv.reader(lines, delimiter=separator) if any(cell.strip() for cell in row))
        header = [name.strip().lower() for name in header]
        last = len(header) - 1
        # A separator in the last column, the name, need not have quotes around it.
        cells = [[*row[:last], separator.join(row[last:]).strip()] for row in rows]
        table = pd.DataFrame(cells, columns=header).fillna("")
        table["cluster"] = table["cluster"].astype(int)
    except (ValueError, KeyError, IndexError, OSError, csv.Error) as error:
        raise UserError(f"{path}: not the clusters of a run; {expected}") from error
    table = table.sort_values("cluster", ignore_index=True)
    if table["cluster"].tolist() != list(range(len(table))):
        raise UserError(f"{path}: not the clusters of a run; {expected}")
    return table
