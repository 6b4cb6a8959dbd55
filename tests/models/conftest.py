"""Small models as the command line builds them."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import pytorch_lightning as pl
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.models import ClusteringModule, build_model

CONF = Path(__file__).parents[2] / "conf"


def compose_model(*overrides: str) -> DictConfig:
    """The configuration of ``python src/train.py data=pinwheel …``."""
    with initialize_config_dir(str(CONF), version_base=None):
        return compose("config", overrides=["data=pinwheel", *overrides])


@pytest.fixture
def pinwheel() -> Dataset:
    """Five arms of 24 points."""
    return load_dataset("pinwheel", Path(), points_per_class=24)


@pytest.fixture
def answers(pinwheel: Dataset) -> PairAnnotations:
    """Six annotators, right nine times of ten, 40 pairs each on 50 of the points."""
    assert pinwheel.labels is not None
    return simulate.two_coin(
        pinwheel.labels, np.random.default_rng(0), num_annotators=6, pairs_per_annotator=40, num_annotated=50
    )


Build = Callable[..., ClusteringModule]


@pytest.fixture
def build(pinwheel: Dataset, answers: PairAnnotations) -> Build:
    """``build("model=scdc", …, with_answers=True, seed=0, restarts=1)``."""

    def run(*overrides: str, with_answers: bool = True, seed: int = 0, restarts: int = 1) -> ClusteringModule:
        quick = ("model.warm.epochs=2", "model.warm.candidates=2", "epochs=2")
        cfg = compose_model(*quick, *overrides)
        return build_model(cfg, pinwheel, answers if with_answers else None, seed, restarts)

    return run


@pytest.fixture
def fit() -> Callable[[ClusteringModule, int], None]:
    """``fit(model, epochs)``: Lightning's loop and nothing else."""

    def run(model: ClusteringModule, epochs: int) -> None:
        trainer = pl.Trainer(
            max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of Lightning against this torch
            trainer.fit(model, model.training_batches())

    return run
