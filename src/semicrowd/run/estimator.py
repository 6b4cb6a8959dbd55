"""The estimator of a run's settings, and what it says of items."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.fitting.result import Assignment
from semicrowd.settings.fields import described_by_name, dotted
from semicrowd.settings.methods import METHODS
from semicrowd.settings.recipe import settings_of
from semicrowd.settings.training import TrainerSettings


def make_estimator(content: Mapping[str, Any], data: Dataset) -> CrowdClusterer:
    """The estimator of a configuration that has all its values, as config.yaml does.

    Raises
    ------
    UserError
        For settings of the trainer that this machine cannot meet.
    """
    name, seed = content["model"]["name"], content["seed"]
    known, method = described_by_name(METHODS[name].groups), ESTIMATORS[name]
    values = {key: tuple(value) if isinstance(value, list) else value
              for key, value in dotted(content).items() if key in known}
    if not METHODS[name].trained:
        parameters = {known[key].name: value for key, value in values.items()}
        if "image_shape" in parameters and parameters["image_shape"] is None:
            parameters["image_shape"] = data.image_shape
        return method(**parameters, random_state=seed)
    # Imported here: a run of another method does without Lightning.
    from semicrowd.fitting.training import check_trainer

    trainer = TrainerSettings.of(content["trainer"])
    check_trainer(trainer)
    recipe = settings_of(name, values)
    return method(settings=recipe, image_shape=data.image_shape, trainer=trainer, random_state=seed)


def check_complete(data: Dataset, estimator: CrowdClusterer) -> None:
    """Refuse values that are missing where the method cannot do without.

    Raises
    ------
    UserError
        Saying where the first is, and which methods can.
    """
    if data.missing and not estimator.takes_missing:
        able = ", ".join(f"model={name}" for name, method in ESTIMATORS.items() if method.takes_missing)
        raise UserError(
            f"{data.missing}: empty or nan; {type(estimator).__name__} expects a finite number in every cell ({able} "
            "takes missing values)"
        )


def assigned(estimator: CrowdClusterer, features: np.ndarray, answers: PairAnnotations | None = None) -> Assignment:
    """Clusters of new items [N, D], with the answers about them where there are any."""
    more = {} if answers is None else {"pairs": answers}
    if hasattr(estimator, "predict_proba"):
        return Assignment.of(estimator.predict_proba(features, **more))
    return Assignment.hard(estimator.predict(features, **more))
