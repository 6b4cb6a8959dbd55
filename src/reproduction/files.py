"""The files of a run: where it comes from, and what its fit has found."""

import hashlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.evaluation.scores import Evaluation, Likeliest
from semicrowd.files import MODEL, protected, read_object, write_arrays, write_csv, write_json, write_text
from semicrowd.result import Assignment

CONFIG = "config.yaml"
METRICS = "metrics.json"
ASSIGNMENTS = "assignments.csv"
#: What the next run into a folder removes; config.yaml, provenance.json and questions.csv it writes in any case.
OF_A_RUN = (
    METRICS, ASSIGNMENTS, MODEL, "report.html", "annotations.csv", "candidates.csv", "chains.csv", "curves.csv",
    "likeliest.npz", "partitions.npz", "restart_assignments.npz", "restarts.csv", "snapshots.npz",
    "test_assignments.csv", "warnings.json", "workers.csv", "checkpoints/last.ckpt",
    "figures/clusters.png", "figures/curves.png", "figures/latent.png", "figures/likeliest.png", "figures/restarts.png",
    "figures/samples.png", "figures/training_samples.png", "figures/workers.png",
)  # fmt: skip
_PACKAGES = ("semicrowd", "torch", "pytorch-lightning", "numpy", "scipy", "scikit-learn", "hydra-core")
#: Largest N for which every restart's clusters are kept.
_MOST_ITEMS = 10_000
#: Digits of a probability.
_DIGITS = 6


def check_finished(run: Path) -> None:
    """Refuse a folder without a finished run."""
    if not run.exists():
        raise UserError(f"{run}: no such folder")
    if not (run / METRICS).is_file():
        raise UserError(f"{run}: not the folder of a finished run (no {METRICS})")


def read_config(run: Path) -> dict[str, Any]:
    """A run's config.yaml."""
    path = run / CONFIG
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: not the configuration of a run")
    return content


def read_metrics(run: Path) -> dict[str, float | int]:
    """A finished run's metrics.json."""
    metrics = read_object(run / METRICS)
    if not metrics:
        raise UserError(f"{run / METRICS}: cannot be read; is {run} a finished run?")
    return metrics


def provenance(
    command: str, overrides: Sequence[str], data: Dataset, answers: PairAnnotations | None
) -> dict[str, Any]:
    """Content of provenance.json: everything but the configuration that a run's result depends on."""
    return {
        **revision(),
        "command": command,
        "overrides": list(overrides),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": data.name,
        "data_hashes": dict(data.hashes),
        "data_notes": list(data.notes),
        "num_items": data.num_items,
        "num_features": data.num_features,
        "image_shape": None if data.image_shape is None else list(data.image_shape),
        "annotations": None if answers is None else {
            "source": answers.source,
            "simulated": answers.simulated,
            "num_pairs": answers.num_pairs,
            "num_annotators": answers.num_annotators,
            "num_annotated": len(answers.annotated),
            "notes": list(answers.notes),
            "sha256": _digest(answers),
        },
        "versions": {"python": sys.version.split()[0], **{name: _version(name) for name in _PACKAGES}},
    }


def _digest(answers: PairAnnotations) -> str:
    """sha256 of the answers: items, annotators by name, labels, tasks."""
    found = hashlib.sha256()
    for numbers in (answers.i, answers.j, answers.worker, answers.label, answers.task):
        found.update(b"none" if numbers is None else np.ascontiguousarray(numbers, np.int64).tobytes())
    found.update("\0".join(answers.worker_names).encode())
    return found.hexdigest()


def revision() -> dict[str, Any]:
    """Commit of the code, and whether there are uncommitted changes; None for an installed package."""
    status = _git("status", "--porcelain", "--", ":/src", ":/conf")
    return {"git_commit": _git("rev-parse", "HEAD"), "git_dirty": None if status is None else bool(status)}


def _git(*arguments: str) -> str | None:
    """Output of a git command; None without git, or if no repository has this file (a .venv may be inside of one)."""

    def run(*given: str) -> str:
        return subprocess.run(
            ["git", *given], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=True
        ).stdout

    try:
        run("ls-files", "--error-unmatch", Path(__file__).name)
        return run(*arguments).strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def write_config(folder: Path, cfg: Mapping[str, Any], params: Mapping[str, Any], choices: Mapping[str, str]) -> None:
    """Write config.yaml: the resolved configuration; ``params``, the values that the fit has used; the choices."""
    content = {**cfg, "params": {name: _plain(value) for name, value in params.items()}, "choices": dict(choices)}
    write_text(folder / CONFIG, yaml.dump(content, Dumper=_NoAliases, sort_keys=False, allow_unicode=True))


