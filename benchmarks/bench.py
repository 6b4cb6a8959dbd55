"""What the benchmarks of MNIST work on: images, answers, and models after a short warm start."""

from dataclasses import replace
from functools import cached_property

import numpy as np
from omegaconf import DictConfig
from torch import Tensor

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.models import ClusteringModule, build_model
from semicrowd.pipeline.configurations import composed
from semicrowd.random import stream
from semicrowd.run.execute import load_inputs
from steps import Effort

#: The crowd's answers in the paper's batches: 128 images, and those of so many pairs drawn one by one (App. B).
PAPER_BATCHES = ("annotations=crowd", "model.relational.sampler=pairs")
#: What the end of a run does is no part of a step; the warm start is as short as it can be.
_SHORT = (
    "seed=0",
    "batch_size=128",
    "model.views.kind=none",
    "model.final_refits=0",
    "model.warm.epochs=1",
    "model.warm.candidates=1",
    "++model.warm.classifier_epochs=1",  # of SCDC; BayesSCDC has none and leaves it alone
)


class Bench:
    """MNIST with the crowd's answers and its models.

    Parameters
    ----------
    quick : random images and few steps instead: shows that everything runs; the figures mean nothing
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self._starts: dict[tuple[str, int, str], dict[str, Tensor]] = {}

    def effort(self, steps: int = 40, repeats: int = 3) -> Effort:
        """How long to measure."""
        return Effort(1, 2, 1) if self.quick else Effort(steps=steps, repeats=repeats)

    @cached_property
    def inputs(self) -> tuple[Dataset, PairAnnotations]:
        """Images and answers.

        Raises
        ------
        UserError
            Where they cannot be had.
        """
        if self.quick:
            return _random_images()
        data, answers = load_inputs(composed(["data=mnist", "annotations=crowd"]))
        assert answers is not None
        return data, answers

    @property
    def num_items(self) -> int:
        """N."""
        return self.inputs[0].num_items

    def untrained(self, cfg: DictConfig, num_items: int | None = None) -> ClusteringModule:
        """The model of a configuration and of all images, or of the first ``num_items``."""
        data, answers = self.inputs
        if num_items is not None:
            data = replace(data, features=data.features[:num_items], labels=None)
        return build_model(cfg, data, None if cfg.annotations.name == "none" else answers, cfg.seed, cfg.restarts)

    def model(self, *overrides: str, num_items: int | None = None) -> ClusteringModule:
        """The model of ``src/train.py data=mnist …`` after a short warm start.

        All restarts start alike, as do all models of one kind, K and answers, whatever the number of images.
        """
        cfg = composed(["data=mnist", *_SHORT, *overrides])
        kind = (cfg.model.name, cfg.model.K, cfg.annotations.name)
        if kind not in self._starts:
            first = self.untrained(composed(["data=mnist", *_SHORT, *overrides, "restarts=1"]))
            first.warm_up()
            self._starts[kind] = first.state_dict()
        model, start = self.untrained(cfg, num_items), self._starts[kind]
        model.load_state_dict({name: start[name].expand_as(value) for name, value in model.state_dict().items()})
        return model


def _random_images() -> tuple[Dataset, PairAnnotations]:
    """1024 images of noise, and simulated answers about 200 of them."""
    rng = stream(0, "data")
    images, labels = rng.random((1024, 28 * 28), dtype=np.float32), rng.integers(10, size=1024)
    answers = simulate.tasks(labels, stream(0, "annotations"), num_annotators=8, num_tasks=16, num_annotated=200)
    return Dataset("mnist", images, labels, images, labels, (28, 28)), answers
