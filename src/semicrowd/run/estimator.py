"""The estimator of a run's settings, and what it says of items."""

from typing import Any

import numpy as np
from sklearn.base import clone

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.continued import ContinuedClusterer
from semicrowd.estimators.ordered import OrderedClusterer
from semicrowd.fitting.result import Assignment
from semicrowd.run.settings import Resolved
from semicrowd.settings.recipe import Recipe
from semicrowd.settings.training import TrainerSettings


def make_estimator(settings: Resolved, data: Dataset) -> CrowdClusterer:
    """The estimator of a run, which takes the settings of the fit as they are.

    Raises
    ------
    UserError
        For settings of the trainer that this machine cannot meet.
    """
    assert settings.fit is not None
    name, seed = settings.choices["model"], settings.values["seed"]
    if not isinstance(settings.fit, Recipe):
        made: CrowdClusterer = clone(settings.fit.model).set_params(random_state=seed)
        return made.set_params(image_shape=data.image_shape) if getattr(made, "image_shape", 0) is None else made
    # Imported here: a run of another method does without Lightning.
    from semicrowd.fitting.training import check_trainer

    trainer = TrainerSettings.of(settings.group("trainer"))
    check_trainer(trainer)
    return ESTIMATORS[name](settings=settings.fit, image_shape=data.image_shape, trainer=trainer, random_state=seed)


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


def more_of_items(estimator: CrowdClusterer, data: Dataset) -> dict[str, Any]:
    """Arguments of ``fit`` beside features and answers, for a method that takes them."""
    if isinstance(estimator, OrderedClusterer):
        return {"sequence": data.sequence}
    return {"previous": data.previous} if isinstance(estimator, ContinuedClusterer) else {}


def assigned(estimator: CrowdClusterer, features: np.ndarray, answers: PairAnnotations | None = None) -> Assignment:
    """Clusters of new items [N, D], with the answers about them where there are any."""
    more = {} if answers is None else {"pairs": answers}
    if hasattr(estimator, "predict_proba"):
        return Assignment.of(estimator.predict_proba(features, **more))
    return Assignment.hard(estimator.predict(features, **more))
