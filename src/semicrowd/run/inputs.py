"""Data and answers of a run, and the settings that follow from them."""

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.answers import load_annotations
from semicrowd.data.fetch import data_root
from semicrowd.defaults.facts import Facts
from semicrowd.run.composition import Given
from semicrowd.run.settings import Resolved, resolved, sources

Inputs = tuple[Dataset, PairAnnotations | None]


def load_inputs(settings: Resolved) -> Inputs:
    """Data and answers; the seed decides what is drawn of the answers."""
    root, seed = data_root(), settings.values["seed"]
    data = load_dataset(settings.choices["data"], root, seed=seed, **settings.group("data"))
    answers = load_annotations(settings.choices["annotations"], data, seed, root, **settings.group("annotations"))
    return data, answers


def facts_of(data: Dataset, answers: PairAnnotations | None) -> Facts:
    """What the rules may know of them."""
    num_classes = None if data.labels is None else len(np.unique(data.labels))
    return Facts.of(data.features, answers, data.image_shape, data.name, num_classes)


def resolve_on_data(given: Given) -> tuple[Resolved, Dataset, PairAnnotations | None]:
    """All settings of a run, with the data and answers that they are for.

    Raises
    ------
    UserError
        For inputs that cannot be had or read, and for settings that do not fit them.
    """
    data, answers = load_inputs(sources(given))
    return resolved(given, facts_of(data, answers)), data, answers
