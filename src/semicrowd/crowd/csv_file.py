"""Answers as files: a csv with the columns i, j, worker, label and perhaps task, and what is known of their origin.

``answers.csv`` is for everybody. ``answers.truth.json`` beside it, where there is one, holds the source of the answers
and the true quality of their annotators, for the evaluation of a run that reads them.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.files import write_text

_REQUIRED = ("i", "j", "worker", "label")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def truth_path(path: Path) -> Path:
    """Where the origin of the answers in ``path`` is kept."""
    return path.with_suffix(".truth.json")


def read(path: Path | str, num_items: int) -> PairAnnotations:
    """Answers about ``num_items`` items from a csv file with a header; further columns are ignored.

    Workers and tasks may have any names; they are numbered in the order of their names, as numbers where all are.

    Raises
    ------
    UserError
        Naming file, line, column and what was expected.
    """
    path = Path(path)
    lines: list[int] = []
    columns: dict[str, list[str]] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file, strict=True)
            positions = _header(path, next(rows, []))
            columns = {name: [] for name in positions}
            for line, row in _numbered(path, rows, max(positions.values()) + 1):
                lines.append(line)
                for name, position in positions.items():
                    columns[name].append(row[position].strip())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}; expected a csv of answers") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a text file (utf-8); expected a csv with {','.join(_REQUIRED)}") from error
    except csv.Error as error:
        raise UserError(f"{path}, line {rows.line_num}: not valid csv: {error}") from error
    if not lines:
        raise UserError(f"{path}: no answers; expected at least one row {','.join(_REQUIRED)} after the header")

    worker, names = _numbered_names(path, lines, "worker", columns["worker"])
    task = _numbered_names(path, lines, "task", columns["task"])[0] if "task" in columns else None
    i, j, label = (_whole_numbers(path, lines, name, columns[name]) for name in ("i", "j", "label"))
    origin = _read_truth(truth_path(path), names)
    return PairAnnotations.from_arrays(
        i, j, worker, label, task=task, num_items=num_items, worker_names=names,
        where=lambda row: f"{path}, line {lines[row]}", **({"source": path.name} if origin is None else origin),
    )


def _header(path: Path, row: Sequence[str]) -> dict[str, int]:
    """Position of each column that is wanted."""
    found = [name.strip() for name in row]
    if not any(found):
        raise UserError(f"{path}: empty; expected a header {','.join(_REQUIRED)}[,task] and a row for each answer")
    missing = [name for name in _REQUIRED if name not in found]
    if missing:
        raise UserError(
            f"{path}, line 1: no column {', '.join(missing)}; expected {','.join(_REQUIRED)}[,task], "
            f"found {','.join(found)[:100]}"
        )
    wanted = [name for name in (*_REQUIRED, "task") if name in found]
    twice = [name for name in wanted if found.count(name) > 1]
    if twice:
        raise UserError(f"{path}, line 1: column {twice[0]} is there twice")
    return {name: found.index(name) for name in wanted}


def _numbered(path: Path, rows: Any, width: int) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with their line numbers (``rows`` is a csv reader after the header)."""
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < width:
            raise UserError(f"{path}, line {rows.line_num}: {len(row)} columns; expected at least {width}")
        yield rows.line_num, row


def _whole_numbers(path: Path, lines: list[int], name: str, cells: list[str]) -> np.ndarray:
    for line, cell in zip(lines, cells, strict=True):
        if not _WHOLE_NUMBER.fullmatch(cell):
            expected = "1 (same) or 0 (different)" if name == "label" else "an item id, a whole number from 0 on"
            raise UserError(f"{path}, line {line}, column {name}: {cell[:50] or 'empty'}; expected {expected}")
    return np.array(cells, dtype=np.int64)


def _numbered_names(path: Path, lines: list[int], column: str, cells: list[str]) -> tuple[np.ndarray, list[str]]:
    """Numbers of names, and the names in the order of their numbers."""
    if "" in cells:
        raise UserError(f"{path}, line {lines[cells.index('')]}, column {column}: empty; expected a name or number")
    names = set(cells)
    numeric = all(_WHOLE_NUMBER.fullmatch(name) for name in names)
    ordered = sorted(names, key=lambda name: (int(name) if numeric else 0, name))
    number = {name: k for k, name in enumerate(ordered)}
    return np.array([number[cell] for cell in cells], np.int64), ordered


def _read_truth(path: Path, names: list[str]) -> dict[str, Any] | None:
    """Arguments of ``from_arrays`` about the origin of the answers; None where nothing is known."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        annotators = content["annotators"]
        rates = {
            f"true_{kind}": None
            if annotators is None
            else [math.nan if annotators[name][kind] is None else float(annotators[name][kind]) for name in names]
            for kind in ("sensitivity", "specificity")
        }
        return {"source": str(content["source"]), "simulated": bool(content["simulated"]), **rates}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not the origin of {path.stem}: remove the file or write it anew") from error


def write(annotations: PairAnnotations, path: Path | str) -> None:
    """Write the csv file that :func:`read` reads, without the truth; folders on the way to it are made."""
    names = annotations.worker_names
    header = [*_REQUIRED, *(() if annotations.task is None else ("task",))]
    columns = [
        annotations.i, annotations.j, [names[m] for m in annotations.worker], annotations.label,
        *(() if annotations.task is None else (annotations.task,)),
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(zip(*columns, strict=True))
    write_text(Path(path), text.getvalue())


def write_with_truth(annotations: PairAnnotations, path: Path | str) -> None:
    """Write the csv file and, beside it, the origin of the answers; :func:`read` reads both."""
    write(annotations, path)
    sensitivity, specificity = annotations.true_sensitivity, annotations.true_specificity
    annotators = None
    if sensitivity is not None and specificity is not None:
        annotators = {
            name: {"sensitivity": _number(alpha), "specificity": _number(beta)}
            for name, alpha, beta in zip(annotations.worker_names, sensitivity, specificity, strict=True)
        }
    content = {"source": annotations.source, "simulated": annotations.simulated, "annotators": annotators}
    write_text(truth_path(Path(path)), json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
