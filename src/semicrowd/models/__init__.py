"""The models of the SCDC paper as LightningModules."""

from typing import Any

import torch

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.starts.answers import check_answer_start
from semicrowd.fitting.module import ClusteringModule
from semicrowd.models.bayes import BayesSCDC
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.models.posterior import Posterior
from semicrowd.models.scdc import SCDC
from semicrowd.nets.mlp import set_precision

MODELS: dict[str, type[ClusteringModule]] = {"bayes": BayesSCDC, "scdc": SCDC}
#: Settings of the models that name a choice.
_CHOICES = {
    "start": ("warm", "cold"),
    "likelihood": ("gaussian", "bernoulli"),
    "natural_gradient": ("svi", "full"),
    "optimizer": ("adam", "momentum"),
}

__all__ = ["MODELS", "ClusteringModule", "Posterior", "WorkerPosterior", "build_model"]


def build_model(
    cfg: Any, data: Dataset, annotations: PairAnnotations | None, seed: int, restarts: int
) -> ClusteringModule:
    """The model ``cfg.model.name`` for a data set; ``cfg`` is the whole composed configuration.

    Raises
    ------
    UserError
        For a model that is not there, fewer than two clusters, fewer items than clusters, a setting that is not one of
        its choices, or features that the likelihood does not fit.
    """
    settings = cfg.model
    if settings.name not in MODELS:
        raise UserError(f"model={settings.name}: expected one of {', '.join(MODELS)}")
    if settings.K < 2:
        raise UserError(f"model.K={settings.K}: expected at least 2 clusters")
    if data.num_items < settings.K:
        raise UserError(f"model.K={settings.K}: more clusters than the {data.num_items} items of {data.name}")
    if restarts < 1:
        raise UserError(f"restarts={restarts}: expected at least 1")
    if settings.warm.join not in ("answers", "both"):
        raise UserError(f"model.warm.join={settings.warm.join}: expected answers or both")
    check_answer_start(settings.warm)
    for name, choices in _CHOICES.items():
        if settings.get(name, choices[0]) not in choices:
            raise UserError(f"model.{name}={settings[name]}: expected {' or '.join(choices)}")
    if not 0 < settings.get("step_size", 1) <= 1:
        raise UserError(f"model.step_size={settings.step_size}: expected a number above 0, at most 1")
    if settings.name == "scdc" and settings.nets.kind != "mlp":
        raise UserError(f"model.nets.kind={settings.nets.kind}: model=scdc takes nets=mlp alone")
    if settings.likelihood == "bernoulli" and not (data.features.min() >= 0 and data.features.max() <= 1):
        raise UserError(f"model.likelihood=bernoulli: expected features between 0 and 1; those of {data.name} are not")
    features = torch.from_numpy(data.features)
    model = MODELS[settings.name](settings, features, annotations, seed, restarts, cfg.batch_size, data.image_shape)
    set_precision(model, settings.nets.precision)
    return model
