"""Read and write answers in CSV files: pairs with the answers same or different, or groups of items.

A file ``answers.csv`` may be accompanied by ``answers.truth.json`` with the source of simulated answers and the true
rates of their annotators. These are only used to evaluate a run.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_header import PAIRS, shown
from semicrowd.crowd.answer_table import AnswerTable
from semicrowd.crowd.index import pairs_within
from semicrowd.errors import UserError, listed
from semicrowd.files import write_csv, write_text

#: Name of the annotator if the file has no column worker.
EVERYBODY = "everybody"
#: Name of the annotator of known links.
KNOWN = "known"
#: Part of the note on rows that were left out.
LEFT_OUT = "are about items that are not there, and left out"
#: Maximal number of items in a task; they form two million pairs.
_LARGEST_TASK = 2000
#: Maximal number of pairs of all tasks: in memory they take some 2 GB.
_MOST_PAIRS = 20_000_000


def truth_path(path: Path) -> Path:
    """Path of the file with the source and the true rates of the answers in ``path``."""
    return path.with_suffix(".truth.json")


def of_table(
    table: AnswerTable,
    num_items: int,
    ids: Sequence[str] | None = None,
    truth: Path | None = None,
    *,
    by_index: bool = False,
    skip_unknown: bool = False,
    known: bool = False,
) -> PairAnnotations:
    """The answers of a table about ``num_items`` items; additional columns are ignored.

    There are three formats; columns in brackets are optional.

    - Pairs, ``i,j,label[,worker][,task]``: the label of two items is 1 or 0, true or false, same or different, yes or
      no, must-link or cannot-link.
    - Groupings, ``item,group[,worker][,task]``: two items of a worker's task are "same" if they are in one group.
      Without a column task, all rows of a worker are one task.
    - Classes, ``item,label[,worker][,task]``: like groupings; workers may use different names for classes.

    A few answers about unknown items are left out (:meth:`AnswerTable.about`); a note reports how many.

    Workers and tasks may have any names. They are numbered in sorted order, by value if all names are whole numbers.
    Without a column worker all answers are assigned to one person, called everybody.

    Parameters
    ----------
    num_items : N
    ids : [N] ids of the items, if any; the table may refer to items by these ids or by row numbers from 0
    truth : file with the source and the true rates, which need not exist
    by_index : the ids are the index of a data frame (:meth:`AnswerTable.about`)
    skip_unknown : leave out answers about unknown items even if most items are unknown, or items are row numbers
    known : the answers are known links, unless the table has a column worker

    Raises
    ------
    UserError
        The message names the file, line, column and what was expected.
    """
    path = table.path
    if known and ids is not None and table.header and set(table.header) <= {name.strip() for name in ids}:
        raise UserError(f"{path}, line 1: two ids of items; expected a header i,j before the first pair")
    names, notes = [KNOWN if known else EVERYBODY], table.said_of_skipped()
    there, unknown = table.about(num_items, ids, by_index=by_index, skip_unknown=skip_unknown)
    if left_out := len(table.lines) - len(there.lines):
        notes.append(f"{path.name}: {left_out:,} of {len(table.lines):,} rows {LEFT_OUT} ({unknown})")
    table = there
    worker, task = np.zeros(len(table.lines), np.int64), None
    if "worker" in table.columns:
        worker, names = table.names("worker")
    elif not known:
        way = (f"; {listed(table.unused)} not used: annotations.columns={{worker: {table.unused[0]}}} would take the "
               "names of people from there") if table.unused else ""  # fmt: skip
        notes.append(f"{path.name}: no column worker, or no name in it; all answers are taken for those of one person, "
                     f"'{EVERYBODY}'{way}")
    if "task" in table.columns:
        task = table.names("task")[0]
    items, how = table.items(num_items, ids)
    notes += how
    if table.kind == PAIRS:
        (i, j), label = items, table.answers()
        if (i == j).any():
            row = int((i == j).argmax())
            raise table.error(row, "j", "another item than i (an item cannot be compared with itself)")
    else:
        i, j, label, worker, task, odd = _pairs_of_groups(table, items[0], worker, names, task)
        notes += odd
        answering, worker = np.unique(worker, return_inverse=True)
        names = [names[m] for m in answering]
    origin = None if truth is None else _read_truth(truth, names)
    annotations = PairAnnotations.from_arrays(
        i, j, worker, label, task=task, num_items=num_items, worker_names=names,
        where=table.at, item_names=ids, **({"source": path.name} if origin is None else origin),
    )  # fmt: skip
    return replace(annotations, notes=(*notes, *annotations.notes))


def joined(parts: Sequence[PairAnnotations], items: Sequence[str] | None = None) -> PairAnnotations:
    """Concatenate answers of several files about the same items; people with the same name are the same person.

    Parameters
    ----------
    items : [N] names of the items in notes; None: they are called by their rows
    """
    if len(parts) == 1:
        return parts[0]
    names = list(dict.fromkeys(name for part in parts for name in part.worker_names))
    number_of = {name: number for number, name in enumerate(names)}
    numbers = [np.array([number_of[name] for name in part.worker_names]) for part in parts]
    worker = [own[part.worker] for own, part in zip(numbers, parts, strict=True)]
    i, j, label = (np.concatenate([getattr(part, name) for part in parts]) for name in ("i", "j", "label"))
    task = None
    if any(part.task is not None for part in parts):
        tasks, number = [], 0
        for part in parts:  # an answer without a task becomes a task of its own
            own = np.arange(part.num_pairs) if part.task is None else part.task
            tasks.append(own + number)
            number = int(tasks[-1].max()) + 1
        task = np.concatenate(tasks)
    answers = PairAnnotations.from_arrays(
        i, j, np.concatenate(worker), label, task=task, num_items=parts[0].num_items, worker_names=names,
        true_sensitivity=_rates(parts, names, "true_sensitivity"),
        true_specificity=_rates(parts, names, "true_specificity"),
        simulated=all(part.simulated for part in parts), source=" and ".join(part.source for part in parts),
        item_names=items,
    )  # fmt: skip
    # Repeated answers ("…, kept") are noted for all files together.
    notes = dict.fromkeys(note for part in parts for note in part.notes if not note.endswith("kept"))
    return replace(answers, notes=(*notes, *answers.notes))


def _rates(parts: Sequence[PairAnnotations], names: list[str], which: str) -> list[float] | None:
    """True rates of all annotators, NaN of those whose file states none; None if no file states any."""
    rates = {
        name: float(rate) for part in parts if getattr(part, which) is not None
        for name, rate in zip(part.worker_names, getattr(part, which), strict=True) if not math.isnan(rate)
    }  # fmt: skip
    return [rates.get(name, math.nan) for name in names] if rates else None


def _pairs_of_groups(
    table: AnswerTable, item: np.ndarray, worker: np.ndarray, names: list[str], task: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """All pairs of items of each task: i < j, label, worker, task, and notes on rows that were not used.

    If several workers have grouped the same task, each grouping counts as a separate task; they are numbered by task,
    then by worker. A task of a single item has no pairs and is left out.
    """
    group = table.names(table.kind[1])[0]
    whole = worker if task is None else task * len(names) + worker
    place: dict[tuple[int, int], int] = {}
    for row, key in enumerate(zip(whole.tolist(), item.tolist(), strict=True)):
        before = place.setdefault(key, row)
        if group[before] != group[row]:
            other = f"{shown(table.columns[table.kind[1]][before])} as in {table.unit} {table.lines[before]}"
            raise table.error(row, table.kind[1], f"{other}, for the same item in the same task")
    rows = np.array(list(place.values()))
    rows = rows[np.lexsort((item[rows], whole[rows]))]
    tasks = np.split(rows, np.flatnonzero(np.diff(whole[rows])) + 1)
    kept = [rows for rows in tasks if len(rows) > 1]
    if not kept:
        raise UserError(f"{table.path}: no two items in one task; expected pairs of items to compare")
    largest = max(kept, key=len)
    if len(largest) > _LARGEST_TASK:
        name = f"task {shown(table.columns['task'][largest[0]])}" if task is not None else "one task"
        raise UserError(
            f"{table.path}: {len(largest):,} items in {name} of worker {shown(names[worker[largest[0]]])}; expected "
            f"{_LARGEST_TASK:,} at most: split it by a column task, or give pairs, i,j,worker,label"
        )
    sizes = [len(rows) * (len(rows) - 1) // 2 for rows in kept]
    if sum(sizes) > _MOST_PAIRS:
        raise UserError(f"{table.path}: {sum(sizes):,} pairs of items in {len(kept):,} tasks; expected {_MOST_PAIRS:,} "
                        "at most: split the tasks by a column task, or give pairs, i,j,worker,label")
    first, second, pair_task = pairs_within(kept)
    whose = "of a person" if task is None else "of a person and task"
    notes = [f"{table.path.name}: all items {whose} are compared in pairs; items: "
             f"{sum(map(len, kept)):,}, answers about pairs: {len(first):,}"]  # fmt: skip
    if repeated := len(item) - len(rows):
        notes.append(f"{table.path.name}: rows that repeat an item of their task, counted once: {repeated}")
    if single := len(tasks) - len(kept):
        notes.append(f"{table.path.name}: tasks of a single item, left out: {single}")
    return (
        item[first], item[second], (group[first] == group[second]).astype(np.int64), worker[first], pair_task,
        notes,
    )  # fmt: skip


def _read_truth(path: Path, names: list[str]) -> dict[str, Any] | None:
    """Arguments of ``from_arrays`` with the source and the true rates; None without a file."""
    try:
        if path.exists() and not path.is_file():
            raise ValueError("a folder, or a pipe, which would block")
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
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise UserError(f"{path}: not a valid description of {path.stem}: remove the file or write it again") from error


def write(annotations: PairAnnotations, path: Path | str) -> None:
    """Write answers as a CSV file, without the true rates; missing folders are created."""
    worker = [annotations.worker_names[m] for m in annotations.worker]
    task = () if annotations.task is None else (annotations.task,)
    rows = zip(annotations.i, annotations.j, worker, annotations.label, *task, strict=True)
    write_csv(Path(path), ("i", "j", "worker", "label", "task")[: 4 + len(task)], rows)


def write_with_truth(annotations: PairAnnotations, path: Path | str) -> None:
    """Write the CSV file, and a second file with the source and the true rates, :func:`truth_path`."""
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
