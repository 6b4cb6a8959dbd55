"""The part of a run that takes time: training, evaluation, result files, figures, tracking."""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.models import ClusteringModule
from semicrowd.random import torch_stream
from semicrowd.run.evaluate import Evaluation, evaluate
from semicrowd.run.files import RunDirectory
from semicrowd.run.results import write_results
from semicrowd.run.training import EpochRecorder, fit
from semicrowd.tracking import RunTracker
from semicrowd.tracking.content import run_name

#: Order of metrics.json; what is not known of a run (no labels, no annotators) is left out.
_SPLITS = ("train", "test", "annotated")
METRICS = (
    *(f"{split}/{name}" for split in _SPLITS for name in ("acc", "nmi", "ami", "ami_max", "ari")),
    "clusters/used",
    "clusters/effective",
    "elbo/train",
    "workers/sensitivity_mae",
    "workers/specificity_mae",
    "seconds/fit",
    "epochs",
    "restart/best",
    "restart/oracle_acc",
)
#: What the tracker keeps of a run directory.
ARTIFACTS = (
    "config.yaml",
    "provenance.json",
    "annotations.csv",
    "assignments.csv",
    "test_assignments.csv",
    "workers.csv",
    "restarts.csv",
    "curves.csv",
    "figures",
)


@dataclass(frozen=True)
class Session:
    """One run's parts, its directory held."""

    cfg: DictConfig
    directory: RunDirectory
    data: Dataset
    annotations: PairAnnotations | None
    model: ClusteringModule
    tracker: RunTracker

    def run(self, resume_from: Path | None) -> dict[str, float | int]:
        """Train, from a checkpoint on if one is given, evaluate, write the results but metrics.json; return that."""
        folder = self.directory.path
        recorder = EpochRecorder(self.directory.checkpoint, folder / "curves.csv", self.tracker.log_epoch)
        fit(self.model, self.cfg, recorder, resume_from)
        seconds = recorder.seconds
        result = evaluate(self.model, self.data, self.annotations)
        scores = {**result.scores, "seconds/fit": round(seconds, 3), "epochs": int(self.cfg.epochs)}
        metrics = {name: scores[name] for name in METRICS if name in scores}
        write_results(folder, result, self.annotations)
        if self.cfg.figures:
            self._draw(result, recorder)
        self.tracker.finish(metrics, [folder / name for name in ARTIFACTS if (folder / name).exists()])
        return metrics

    def _draw(self, result: Evaluation, recorder: EpochRecorder) -> None:
        """Write the figures; matplotlib is slow to import, and a sweep may do without them."""
        from semicrowd.figures import RunFigureData, run_figures
        from semicrowd.figures.run import SAMPLES_IMAGE, SAMPLES_POINTS

        number = SAMPLES_POINTS if self.data.image_shape is None else SAMPLES_IMAGE
        samples = self.model.sample(number, torch_stream(self.cfg.seed, "evaluation", 1))
        figures = RunFigureData(
            title=run_name(self.cfg),
            features=self.data.features,
            labels=self.data.labels,
            clusters=result.final.cluster,
            latent_mean=result.latent_mean,
            samples=samples[result.best].numpy(),
            weights=self.model.cluster_weights()[result.best].numpy(),
            image_shape=self.data.image_shape,
            workers=result.workers,
            curves=recorder.rows,
            restarts=result.restart_scores,
            best=result.best,
        )
        run_figures(figures, self.directory.path / "figures")
