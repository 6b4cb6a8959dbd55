"""One run: its fit, its scores, its files, its page."""

import inspect
import shlex
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from reproduction.commandline import PROGRAM
from reproduction.files import (
    METRICS,
    OF_A_RUN,
    check_finished,
    provenance,
    read_config,
    read_metrics,
    write_config,
    write_curves,
    write_results,
)
from semicrowd.crowd import answer_files
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UnreliableResultWarning, UserError
from semicrowd.evaluation.held_out import Gain, gain, split
from semicrowd.evaluation.scores import Evaluation, Likeliest, score
from semicrowd.evaluation.trust import reliability_warnings
from semicrowd.files import MODEL, PROVENANCE, read_object, write_json
from semicrowd.page.build import FILE, Page
from semicrowd.page.questions import QUESTIONS
from semicrowd.result import Assignment


def fit(model: Any, data: Dataset, answers: PairAnnotations | None, ckpt_path: str | None = None) -> Any:
    """The estimator, fitted to the data and the answers."""
    known = inspect.signature(model.fit).parameters
    more: dict[str, Any] = {"sequence": data.sequence} if "sequence" in known else {}
    if ckpt_path is not None:
        if "ckpt_path" not in known:
            raise UserError(f"ckpt_path={ckpt_path}: {type(model).__name__} has no checkpoints; expected null")
        more["ckpt_path"] = ckpt_path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableResultWarning)  # the run says it itself
        warnings.filterwarnings("ignore", "The dirpath has changed")  # of a checkpoint: a run has a folder of its own
        return model.fit(data.features if data.columns is None else data, answers, **more)


def assigned(model: Any, features: np.ndarray, answers: PairAnnotations | None = None) -> Assignment:
    """Clusters of new items [N, D], by their features and by the answers about them, if there are any."""
    more = {} if answers is None else {"pairs": answers}
    if hasattr(model, "predict_proba"):
        return Assignment.of(model.predict_proba(features, **more), model.components_)
    return Assignment.hard(model.predict(features, **more))


def inputs(cfg: DictConfig) -> tuple[Dataset, PairAnnotations | None]:
    """Data and answers of a configuration; gaps in a table are filled for a method that needs all numbers."""
    if cfg.data is None or cfg.annotations is None or cfg.model is None:
        raise UserError("data, annotations, model: every run needs a choice of each; --help lists them")
    data = instantiate(cfg.data, _convert_="all")
    answers = instantiate(cfg.annotations, data, _convert_="all")
    kind: Any = get_class(cfg.model._target_)
    if data.missing and not kind.takes_missing:
        data = data.with_gaps_filled()
    if answers is None and kind.requires_answers:
        raise UserError(f"annotations=none: {kind.__name__} needs answers; expected another choice of annotations")
    return data, answers


