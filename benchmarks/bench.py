"""What the benchmarks of MNIST work on: images, answers, and models after a short start."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from sklearn.utils import Bunch
from torch import Tensor

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, answers
from semicrowd.data.mnist import load_mnist
from semicrowd.methods.protocols import Facts
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import build_views
from semicrowd.random import stream
from semicrowd.starts.start import start
from semicrowd.training.module import ClusteringModule
from steps import Effort, parameters

#: The paper's batches: 128 images, and those of so many pairs drawn one by one (App. B).
PAPER_BATCHES = {"sampler": "pairs"}
#: What the end of a run does is no part of a step; the start is as short as it can be.
_SHORT = {
    "batch_size": 128, "augmentation": "none", "final_refits": 0, "init_epochs": 1, "n_candidates": 1,
    "teach_epochs": 1,
}  # fmt: skip

#: Images of MNIST that a model learns from.
_IMAGES = 60_000


class Bench:
    """MNIST with the crowd's answers and its models.

    Parameters
    ----------
    quick : random images and few steps instead: shows that everything runs; the figures mean nothing
    """

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self._starts: dict[tuple[str, int, bool], dict[str, Tensor]] = {}

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
        data = load_mnist()
        return data, answers.crowd(data)

    @property
    def num_items(self) -> int:
        """N."""
        return self.inputs[0].num_items

    def params(self, name: str, crowd: bool, given: Mapping[str, Any]) -> Bunch:
        """The parameters of ``src/train.py data=mnist model=<name>`` but for those given."""
        data, answers = self.inputs
        facts = Facts.of(data.features, answers if crowd else None, data.image_shape)
        # Of all of MNIST, however few random images stand for it.
        return parameters(name, given, replace(facts, num_items=_IMAGES))

    def untrained(self, name: str, params: Bunch, crowd: bool, num_items: int | None = None) -> ClusteringModule:
        """The model of all images, or of the first ``num_items``."""
        data, answers = self.inputs
        if num_items is not None:
            data = replace(data, features=data.features[:num_items], labels=None)
        annotators = answers.num_annotators if crowd else 0
        model = model_class(name)(
            params, data.num_features, annotators, restarts=params.restarts, image_shape=data.image_shape
        )
        views = build_views(params.augmentation, data.image_shape)
        items = torch.from_numpy(data.features)
        training = TrainingData(items, answers if crowd else None, views, 0, params.batch_size)
        return ClusteringModule(model, training, begin=False)

    def model(
        self, name: str, given: Mapping[str, Any] | None = None, crowd: bool = True, num_items: int | None = None
    ) -> ClusteringModule:
        """A model after a short start.

        All restarts start alike, as do all models of one kind, K and answers, whatever the number of images.
        """
        chosen = {**_SHORT, **(given or {})}
        params = self.params(name, crowd, chosen)
        kind = (name, params.n_clusters, crowd)
        if kind not in self._starts:
            first = self.untrained(name, self.params(name, crowd, chosen | {"restarts": 1}), crowd)
            start(first.model, first.data, lambda _: None)
            self._starts[kind] = first.model.state_dict()
        module, begun = self.untrained(name, params, crowd, num_items), self._starts[kind]
        expected = module.model.state_dict()
        module.model.load_state_dict({name: begun[name].expand_as(value) for name, value in expected.items()})
        return module


def _random_images() -> tuple[Dataset, PairAnnotations]:
    """1024 images of noise, and simulated answers about 200 of them."""
    rng = stream(0, "data")
    images, labels = rng.random((1024, 28 * 28), dtype=np.float32), rng.integers(10, size=1024)
    answers = simulate.tasks(
        labels, stream(0, "annotations"), num_annotators=8, num_tasks=16, task_size=36, num_annotated=200,
        sensitivity=0.98, specificity=0.99,
    )  # fmt: skip
    return Dataset("mnist", images, labels, images, labels, (28, 28)), answers
