"""The files of a finished run, from its evaluation."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.evaluation.likeliest import Likeliest
from semicrowd.evaluation.scores import Evaluation
from semicrowd.files import write_arrays, write_csv, write_json, write_text
from semicrowd.fitting.result import Assignment, Samples
from semicrowd.starts.portfolio import Verdict

#: Largest N for which every restart's clusters are kept.
_MOST_ITEMS = 10_000


def write_results(
    folder: Path,
    result: Evaluation,
    annotations: PairAnnotations | None,
    warnings: Sequence[str] = (),
    likeliest: Likeliest | None = None,
    names: Mapping[str, Sequence[str] | None] = MappingProxyType({}),
) -> None:
    """Write what there is of the result; metrics.json is the caller's, who writes it last.

    Parameters
    ----------
    warnings : why not to trust the result, a line each
    likeliest : of images, those that the clusters are surest of
    names : last columns of assignments.csv: ``id`` of each item, ``file`` that it was read from; None: there are none
    """
    final, test = result.found.final, result.test
    annotated = np.zeros(len(final.cluster), bool)
    if annotations is not None:
        annotated[annotations.annotated] = True
    write_text(folder / "assignments.csv", assignment_csv(final, annotated, names))
    if test is not None:
        write_text(folder / "test_assignments.csv", assignment_csv(test, np.zeros(len(test.cluster), bool)))
    if likeliest is not None:
        likeliest.write(folder)
    if result.workers is not None:
        _write_workers(folder / "workers.csv", result.workers)
    if result.restart_scores:
        _write_restarts(folder, result)
    if result.found.samples is not None:
        _write_samples(folder, result.found.samples)
    if result.found.verdict is not None:
        write_text(folder / "candidates.csv", candidates_csv(result.found.verdict))
    write_json(folder / "warnings.json", {"warnings": list(warnings)})


def assignment_csv(
    assignment: Assignment, annotated: np.ndarray, names: Mapping[str, Sequence[str] | None] = MappingProxyType({})
) -> str:
    """Content of assignments.csv: item, cluster, probability, annotated (1: with the item's answers, 0: without).

    The probability of a method that has none is an empty cell. Last columns say how an item is called:
    ``id`` in its table, ``file`` that it was read from.
    """
    columns = {"cluster": assignment.cluster, "probability": assignment.probability, "annotated": annotated.astype(int)}
    named = {name: list(values) for name, values in names.items() if values is not None}
    return pd.DataFrame(columns | named).rename_axis("item").to_csv(float_format="%.6f", lineterminator="\n")


def candidates_csv(verdict: Verdict) -> str:
    """Content of candidates.csv: a row for each result that was tried, ``winner`` 1 in that of the one kept, else 0."""
    marked = verdict.table.assign(winner=(verdict.table["candidate"] == verdict.winner).astype(int))
    return marked.to_csv(index=False, float_format="%.6f", lineterminator="\n")


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


def _write_samples(folder: Path, samples: Samples) -> None:
    write_text(folder / "chains.csv", samples.chains.to_csv(index=False, float_format="%.9g", lineterminator="\n"))
    names = ("partitions", "chain", "sweep", "kept")
    write_arrays(folder / "partitions.npz", {name: getattr(samples, name) for name in names})
