"""The part of a run that takes time: fitting, evaluation, result files, figures, tracking."""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.evaluation.scores import Evaluation
from semicrowd.files import RunDirectory
from semicrowd.run.method import Fit, Method
from semicrowd.run.results import write_results
from semicrowd.tracking import RunTracker
from semicrowd.tracking.content import run_name

#: Order of metrics.json; what is not known of a run (no labels, no annotators) is left out.
_SPLITS = ("train", "test", "annotated", "final")
METRICS = (
    *(f"{split}/{name}" for split in _SPLITS for name in ("acc", "nmi", "ami", "ami_max", "ari")),
    "clusters/used",
    "clusters/effective",
    "elbo/train",
    "workers/sensitivity_mae",
    "workers/specificity_mae",
    "workers/sensitivity_rank",
    "workers/specificity_rank",
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
    method: Method
    tracker: RunTracker

    def run(self, resume_from: Path | None) -> dict[str, float | int]:
        """Fit, from a checkpoint on if one is given, evaluate, write the results but metrics.json; return that."""
        folder = self.directory.path
        fit = self.method.fit(self.directory, self.tracker.log_epoch, resume_from)
        result = self.method.evaluate()
        scores = {**result.scores, "seconds/fit": round(fit.seconds, 3), "epochs": fit.epochs}
        metrics = {name: scores[name] for name in METRICS if name in scores}
        write_results(folder, result, self.annotations)
        if self.cfg.figures:
            self._draw(result, fit)
        self.tracker.finish(metrics, [folder / name for name in ARTIFACTS if (folder / name).exists()])
        return metrics

    def _draw(self, result: Evaluation, fit: Fit) -> None:
        """Write the figures; matplotlib is slow to import, and a sweep may do without them."""
        from semicrowd.figures import RunFigureData, run_figures

        clusters = self.method.clusters(result)
        figures = RunFigureData(
            title=run_name(self.cfg),
            features=self.data.features,
            labels=self.data.labels,
            clusters=result.found.final.cluster,
            latent_mean=result.found.latent_mean,
            samples=clusters.samples,
            weights=clusters.weights,
            image_shape=self.data.image_shape,
            workers=result.workers,
            curves=fit.curves,
            restarts=result.restart_scores,
            best=result.found.best,
            snapshots=fit.snapshots,
        )
        run_figures(figures, self.directory.path / "figures")
