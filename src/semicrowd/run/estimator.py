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
from semicrowd.settings.fields import described
from semicrowd.settings.groups import MODELS, PARAMETERS
from semicrowd.settings.training import TrainerSettings


def make_estimator(content: Mapping[str, Any], data: Dataset) -> CrowdClusterer:
    """The estimator of a configuration that has all its values, as config.yaml does.

    Raises
    ------
    UserError
        For settings of the trainer that this machine cannot meet.
    """
    model, seed = content["model"], content["seed"]
    name = model["name"]
    if name not in MODELS:
        spelled = described(PARAMETERS[name])
        values = {one.name: _plain(model[one.spelled]) for one in spelled}
        if "image_shape" in values and values["image_shape"] is None:
            values["image_shape"] = data.image_shape
        return ESTIMATORS[name](**values, random_state=seed)
    # Imported here: a run of another method does without Lightning.
    from semicrowd.fitting.training import check_trainer

    trainer = TrainerSettings.of(content["trainer"])
    check_trainer(trainer)
    groups = ("model", "nets", "start", "views")
    settings = {f"{g}.{key}": _plain(value) for g in groups for key, value in content[g].items() if key != "name"}
    return ESTIMATORS[name](
        n_clusters=settings.pop("model.K"), restarts=content["restarts"], epochs=content["epochs"],
        batch_size=content["batch_size"], protocol=content["protocol"], image_shape=data.image_shape,
        settings=settings, trainer=trainer, random_state=seed,
    )  # fmt: skip


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


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
