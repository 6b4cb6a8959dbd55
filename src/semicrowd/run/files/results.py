"""The files of a finished run, from its evaluation."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.evaluation.scores import Evaluation, Likeliest
from semicrowd.files import protected, write_arrays, write_csv, write_json, write_text
from semicrowd.fitting.result import Assignment, Samples

ASSIGNMENTS = "assignments.csv"
#: Largest N for which every restart's clusters are kept.
_MOST_ITEMS = 10_000
#: Digits of a probability.
_DIGITS = 6


def write_results(
    folder: Path,
    result: Evaluation,
    annotations: PairAnnotations | None,
    warnings: Sequence[str] = (),
    likeliest: Likeliest | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """Write the files of the result, except metrics.json, which the caller writes last.

    Parameters
    ----------
    warnings : reasons not to trust the result, one line each
    likeliest : the images with the highest cluster probabilities; None without images
    names : names of the items; None if they have no names
    """
    final, test = result.found.final, result.test
    annotated = np.zeros(len(final.cluster), bool)
    if annotations is not None:
        annotated[annotations.annotated] = True
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
    if result.found.samples is not None:
        _write_samples(folder, result.found.samples)
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


def final_clusters(folder: Path) -> np.ndarray:
    """[N] cluster of every training item in a run's assignments.csv; annotated items' depend on the answers, too."""
    return pd.read_csv(folder / ASSIGNMENTS)["cluster"].to_numpy()


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
