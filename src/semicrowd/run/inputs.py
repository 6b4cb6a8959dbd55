"""Data and answers as inputs of a run."""

from collections.abc import Mapping
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.fetch import data_root
from semicrowd.data.load import load_annotations
from semicrowd.errors import UserError
from semicrowd.files import expanded
from semicrowd.settings.rule import Facts


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
    return loaded


def load_answers(content: Mapping[str, Any], data: Dataset) -> PairAnnotations | None:
    """The answers about the data."""
    answers = dict(content["annotations"])
    return load_annotations(answers.pop("name"), data, content["seed"], data_root(), **answers)


def facts_of(data: Dataset, answers: PairAnnotations | None) -> Facts:
    """The facts about data and answers from which the rules set defaults."""
    return Facts.of(data.features, answers, data.image_shape, data.name, data.num_classes)