@dataclass
class Run:
    """A run in its folder.

    Attributes
    ----------
    origin : content of provenance.json
    choices : data, annotations, model, … → name of the file in conf/
    """

    cfg: DictConfig
    folder: Path
    data: Dataset
    answers: PairAnnotations | None
    origin: dict[str, Any]
    choices: dict[str, str]
    model: Any = None
    warnings: Sequence[str] = ()
    result: Evaluation | None = None
    _seconds: float = field(default=0.0)

    @classmethod
    def begin(cls, cfg: DictConfig, data: Dataset, answers: PairAnnotations | None) -> Self:
        """Write what is known before the fit."""
        hydra = HydraConfig.get()
        folder = Path(hydra.runtime.output_dir)
        overrides = list(hydra.overrides.task)
        choices = {name: one for name, one in hydra.runtime.choices.items() if not name.startswith("hydra/")}
        if (folder / PROVENANCE).exists():  # of an earlier run, whose other files say nothing about this one
            for path in map(folder.joinpath, OF_A_RUN):
                if cfg.ckpt_path is None or path.resolve() != Path(cfg.ckpt_path).resolve():
                    path.unlink(missing_ok=True)
        place = [one for one in hydra.overrides.hydra if one.startswith("hydra.run.dir=")]
        origin = provenance(shlex.join([*PROGRAM.split(), *overrides, *place]), overrides, data, answers)
        write_json(folder / PROVENANCE, origin)
        if answers is not None:
            answer_files.write(answers, folder / "annotations.csv")
        run = cls(cfg, folder, data, answers, origin, choices)
        write_config(folder, run.content, {}, choices)
        return run

    @property
    def content(self) -> dict[str, Any]:
        """The resolved configuration, as plain values."""
        found: Any = OmegaConf.to_container(self.cfg, resolve=True)
        if "trainer" in found["model"]:
            found["model"]["trainer"] = "${trainer}"  # once is enough
        return found

    @property
    def name(self) -> str:
        """Such as ``mnist bayes crowd seed 0``, or ``wines.csv cotrain answers.csv n_clusters=4 seed 0``."""
        return run_name(self.content, self.choices, self.origin["overrides"])

    def fit(self, model: Any) -> None:
        """Fit the estimator, and keep the time."""
        start = time.perf_counter()
        self.model = fit(model, self.data, self.answers, self.cfg.ckpt_path)
        self._seconds = time.perf_counter() - start

    def finish(self) -> dict[str, float | int]:
        """Evaluate the fit and write the results; the metrics."""
        model, data, answers = self.model, self.data, self.answers
        model.number_clusters()
        unseen, test, likelihood = data.test_features, None, {}
        if unseen is not None and hasattr(model, "predict"):
            test = assigned(model, unseen)
        if unseen is not None and hasattr(model, "score"):
            likelihood = {"test/log_likelihood": model.score(unseen)}
        self.result = result = score(model.result_, data, answers, test)
        held_out = self._held_out()
        self.warnings = reliability_warnings(result.found, answers, held_out, data.gaps)
        for line in self.warnings:
            print(f"warning: {line}", file=sys.stderr)
        if answers is None and self.choices["model"] == "cotrain":
            print("note: without answers the clusters and their number follow from the features alone, and are for a "
                  "first look; questions.csv has pairs to ask people about", file=sys.stderr)
        metrics = {
            **result.scores, **likelihood, **({} if held_out is None else held_out.scores("held_out_gain")),
            "seconds/fit": round(self._seconds, 3), "epochs": len(model.history_) if "epochs" in model.params_ else 1,
            "warnings/count": len(self.warnings),
        }  # fmt: skip
        likeliest = None
        if data.image_shape is not None:
            images = (result.found.final, data.features) if test is None or unseen is None else (test, unseen)
            likeliest = Likeliest.of(*images)
        write_config(self.folder, self.content, model.params_, self.choices)
        write_curves(self.folder, model.history_)
        write_results(self.folder, result, answers, self.warnings, likeliest, data.names)
        model.save(self.folder / MODEL)
        if self.cfg.figures:
            self._draw(result, likeliest)
        write_page(self.folder, self.name, data, answers, model, result, metrics, self.warnings, self.content)
        return metrics

    def end(self, metrics: Mapping[str, float]) -> None:
        """Write metrics.json, which says that the run has finished, and print the result."""
        write_json(self.folder / METRICS, dict(metrics))
        if HydraConfig.get().mode != RunMode.RUN:  # a sweep prints a table
            return
        number = int(metrics["clusters/occupied"])
        trust = "; read the warnings before you trust this result" if self.warnings else ""
        print(f"{number} cluster{'s' * (number != 1)}{trust}")
        shown = {name: value for name, value in metrics.items() if name not in ("epochs", "restart/best")}
        width = max(map(len, shown))
        for name, value in shown.items():
            print(f"{name:{width}}  {value:.4f}" if isinstance(value, float) else f"{name:{width}}  {value}")
        print(f"files: {self.folder}\npage: {self.folder / FILE}")

    def _held_out(self) -> Gain | None:
        """With ``held_out=true``: the gain of a second fit, on the answers that were held out from it."""
        if not self.cfg.held_out:
            return None
        parts = None if self.answers is None else split(self.answers)
        if parts is None:
            why = "there are no answers" if self.answers is None else "too few answers to hold out a tenth of them"
            print(f"note: held_out=true: {why}; answers/held_out_gain is left out", file=sys.stderr)
            return None
        training, asked = parts
        changes = {"trainer": None} if "trainer" in self.cfg.model else {}  # its files are the first fit's
        again = fit(instantiate(self.cfg.model, _convert_="all", **changes), self.data, training)
        return gain(again.result_.final.memberships_or_clusters, training, asked)

    def _draw(self, result: Evaluation, likeliest: Likeliest | None) -> None:
        """Write the figures. matplotlib is imported here, since this is slow and not every run draws figures."""
        from semicrowd.figures.run import SAMPLES_IMAGE, SAMPLES_POINTS, run_figures

        snapshots = None
        if (self.folder / "snapshots.npz").exists():  # of trainer=snapshots; Lightning takes long to import
            from semicrowd.training.callbacks import read_snapshots

            snapshots = read_snapshots(self.folder)
        generated = None
        if hasattr(self.model, "generate"):
            number = SAMPLES_POINTS if self.data.image_shape is None else SAMPLES_IMAGE
            generated = self.model.generate(number, self.cfg.seed), self.model.cluster_weights_
        run_figures(self.folder / "figures", self.name, self.data, result, self.model.history_, generated,
                    snapshots, likeliest)  # fmt: skip


