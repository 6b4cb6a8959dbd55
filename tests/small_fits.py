"""Fits of a few seconds or less: a model made from its parameters, its data, and Lightning's loop around them."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pytorch_lightning as pl
import torch
from joblib import Memory
from pytorch_lightning.callbacks import ModelCheckpoint
from sklearn.utils import Bunch
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods import method
from semicrowd.methods.generative import NOT_OF_THE_FIT, _clustered
from semicrowd.methods.protocols import with_defaults
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import build_views
from semicrowd.starts.start import start
from semicrowd.training.data import CrowdDataModule, TrainingBatches
from semicrowd.training.module import ClusteringModule

#: Sixty items without clusters, and answers about some of them.
POINTS = np.random.default_rng(0).random((60, 4)).astype(np.float32)
ANSWERS = PairAnnotations.from_arrays([0, 1, 2, 5, 7], [1, 2, 7, 9, 0], [0, 1, 0, 1, 1], [1, 0, 1, 1, 0], num_items=60)
#: What suits a hundred points in the plane, and is quick.
QUICK = {"learning_rate": 0.003, "init_epochs": 2, "epochs": 2, "batch_size": 50}

M = TypeVar("M", bound=GenerativeModel)


def parameters(name: str, **given: Any) -> Bunch:
    """All parameters of a fit of ``bayes`` or ``scdc``: the given ones, else the usual ones without a protocol."""
    values = method(name)(**given).get_params()
    return with_defaults(name, {one: value for one, value in values.items() if one not in NOT_OF_THE_FIT}, None)


@dataclass
class SmallFit(Generic[M]):
    """A model and its data.

    Attributes
    ----------
    said : lines of the start
    """

    model: M
    data: TrainingData
    said: list[str] = field(default_factory=list)

    @property
    def features(self) -> Tensor:
        """Of all items, [N, D]."""
        return self.data.features

    @property
    def annotations(self) -> PairAnnotations:
        """The answers of a fit that has some."""
        return self.data.annotations

    def begin(self) -> None:
        """The start, as the parameters have it."""
        start(self.model, self.data, self.said.append)

    def module(self) -> ClusteringModule:
        """For Lightning; the start is left to :meth:`begin`."""
        return ClusteringModule(self.model, self.data, begin=False)

    def batches(self) -> TrainingBatches:
        """Those of the first epoch."""
        params = self.model.params
        weights = params.get("batch_weights", "unbiased")
        return TrainingBatches(self.data, params.sampler, params.sample_size, lambda: 0, weights=weights)

    def train(self, epochs: int, module: ClusteringModule | None = None) -> None:
        """Lightning's loop, nothing else."""
        trainer = pl.Trainer(
            max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
            enable_model_summary=False,
        )  # fmt: skip
        params = self.model.params
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of Lightning against this torch
            trainer.fit(module or self.module(), CrowdDataModule(self.data, params))

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
    views: Mapping[str, Any] | None = None,
    restarts: int = 1,
    seed: int = 0,
    image_shape: tuple[int, ...] | None = None,
    **given: Any,
) -> SmallFit[Any]:
    """A fit of ``bayes`` or ``scdc`` that has not begun; what is not given is quick.

    Parameters
    ----------
    views : largest amounts of the transformations, other than usual
    given : parameters of the estimator
    """
    params = parameters(name, **(QUICK | given))
    annotators = 0 if annotations is None else annotations.num_annotators
    made = model_class(name)(
        params, features.shape[1], annotators, restarts=restarts, seed=seed, image_shape=image_shape
    )
    moved = build_views(params.augmentation, image_shape)
    for amount, value in (views or {}).items():
        setattr(moved, amount, value)
    clustered = partial(_clustered, features, annotations, params.n_clusters, image_shape, (), seed, Memory(None), None)
    data = TrainingData(torch.from_numpy(features), annotations, moved, seed, params.batch_size, clustered=clustered)
    return SmallFit(made, data)


def trainer_in(folder: Path | None = None, *callbacks: pl.Callback, **options: Any) -> Callable[..., pl.Trainer]:
    """Lightning's trainer on the processor, with checkpoints in ``folder`` after every epoch, ``last.ckpt``."""
    kept = [] if folder is None else [ModelCheckpoint(folder, "last", every_n_epochs=1, save_on_train_epoch_end=True,
                                                      enable_version_counter=False)]  # fmt: skip
    given: dict[str, Any] = {"accelerator": "cpu", "devices": 1} | options
    return partial(
        pl.Trainer, **given, logger=False, enable_progress_bar=False,
        default_root_dir=folder, enable_checkpointing=bool(kept), callbacks=[*callbacks, *kept],
    )  # fmt: skip
