"""A model that Lightning trains, as a run's method."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.models import build_model
from semicrowd.random import torch_stream
from semicrowd.evaluation.scores import Evaluation, evaluate
from semicrowd.files import RunDirectory
from semicrowd.run.method import ClusterPicture, Fit, Method
from semicrowd.fitting.snapshot_recorder import SnapshotRecorder, wanted_epochs
from semicrowd.fitting.training import EpochRecorder, check_trainer, fit, read_checkpoint


class TrainedMethod(Method):
    """SCDC or BayesSCDC: epochs, a checkpoint after each, curves, generated samples."""

    def __init__(self, cfg: DictConfig, data: Dataset, annotations: PairAnnotations | None) -> None:
        self.cfg, self.data, self.annotations = cfg, data, annotations
        self.model = build_model(cfg, data, annotations, cfg.seed, cfg.restarts)
        self.snapshot_epochs = wanted_epochs(cfg, data)
        check_trainer(cfg)

    def resume_point(self, directory: RunDirectory) -> Path | None:
        """The last finished epoch."""
        if not directory.checkpoint.exists():
            return None
        read_checkpoint(directory.checkpoint, self.model)
        return directory.checkpoint

    def fit(
        self, directory: RunDirectory, log_epoch: Callable[[int, dict[str, float]], Any], resume_from: Path | None
    ) -> Fit:
        """Warm start and training."""
        recorder = EpochRecorder(directory.checkpoint, directory.path / "curves.csv", log_epoch)
        snapshots = SnapshotRecorder(self.snapshot_epochs, directory.path, self.cfg.seed)
        fit(self.model, self.cfg, recorder, resume_from, [snapshots] if self.snapshot_epochs else [])
        kept = snapshots.content() if self.snapshot_epochs else None
        return Fit(recorder.seconds, int(self.cfg.epochs), recorder.rows, kept)

    def evaluate(self) -> Evaluation:
        """The fixed model on every item."""
        return evaluate(self.model, self.data, self.annotations)

    def clusters(self, result: Evaluation) -> ClusterPicture:
        """Mixing proportions, and samples drawn from every cluster."""
        from semicrowd.figures.run import SAMPLES_IMAGE, SAMPLES_POINTS

        number = SAMPLES_POINTS if self.data.image_shape is None else SAMPLES_IMAGE
        samples = self.model.sample(number, torch_stream(self.cfg.seed, "evaluation", 1))
        weights = self.model.cluster_weights()[result.found.best]
        return ClusterPicture(weights.numpy(), samples[result.found.best].numpy())
