"""What a run does with its estimator: checks before the fit, the fit, and clusters of new items after it."""

from typing import Any

import numpy as np
from sklearn.base import clone

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.estimators.base import CrowdClusterer, OrderedClusterer
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment
from semicrowd.run.settings import Resolved
from semicrowd.settings.methods import METHODS
from semicrowd.settings.parameters import Recipe
from semicrowd.settings.training import TrainerSettings


def check_able(settings: Resolved, data: Dataset, answers: PairAnnotations | None) -> None:
    """Refuse a run that the method or this machine cannot do."""
    name = settings.choices["model"]
    if METHODS[name].trained:
        # Imported here: other methods do not need Lightning.
        from semicrowd.fitting.training import check_trainer

        check_trainer(TrainerSettings.of(settings.group("trainer")))
    if ESTIMATORS[name].requires_answers and answers is None:
        raise UserError(f"model={name}: needs answers; expected annotations=<name> other than annotations=none")
    check_complete(data, ESTIMATORS[name])


def check_complete(data: Dataset, kind: type[CrowdClusterer]) -> None:
    """Refuse missing values if the method needs a number in every cell."""
    if data.missing and not kind.takes_missing:
        able = ", ".join(f"model={name}" for name, method in ESTIMATORS.items() if method.takes_missing)
        raise UserError(
            f"{data.missing}: empty or nan; {kind.__name__} expects a finite number in every cell ({able} "
            "takes missing values)"
        )


def fitted(settings: Resolved, data: Dataset, answers: PairAnnotations | None, monitor: Monitor) -> CrowdClusterer:
    """The estimator of these settings, fitted to the data and answers."""
    fit, seed = settings.fit, settings.values["seed"]
    assert fit is not None
    if isinstance(fit, Recipe):
        trainer = TrainerSettings.of(settings.group("trainer"))
        kind = ESTIMATORS[settings.choices["model"]]
        estimator = kind(settings=fit, image_shape=data.image_shape, trainer=trainer, random_state=seed)
    else:
        estimator = clone(fit.model).set_params(random_state=seed)
        if hasattr(estimator, "n_jobs"):
            estimator.set_params(n_jobs=settings.values["trainer.jobs"])
        if getattr(estimator, "image_shape", 0) is None:
            estimator.set_params(image_shape=data.image_shape)
    more: dict[str, Any] = {}  # for a method that takes more of the items than their features
    if isinstance(estimator, OrderedClusterer):
        more = {"sequence": data.sequence}
    items = data.features if data.columns is None else data
    return estimator.fit(items, answers, monitor=monitor, **more)


def assigned(estimator: CrowdClusterer, features: np.ndarray, answers: PairAnnotations | None = None) -> Assignment:
    """Clusters of new items [N, D], by their features and by the answers about them, if there are any."""
    more = {} if answers is None else {"pairs": answers}
    if hasattr(estimator, "predict_proba"):
        return Assignment.of(estimator.predict_proba(features, **more), estimator.components_)
    return Assignment.hard(estimator.predict(features, **more))
