"""Makes the estimator for a run's settings, and assigns items by it."""

from typing import Any

import numpy as np
from sklearn.base import clone

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError, listed
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer, OrderedClusterer
from semicrowd.estimators.continued import ContinuedClusterer
from semicrowd.fitting.result import Assignment
from semicrowd.run.settings import Resolved
from semicrowd.settings.parameters import Recipe
from semicrowd.settings.training import TrainerSettings


def make_estimator(settings: Resolved, data: Dataset) -> CrowdClusterer:
    """The estimator of a run, with the resolved settings of the fit.

    Raises
    ------
    UserError
        For settings of the trainer that this machine cannot provide, such as a GPU.
    """
    assert settings.fit is not None
    name, seed = settings.choices["model"], settings.values["seed"]
    if not isinstance(settings.fit, Recipe):
        made: CrowdClusterer = clone(settings.fit.model).set_params(random_state=seed)
        if hasattr(made, "n_jobs"):
            made.set_params(n_jobs=settings.values["trainer.jobs"])
        return made.set_params(image_shape=data.image_shape) if getattr(made, "image_shape", 0) is None else made
    # Imported here: other methods do not need Lightning.
    from semicrowd.fitting.training import check_trainer

    trainer = TrainerSettings.of(settings.group("trainer"))
    check_trainer(trainer)
    return ESTIMATORS[name](settings=settings.fit, image_shape=data.image_shape, trainer=trainer, random_state=seed)


def check_complete(data: Dataset, estimator: CrowdClusterer) -> None:
    """Refuse missing values if the method needs a number in every cell, and weights if it takes none.

    Raises
    ------
    UserError
        Naming the first missing value, and the methods that take missing values, or weights.
    """
    if data.weights is not None and not isinstance(estimator, ContinuedClusterer):
        weighted = [f"model={name}" for name, method in ESTIMATORS.items() if issubclass(method, ContinuedClusterer)]
        raise UserError(f"data.weight: {type(estimator).__name__} takes no weights; expected {listed(weighted)}")
    if data.missing and not estimator.takes_missing:
        able = ", ".join(f"model={name}" for name, method in ESTIMATORS.items() if method.takes_missing)
        raise UserError(
            f"{data.missing}: empty or nan; {type(estimator).__name__} expects a finite number in every cell ({able} "
            "takes missing values)"
        )


def more_of_items(estimator: CrowdClusterer, data: Dataset) -> dict[str, Any]:
    """Further arguments of ``fit``, besides features and answers, for a method that takes some."""
    if isinstance(estimator, OrderedClusterer):
        return {"sequence": data.sequence}
    if isinstance(estimator, ContinuedClusterer):
        return {"previous": data.previous, "sample_weight": data.weights}
    return {}


def assigned(estimator: CrowdClusterer, features: np.ndarray, answers: PairAnnotations | None = None) -> Assignment:
    """Clusters of new items [N, D], by their features and by the answers about them, if there are any."""
    more = {} if answers is None else {"pairs": answers}
    if hasattr(estimator, "predict_proba"):
        return Assignment.of(estimator.predict_proba(features, **more), estimator.components_)
    return Assignment.hard(estimator.predict(features, **more))
