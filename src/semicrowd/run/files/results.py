"""The files of a finished run, from its evaluation."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.evaluation.scores import Evaluation
from semicrowd.files import write_arrays, write_csv
from semicrowd.fitting.result import Assignment

#: Largest N for which every restart's clusters are kept.
_MOST_ITEMS = 10_000


def write_results(folder: Path, result: Evaluation, annotations: PairAnnotations | None) -> None:
    """Write assignments, workers and restarts; metrics.json is the caller's, who writes it last."""
    final, test = result.found.final, result.test
    annotated = np.zeros(len(final.cluster), bool)
    if annotations is not None:
        annotated[annotations.annotated] = True
    write_assignments(folder / "assignments.csv", final, annotated)
    if test is not None:
        write_assignments(folder / "test_assignments.csv", test, np.zeros(len(test.cluster), bool))
    if result.workers is not None:
        _write_workers(folder / "workers.csv", result.workers)
    if result.restart_scores:
        _write_restarts(folder, result)


def assignment_rows(assignment: Assignment, annotated: np.ndarray) -> list[tuple[Any, ...]]:
    """Rows item, cluster, probability, annotated (1: with the item's answers, 0: from its features alone).

    The probability of a method that has none is an empty cell.
    """
    return [
        (item, int(cluster), "" if np.isnan(probability) else f"{probability:.6f}", int(flag))
        for item, (cluster, probability, flag) in enumerate(
            zip(assignment.cluster, assignment.probability, annotated, strict=True)
        )
    ]


ASSIGNMENT_HEADER = ("item", "cluster", "probability", "annotated")


def write_assignments(path: Path, assignment: Assignment, annotated: np.ndarray) -> None:
    """Write assignments.csv."""
    write_csv(path, ASSIGNMENT_HEADER, assignment_rows(assignment, annotated))


def _write_workers(path: Path, workers: pd.DataFrame) -> None:
    rows = workers.itertuples(index=False)
    write_csv(path, list(workers), [(name, pairs, *(round(v, 6) for v in values)) for name, pairs, *values in rows])


def _write_restarts(folder: Path, result: Evaluation) -> None:
    columns = [column.tolist() for column in result.restart_scores.values()]
    rows = [(restart, *values) for restart, values in enumerate(zip(*columns, strict=True))]
    write_csv(folder / "restarts.csv", ("restart", *result.restart_scores), rows)
    assert result.found.restarts is not None
    restarts, items = result.found.restarts.clusters.shape
    if restarts > 1 and items <= _MOST_ITEMS:
        clusters = result.found.restarts.clusters.astype(np.int16)
        write_arrays(folder / "restart_assignments.npz", {"clusters": clusters})
