"""``python src/predict.py``: clusters of new items from a finished run."""

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.errors import UserError
from semicrowd.files import read_status

_EPILOG = """\
examples:
  python src/predict.py runs/default new_items.csv
  python src/predict.py runs/default new_items.npy --annotations answers.csv --output clusters.csv

The columns of the output are item (row of the features file, from 0), cluster (the numbers of the run's own
assignments.csv), probability, annotated (1: the item's answers were used). The same input gives the same output.
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``src/predict.py``."""
    arguments = argparse.ArgumentParser(
        prog="python src/predict.py", description="Assign new items to the clusters of a finished run.",
        epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    arguments.add_argument("run", type=Path, help="directory of a finished run of src/train.py")
    arguments.add_argument(
        "features", type=Path, help="new items as .npy [N, D] or .csv with a header, prepared as the run's data were"
    )
    arguments.add_argument(
        "--annotations", type=Path, metavar="CSV",
        help="answers on the new items: i,j,worker,label; workers by the names they have in the run's workers.csv",
    )  # fmt: skip
    arguments.add_argument("--output", type=Path, metavar="CSV", help="file to write [standard output]")
    return arguments


def main(arguments: Sequence[str]) -> int:
    """Run ``src/predict.py`` with the arguments after its name; the exit code."""
    given = parser().parse_args(arguments)
    try:
        _predict(given.run, given.features, given.annotations, given.output)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _predict(run: Path, features_file: Path, annotations_file: Path | None, output: Path | None) -> None:
    origin = _read_origin(run)
    features = _read_features(features_file, origin)

    # Imported here: torch and Lightning take seconds, and most mistakes have been found by now.
    import torch

    from semicrowd.crowd import csv_file
    from semicrowd.evaluation.scores import Assignment
    from semicrowd.run.results import ASSIGNMENT_HEADER, assignment_rows, write_assignments

    answers = None
    if annotations_file is not None:
        answers = _as_trained(csv_file.read(annotations_file, len(features)), run, annotations_file)
    model, best = _load(run, origin)
    items = torch.from_numpy(features)
    with torch.no_grad():
        assignment = Assignment.of(model.posterior(items), best)
        annotated = np.zeros(len(features), bool)
        if answers is not None:
            with_answers = Assignment.of(model.annotated_posterior(items, answers), best)
            assignment = assignment.replace(answers.annotated, with_answers)
            annotated[answers.annotated] = True
    if output is not None:
        write_assignments(output, assignment, annotated)
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(ASSIGNMENT_HEADER)
    writer.writerows(assignment_rows(assignment, annotated))


def _read_origin(run: Path) -> dict[str, Any]:
    if read_status(run).get("status") != "finished":
        raise UserError(f"{run}: not the directory of a finished run (no status.json that says so)")
    path = run / "provenance.json"
    try:
        origin = json.loads(path.read_text())
        return {key: origin[key] for key in ("data", "num_items", "num_features", "image_shape", "annotations")}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path}: cannot be read") from error


def _read_features(path: Path, origin: dict[str, Any]) -> np.ndarray:
    """Items [N, D] float32, the number of features as in training."""
    from semicrowd.data import load_dataset

    features = load_dataset("table", Path(), path=str(path)).features
    if features.shape[1] != origin["num_features"]:
        raise UserError(f"{path}: {features.shape[1]} features an item, the run was trained with "
                        f"{origin['num_features']}")
    return features


def _load(run: Path, origin: dict[str, Any]) -> tuple[Any, int]:
    """The trained model and its best restart. The training data are not needed: zeros stand in for them."""
    from omegaconf import OmegaConf

    from semicrowd.crowd import csv_file
    from semicrowd.data import Dataset
    from semicrowd.models import MODELS, build_model
    from semicrowd.run.execute import read_metrics
    from semicrowd.run.settings import read_config
    from semicrowd.fitting.training import read_checkpoint

    cfg = OmegaConf.create(read_config(run / "config.yaml"))
    if cfg.model.name not in MODELS:
        raise UserError(f"{run}: a run of model={cfg.model.name}, which keeps nothing to predict with; expected a run "
                        f"of {' or '.join(MODELS)}")
    shape = (origin["num_items"], origin["num_features"])
    data = Dataset(
        name=origin["data"], features=np.zeros(shape, np.float32), labels=None, test_features=None, test_labels=None,
        image_shape=None if origin["image_shape"] is None else tuple(origin["image_shape"]), hashes={},
    )  # fmt: skip
    annotations = None
    if origin["annotations"] is not None:
        annotations = csv_file.read(run / "annotations.csv", origin["num_items"])
    model = build_model(cfg, data, annotations, cfg.seed, cfg.restarts)
    model.load_state_dict(read_checkpoint(run / "checkpoints" / "last.ckpt", model)["state_dict"])
    return model.eval(), int(read_metrics(run)["restart/best"])


def _as_trained(answers: Any, run: Path, path: Path) -> Any:
    """The answers with the worker numbers of the run.

    Raises
    ------
    UserError
        For a worker whose reliability the run has not learned.
    """
    workers = run / "workers.csv"
    if not workers.exists():
        raise UserError(f"{path}: the run {run} was trained without answers and knows no workers")
    with workers.open(newline="") as file:
        names = tuple(row["annotator"] for row in csv.DictReader(file))
    number = {name: index for index, name in enumerate(names)}
    for name in answers.worker_names:
        if name not in number:
            raise UserError(f"{path}: worker {name} is not among the {len(names)} of {workers}")
    trained = np.array([number[name] for name in answers.worker_names])
    return replace(
        answers, worker=trained[answers.worker], worker_names=names, true_sensitivity=None, true_specificity=None
    )
