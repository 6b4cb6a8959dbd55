"""What a run does after its fit: evaluation, a second fit if asked for, result files, figures, tracking."""

import shutil
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.evaluation.held_out import Gain, gain, split
from semicrowd.evaluation.scores import Evaluation, Likeliest, score
from semicrowd.evaluation.trust import reliability_warnings
from semicrowd.files import MODEL, RUN_FILES
from semicrowd.fitting.monitor import Monitor
from semicrowd.run.estimator import assigned, fitted
from semicrowd.run.files.results import write_results
from semicrowd.run.page import write_page_of_run
from semicrowd.run.settings import Resolved
from semicrowd.tracking import Tracker
from semicrowd.tracking.content import run_name

_SPLITS = ("train", "test", "annotated", "final")
_SCORES = ("acc", "nmi", "ami", "ami_max", "ari", "f1", "bri", "purity", "homogeneity", "completeness")
#: Metrics in the order of metrics.json; those that a run does not have (no labels, no annotators) are left out.
METRICS = (
    *(f"{split}/{name}" for split in _SPLITS for name in _SCORES),
    "test/log_likelihood",
    *(f"{split}/calibration_error" for split in ("annotated", "final")),
    "clusters/occupied",
    "clusters/used",
    "clusters/effective",
    "elbo/train",
    "log_joint/train",
    *(
        f"workers/{rate}{name}_{error}"
        for rate, error, name in product(("", "observed_"), ("mae", "rank"), ("sensitivity", "specificity"))
    ),
    *(f"workers/{name}_coverage" for name in ("sensitivity", "specificity")),
    *(f"answers/{name}" for name in ("held_out_gain", "held_out_gain_error")),
    *(f"answers/{name}" for name in ("cross_validated_gain", "cross_validated_gain_error")),
    "seconds/fit",
    "epochs",
    "restart/best",
    "restart/oracle_acc",
    "warnings/count",
)


@dataclass(frozen=True)
class Session:
    """The parts of one run.

    Attributes
    ----------
    estimator : fitted
    monitor : that of its fit
    """

    settings: Resolved
    run_dir: Path
    data: Dataset
    answers: PairAnnotations | None
    estimator: CrowdClusterer
    monitor: Monitor
    tracker: Tracker

    def finish(self) -> dict[str, float | int]:
        """Evaluate the fit and write the results; returns the metrics. The caller writes metrics.json."""
        seconds = self.monitor.seconds
        self.estimator.number_clusters()
        unseen, test, likelihood = self.data.test_features, None, {}
        if unseen is not None and self.estimator.takes_new_items:
            test = assigned(self.estimator, unseen)
        if unseen is not None and hasattr(self.estimator, "score"):
            likelihood = {"test/log_likelihood": self.estimator.score(unseen)}
        result = score(self.estimator.result_, self.data, self.answers, test)
        epochs = int(self.settings.values.get("epochs", 1))  # 1 for a method without epochs
        held_out = self._held_out()
        warnings = reliability_warnings(result.found, self.answers, held_out, self.data.gaps)
        for line in warnings:
            print(f"warning: {line}", file=sys.stderr)
        if self.answers is None and self.settings.choices["model"] == "cotrain":
            print("note: without answers the clusters and their number follow from the features alone, and are for a "
                  "first look; questions.csv has pairs to ask people about", file=sys.stderr)
        scores = {
            **result.scores, **likelihood, **({} if held_out is None else held_out.scores("held_out_gain")),
            "seconds/fit": round(seconds, 3), "epochs": epochs, "warnings/count": len(warnings),
        }  # fmt: skip
        more = [name for name in scores if name.startswith(("samples/", "chains/"))]
        metrics = {name: scores[name] for name in (*METRICS, *more) if name in scores}
        likeliest = self._likeliest(result)
        write_results(self.run_dir, result, self.answers, warnings, likeliest, self.data.names)
        self.estimator.save(self.run_dir / MODEL)
        if self.settings.values["figures"]:
            self._draw(result, likeliest)
        else:  # those of a shorter fit that this one has gone on from
            shutil.rmtree(self.run_dir / "figures", ignore_errors=True)
        write_page_of_run(
            self.run_dir, self.data, self.answers, result, metrics, warnings, self.settings.content,
            self.settings.given,
        )  # fmt: skip
        kept = [self.run_dir / name for name, tracked in RUN_FILES.items() if tracked]
        people = result.workers
        weights = {} if people is None else dict(zip(people["annotator"].astype(str), people["weight"], strict=True))
        self.tracker.finish(metrics, [path for path in kept if path.exists()], warnings, weights)
        return metrics

    def _likeliest(self, result: Evaluation) -> Likeliest | None:
        """The likeliest images of each cluster, of the test items if they have clusters, else of the training items."""
        if self.data.image_shape is None:
            return None
        if result.test is not None and self.data.test_features is not None:
            return Likeliest.of(result.test, self.data.test_features)
        return Likeliest.of(result.found.final, self.data.features)

    def _held_out(self) -> Gain | None:
        """With ``held_out=true``: the gain of a second fit, on the answers that were held out from it."""
        if not self.settings.values["held_out"]:
            return None
        parts = None if self.answers is None else split(self.answers)
        if parts is None:
            why = "there are no answers" if self.answers is None else "too few answers to hold out a tenth of them"
            print(f"note: held_out=true: {why}; answers/held_out_gain is left out", file=sys.stderr)
            return None
        training, held_out = parts
        again = fitted(self.settings, self.data, training, Monitor())
        return gain(again.result_.final.memberships_or_clusters, training, held_out)

    def _draw(self, result: Evaluation, likeliest: Likeliest | None) -> None:
        """Write the figures. matplotlib is imported here, since this is slow and not every run draws figures."""
        from semicrowd.figures.run import SAMPLES_IMAGE, SAMPLES_POINTS, run_figures

        generated = None
        if hasattr(self.estimator, "generate"):
            number = SAMPLES_POINTS if self.data.image_shape is None else SAMPLES_IMAGE
            samples = self.estimator.generate(number, self.settings.values["seed"])
            generated = samples, self.estimator.cluster_weights_
        title = run_name(self.settings.content, self.settings.given)
        folder = self.run_dir / "figures"
        monitor = self.monitor
        run_figures(folder, title, self.data, result, monitor.rows, generated, monitor.kept, likeliest)