def run_name(content: Mapping[str, Any], choices: Mapping[str, str], overrides: Sequence[str]) -> str:
    """What figures, pages and MLflow call a run: data, model, answers, what of the model was given, seed."""
    called = []
    for group in ("data", "model", "annotations"):
        settings = content[group]
        paths = settings.get("path")
        files = [paths] if isinstance(paths, str) else paths or []
        called.append(" + ".join(Path(one).name for one in files) or str(settings.get("which") or choices[group]))
    own = [setting for group, _, setting in (one.lstrip("+").partition(".") for one in overrides)
           if group in ("model", "annotations") and setting.partition("=")[0] not in ("path", "columns")]  # fmt: skip
    return " ".join([*called, *own, f"seed {content['seed']}"])


def write_page(
    folder: Path, title: str, data: Dataset, answers: PairAnnotations | None, model: Any, result: Evaluation,
    metrics: Mapping[str, float], warnings: Sequence[str], content: Mapping[str, Any],
) -> Path:  # fmt: skip
    """Write report.html and questions.csv; provenance.json must be in the folder already."""
    origin = read_object(folder / PROVENANCE)
    page = Page(
        title, data, answers, result, metrics, warnings, type(model).__name__, model.params_, content["seed"],
        source=str(content["data"].get("path") or ""), number=content["questions"],
        command=str(origin.get("command") or ""), started=str(origin.get("started") or "")[:16].replace("T", " "),
    )  # fmt: skip
    page.write(folder / FILE, folder / QUESTIONS, folder / "figures")
    return folder / FILE


def rebuild(folder: Path) -> Path:
    """Write the page of a finished run again, from its folder and its data; the page's path."""
    check_finished(folder)
    from semicrowd.estimators.persistence import load

    content = read_config(folder)
    data, answers = inputs(OmegaConf.create(content))
    origin = read_object(folder / PROVENANCE)
    for name, digest in dict(data.hashes).items():
        if origin.get("data_hashes", {}).get(name, digest) != digest:
            raise UserError(f"{folder}: {name} has changed since the run; its page needs the data of the run")
    model = load(folder / MODEL)
    result = score(model.result_, data, answers)
    warnings = read_object(folder / "warnings.json").get("warnings") or []
    title = run_name(content, content["choices"], origin.get("overrides") or [])
    return write_page(folder, title, data, answers, model, result, read_metrics(folder), warnings, content)
