"""What a run does with its estimator beside the fit: checks before it, further arguments of it, new items after it."""

from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError, listed
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer, OrderedClusterer
from semicrowd.estimators.continued import ContinuedClusterer
from semicrowd.fitting.result import Assignment
from semicrowd.run.settings import Resolved
from semicrowd.settings.methods import METHODS
from semicrowd.settings.training import TrainerSettings


def check_able(settings: Resolved, data: Dataset, answers: PairAnnotations | None, estimator: CrowdClusterer) -> None:
    """Refuse a run that the method or this machine cannot do.

    Raises
    ------
    UserError
        For settings of the trainer that this machine cannot provide, such as a GPU; for answers that are missing; and
        as :func:`check_complete`.
    """
    name = settings.choices["model"]
    if METHODS[name].trained:
        # Imported here: other methods do not need Lightning.
        from semicrowd.fitting.training import check_trainer

        check_trainer(TrainerSettings.of(settings.group("trainer")))
    if estimator.requires_answers and answers is None:
        raise UserError(f"model={name}: needs answers; expected annotations=<name> other than annotations=none")
    check_complete(data, estimator)


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