class _NoAliases(yaml.SafeDumper):
    """YAML that repeats a value, instead of an alias (*id001) for one that it has written before."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        """Of yaml."""
        return True


def _plain(value: Any) -> Any:
    """A parameter's value as YAML has it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def write_curves(folder: Path, history: Sequence[Mapping[str, float]]) -> None:
    """Write curves.csv, a row for each iteration; no file for a method without iterations."""
    if history:
        names = list(dict.fromkeys(name for row in history for name in row))
        write_csv(folder / "curves.csv", names, [[row.get(name) for name in names] for row in history])


def write_results(
    folder: Path,
    result: Evaluation,
    answers: PairAnnotations | None,
    warnings: Sequence[str] = (),
    likeliest: Likeliest | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """Write what the fit has found.

    Parameters
    ----------
    warnings : reasons not to trust the result, one line each
    likeliest : the images with the highest cluster probabilities; None without images
    names : names of the items; None if they have no names
    """
    final, test = result.found.final, result.test
    annotated = np.zeros(len(final.cluster), bool)
    if answers is not None:
        annotated[answers.annotated] = True
    write_text(folder / ASSIGNMENTS, assignment_csv(final, annotated, names))
    if test is not None:
        write_text(folder / "test_assignments.csv", assignment_csv(test, np.zeros(len(test.cluster), bool)))
    if likeliest is not None:
        likeliest.write(folder)
    if result.workers is not None:
        rows = result.workers.itertuples(index=False)
        rounded = [(name, pairs, *(round(value, 6) for value in values)) for name, pairs, *values in rows]
        write_csv(folder / "workers.csv", list(result.workers), rounded)
    if result.restart_scores:
        _write_restarts(folder, result)
    if (samples := result.found.samples) is not None:
        chains = samples.chains.to_csv(index=False, float_format="%.9g", lineterminator="\n")
        write_text(folder / "chains.csv", chains)
        names_of = ("partitions", "chain", "sweep", "kept")
        write_arrays(folder / "partitions.npz", {name: getattr(samples, name) for name in names_of})
    if (verdict := result.found.verdict) is not None:
        # The column winner is 1 for the selected candidate, else 0.
        marked = verdict.table.assign(winner=(verdict.table["candidate"] == verdict.winner).astype(int))
        table = marked.to_csv(index=False, float_format=f"%.{_DIGITS}f", lineterminator="\n")
        write_text(folder / "candidates.csv", table)
    write_json(folder / "warnings.json", {"warnings": list(warnings)})


def assignment_csv(assignment: Assignment, annotated: np.ndarray, names: Sequence[str] | None = None) -> str:
    """Content of assignments.csv: a row for each item.

    The columns are item, cluster, probability, second_cluster and second_probability (the second most probable cluster
    of the item), and annotated (1 if the item's answers were used, else 0). The column ``item`` has the items' names,
    and a last column ``row`` their rows, counted from 0. If items have no names, ``item`` has the rows. Probabilities
    and ``second_cluster`` are empty for methods without probabilities; ``second_cluster`` also where no other cluster
    has a probability that six digits show.
    """
    second, of_second = assignment.second()
    columns = {
        "cluster": assignment.cluster, "probability": assignment.probability,
        # Which of several improbable clusters comes first would be decided by rounding errors.
        "second_cluster": pd.Series(second).where(of_second.round(_DIGITS) > 0).astype("Int64").array,
        "second_probability": of_second, "annotated": annotated.astype(int),
    }  # fmt: skip
    rows = np.arange(len(annotated))
    table = pd.DataFrame(columns, rows)
    if names is not None:
        table = table.assign(row=rows).set_axis([protected(name) for name in names])
    return table.rename_axis("item").to_csv(float_format=f"%.{_DIGITS}f", lineterminator="\n")


def _write_restarts(folder: Path, result: Evaluation) -> None:
    columns = [column.tolist() for column in result.restart_scores.values()]
    rows = [(restart, *values) for restart, values in enumerate(zip(*columns, strict=True))]
    write_csv(folder / "restarts.csv", ("restart", *result.restart_scores), rows)
    assert result.found.restarts is not None
    restarts, items = result.found.restarts.clusters.shape
    if restarts > 1 and items <= _MOST_ITEMS:
        clusters = result.found.restarts.clusters.astype(np.int16)
        write_arrays(folder / "restart_assignments.npz", {"clusters": clusters})
