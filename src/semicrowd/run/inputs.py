"""Data and answers of a run, and the settings that follow from them."""

from collections.abc import Mapping
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.answers import load_annotations
from semicrowd.data.fetch import data_root
from semicrowd.defaults.facts import Facts
from semicrowd.run.composition import Given
from semicrowd.run.settings import Resolved, resolved, sources


def load_inputs(content: Mapping[str, Any]) -> tuple[Dataset, PairAnnotations | None]:
    """Data and answers of settings as config.yaml has them; the seed decides what is drawn of the answers.

    Empty cells of a table are filled where the method needs a number in every one.
    """
    root, seed = data_root(), content["seed"]
    data, answers = (dict(content[group]) for group in ("data", "annotations"))
    loaded = load_dataset(data.pop("name"), root, seed=seed, **data)
    if loaded.missing:
        # Imported here: torch takes seconds, and few tables have gaps.
        from semicrowd.estimators import ESTIMATORS

        if not ESTIMATORS[content["model"]["name"]].takes_missing:
            loaded = loaded.with_gaps_filled()
    return loaded, load_annotations(answers.pop("name"), loaded, seed, root, **answers)


def resolve_on_data(given: Given) -> tuple[Resolved, Dataset, PairAnnotations | None]:
    """All settings of a run, with the data and answers that they are for.

    Raises
    ------
    UserError
        For inputs that cannot be had or read, and for settings that do not fit them.
    """
    data, answers = load_inputs(sources(given).content)
    facts = Facts.of(data.features, answers, data.image_shape, data.name, data.num_classes)
    return resolved(given, facts, data.chosen), data, answers
