"""The method of a configuration."""

from omegaconf import DictConfig

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.models import MODELS
from semicrowd.fitting.method import Method


def choose_method(cfg: DictConfig, data: Dataset, annotations: PairAnnotations | None) -> Method:
    """The method ``model.name``: a model of the SCDC paper or a baseline.

    Raises
    ------
    UserError
        For a name that is not there, and for settings or data that do not fit the method.
    """
    if cfg.model.name in MODELS:
        from semicrowd.run.trained_method import TrainedMethod

        return TrainedMethod(cfg, data, annotations)
    # Imported here: a run of a model does without their libraries.
    from semicrowd.estimators import ESTIMATORS
    from semicrowd.run.baseline_method import BaselineMethod

    if cfg.model.name in ESTIMATORS:
        return BaselineMethod(cfg, data, annotations)
    raise UserError(f"model={cfg.model.name}: expected one of {', '.join((*MODELS, *ESTIMATORS))}")
