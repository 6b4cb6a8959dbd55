"""Data, answers and an earlier run's clusters as inputs of a run."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.answers import load_annotations
from semicrowd.data.fetch import data_root
from semicrowd.errors import UserError
from semicrowd.files import check_exists, expanded
from semicrowd.settings.rule import Facts

_ASSIGNMENTS = "assignments.csv"


def clusters_of(run: Path) -> Path:
    """The file with the clusters of an earlier run."""
    return expanded(run) / _ASSIGNMENTS


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
    try:
        check_exists(run)
    except UserError as error:
        raise UserError(f"previous={error}") from None
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


def load_inputs(content: Mapping[str, Any]) -> tuple[Dataset, PairAnnotations | None]:
    """Data and answers for settings as in config.yaml. The random draws of simulated answers depend on the seed."""
    refuse_swapped_files(content)
    data = load_data(content)
    return data, load_answers(content, data)


def refuse_swapped_files(content: Mapping[str, Any]) -> None:
    """Refuse a table of items that has the columns of answers."""
    path, answers = content["data"].get("path"), content["annotations"].get("path")
    if path is None or answers is None or not expanded(path).is_file():
        return
    try:
        with expanded(path).open(encoding="utf-8") as file:
            header = {one.strip(' "') for one in file.readline().strip().split(",")}
    except (OSError, ValueError):
        return  # no text: no file of answers
    if {"i", "j", "label"} <= header:
        raise UserError(f"data.path={path}: has the columns i, j and label of answers; are data.path and "
                        "annotations.path swapped?")


def load_data(content: Mapping[str, Any]) -> Dataset:
    """The data alone. Empty cells of a table are filled if the method needs a number in every cell."""
    data = dict(content["data"])
    loaded = load_dataset(data.pop("name"), data_root(), **data)
    if loaded.missing:
        # Imported here: importing torch takes seconds, and few tables have empty cells.
        from semicrowd.estimators import ESTIMATORS

        if not ESTIMATORS[content["model"]["name"]].takes_missing:
            loaded = loaded.with_gaps_filled()
    earlier = content.get("previous")
    return loaded if earlier is None else replace(loaded, previous=read_clusters(Path(earlier), loaded))


def load_answers(content: Mapping[str, Any], data: Dataset) -> PairAnnotations | None:
    """The answers about the data."""
    answers = dict(content["annotations"])
    return load_annotations(answers.pop("name"), data, content["seed"], data_root(), **answers)


def facts_of(data: Dataset, answers: PairAnnotations | None) -> Facts:
    """The facts about data and answers from which the rules set defaults."""
    return Facts.of(data.features, answers, data.image_shape, data.name, data.num_classes)
