"""Data and answers of a run, and the settings that follow from them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.answers import AnswerFile, load_annotations, read_files_of
from semicrowd.data.fetch import data_root
from semicrowd.defaults.facts import Facts
from semicrowd.run.composition import Given
from semicrowd.run.previous import read_clusters
from semicrowd.run.settings import Resolved, resolved, sources


def load_inputs(content: Mapping[str, Any]) -> tuple[Dataset, PairAnnotations | None]:
    """Data and answers for settings as in config.yaml. The random draws of simulated answers depend on the seed."""
    files = load_files(content)  # before the data: a folder of images can take minutes
    data = load_data(content)
    return data, load_answers(content, data, files)


def load_files(content: Mapping[str, Any]) -> list[AnswerFile] | None:
    """The files of ``annotations=file``; None for other answers."""
    options = dict(content["annotations"])
    return read_files_of(options.pop("name"), options)


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


def load_answers(
    content: Mapping[str, Any], data: Dataset, files: Sequence[AnswerFile] | None = None
) -> PairAnnotations | None:
    """The answers about the data; ``files``: those of ``annotations=file``, where they have been read."""
    answers = dict(content["annotations"])
    return load_annotations(answers.pop("name"), data, content["seed"], data_root(), files, **answers)


def facts_of(data: Dataset, answers: PairAnnotations | None) -> Facts:
    """The facts about data and answers from which the rules set defaults."""
    return Facts.of(data.features, answers, data.image_shape, data.name, data.num_classes)


def resolve_on_data(given: Given) -> tuple[Resolved, Dataset, PairAnnotations | None]:
    """All settings of a run, with the data and answers that they are for.

    Raises
    ------
    UserError
        For inputs that are missing or cannot be read, and for settings that do not fit them.
    """
    data, answers = load_inputs(sources(given).content)
    return resolved(given, facts_of(data, answers), data.chosen), data, answers
