"""Fits of a few seconds or less: a model made from its settings, its data, and Lightning's loop around them."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.callbacks import FinalRefits
from semicrowd.fitting.module import ClusteringModule
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import build_views
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.settings.parameters import Recipe
from semicrowd.settings.training import StartSettings, TrainingSettings, ViewSettings
from semicrowd.starts.start import start

#: Sixty items without clusters, and answers about some of them.
POINTS = np.random.default_rng(0).random((60, 4)).astype(np.float32)
ANSWERS = PairAnnotations.from_arrays([0, 1, 2, 5, 7], [1, 2, 7, 9, 0], [0, 1, 0, 1, 1], [1, 0, 1, 1, 0], num_items=60)
#: What suits a hundred points in the plane, and is quick.
OF_MODEL: dict[str, dict[str, Any]] = {
    "bayes": {"learning_rate": 0.003, "initial_variance": 0.3},
    "scdc": {"learning_rate": 0.003, "initial_variance": 0.3},
}
SETTINGS: dict[str, type[BayesSettings | SCDCSettings]] = {"bayes": BayesSettings, "scdc": SCDCSettings}
OF_START = {"epochs": 2, "candidates": 2}

M = TypeVar("M", bound=GenerativeModel)


@dataclass
class SmallFit(Generic[M]):
    """A model, its data and its recipe.

    Attributes
    ----------
    said : lines of the start
    """

    model: M
    data: TrainingData
    recipe: Recipe
    said: list[str] = field(default_factory=list)

    @property
    def features(self) -> Tensor:
        """Of all items, [N, D]."""
        return self.data.features

    @property
    def annotations(self) -> PairAnnotations:
        """The answers of a fit that has some."""
        assert self.data.annotations is not None
        return self.data.annotations

    def begin(self) -> None:
        """The start, as the recipe has it."""
        start(self.model, self.data, self.recipe.start, self.said.append)

    def module(self) -> ClusteringModule:
        """For Lightning; the start is left to :meth:`begin`."""
        return ClusteringModule(self.model, self.data, self.recipe, begin=False)

    def train(self, epochs: int, module: ClusteringModule | None = None) -> None:
        """Lightning's loop and the last refits of the annotators, nothing else."""
        module = module or self.module()
        trainer = pl.Trainer(
            max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False, callbacks=[FinalRefits()],
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of Lightning against this torch
            trainer.fit(module)

    def elbo(self, **options: Any) -> dict[str, Tensor]:
        """Every term of all items' ELBO."""
        return self.model.elbo(self.data, **options)

    def clusters(self) -> np.ndarray:
        """Of the items from their features alone, first restart, [N]."""
        return self.model.posterior(self.features).probabilities[0].argmax(-1).numpy()


def small_fit(
    name: str,
    features: np.ndarray,
    annotations: PairAnnotations | None = None,
    *,
    start: Mapping[str, Any] | None = None,
    views: Mapping[str, Any] | None = None,
    nets: Mapping[str, Any] | None = None,
    restarts: int = 1,
    seed: int = 0,
    epochs: int = 2,
    batch_size: int = 50,
    image_shape: tuple[int, ...] | None = None,
    **model: Any,
) -> SmallFit[Any]:
    """A fit of ``bayes`` or ``scdc`` that has not begun; what is not given is quick.

    Parameters
    ----------
    start, views, nets : settings of these groups
    model : settings of the model
    """
    kind = model_class(name)
    recipe = Recipe(
        SETTINGS[name](**(OF_MODEL[name] | model)),
        NetSettings(**(nets or {})),
        StartSettings(**(OF_START | dict(start or {}))),
        ViewSettings(**(views or {})),
        TrainingSettings(restarts=restarts, epochs=epochs, batch_size=batch_size),
    )
    annotators = 0 if annotations is None else annotations.num_annotators
    made = kind(
        recipe.model, recipe.nets, features.shape[1], annotators,
        restarts=restarts, seed=seed, image_shape=image_shape,
    )  # fmt: skip
    moved = build_views(recipe.views, image_shape)
    return SmallFit(made, TrainingData(torch.from_numpy(features), annotations, moved, seed, batch_size), recipe)
