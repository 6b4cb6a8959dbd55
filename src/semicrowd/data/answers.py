"""Loads or simulates the answers that the setting ``annotations`` selects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from semicrowd.crowd import csv_file, simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_table import AnswerTable, canonical
from semicrowd.crowd.wording import Wording
from semicrowd.data import Dataset
from semicrowd.data.answer_files import anonymised
from semicrowd.data.answer_tables import said_of_unfilled, table_of_file, tables_of, wording_of
from semicrowd.data.cifar10h import confusions
from semicrowd.data.columns import as_list
from semicrowd.data.fetch import fetch
from semicrowd.errors import UserError, listed, nearest
from semicrowd.files import expanded
from semicrowd.random import stream
from semicrowd.settings.data import FileSettings
from semicrowd.settings.sources import (
    CROWD_TASKS,
    CrowdSettings,
    NoAnswers,
    TasksSettings,
    source_settings,
)

#: Simulators; called with the true labels and the stream "annotations" of the run's seed.
SIMULATORS: dict[str, Callable[..., PairAnnotations]] = {
    "two_coin": simulate.two_coin,
    "quota": simulate.quota,
    "tasks": simulate.tasks,
    "labels": simulate.labels_of_some,
}

_CROWD_FILE = "crowd_annotations_mnist.npy"
#: Pairs of the 36 images of a task in that file.
_PAIRS_OF_TASK = 36 * 35 // 2


@dataclass(frozen=True)
class AnswerFile:
    """A file of answers that has been read; its items have not been looked up in the data yet."""

    table: AnswerTable
    #: File with the source and the true rates; it need not exist.
    truth: Path
    #: Whether the rows are must-links or cannot-links that are assumed to be correct, instead of answers.
    known: bool


def read_answer_files(settings: FileSettings, *, shared: bool = False) -> list[AnswerFile]:
    """The files of answers and of known links.

    Parameters
    ----------
    shared : whether a file need not have the column names that the settings give

    Raises
    ------
    UserError
        If no file is given, or one cannot be read or is no table of answers.
    """
    links = [(expanded(path), label)
             for path, label in ((settings.must_link, 1), (settings.cannot_link, 0)) if path is not None]
    if not settings.paths and not links:
        raise UserError(
            "annotations=file: annotations.path is missing; expected a csv with i,j,worker,label[,task], or with "
            "item,worker,group[,task]"
        )
    tables = tables_of(settings.paths, replace(wording_of(settings), shared=shared)) if settings.paths else []
    answers = [AnswerFile(table, csv_file.truth_path(expanded(path)), known=False)
               for table, path in zip(tables, settings.paths, strict=True)]
    known = [AnswerFile(table_of_file(path, Wording(), label), csv_file.truth_path(path), known=True)
             for path, label in links]
    return [*answers, *known]


def read_files_of(kind: str, options: Mapping[str, Any]) -> list[AnswerFile] | None:
    """The files of ``annotations=file``; None for other kinds of answers."""
    settings = source_settings("annotations", kind, options)
    return read_answer_files(settings) if isinstance(settings, FileSettings) else None


def load_annotations(
    kind: str, data: Dataset, seed: int, root: Path, files: Sequence[AnswerFile] | None = None, **options: Any
) -> PairAnnotations | None:
    """The answers about a data set.

    Parameters
    ----------
    kind : ``none``; ``two_coin``, ``quota``, ``tasks``, ``labels`` (simulated); ``crowd`` (real answers: those about
        MNIST, or those that an .npz file contains) or ``file``
    seed : of the run; simulators and the choice of crowd tasks use its stream "annotations"
    root : data root
    files : those of ``file``, where they have been read before the data (:func:`read_files_of`)
    options : of the kind; see :mod:`semicrowd.settings.sources`

    Returns
    -------
    PairAnnotations or None
        None for ``none``.

    Raises
    ------
    UserError
        For an unknown kind or option, a value that does not fit, and for answers that are not available, cannot be read
        or cannot be simulated.
    """
    settings = source_settings("annotations", kind, options)
    match settings:
        case NoAnswers():
            return None
        case FileSettings():
            return answers_of_files(data, settings, files, root)
        case CrowdSettings():
            answers = _crowd(data, root, seed, settings)
            return anonymised(answers, root) if settings.anonymise else answers
    if data.labels is None:
        raise UserError(
            f"annotations={kind}: data={data.name} has no true labels to simulate answers from; "
            "expected a column label, or annotations=file with answers of people"
        )
    rng = stream(seed, "annotations")
    confused: tuple[np.ndarray, ...] = ()
    if isinstance(settings, TasksSettings) and settings.confused is not None:
        if data.name != "cifar10":
            raise UserError(f"annotations.confused={settings.confused}: expected data=cifar10, not data={data.name}")
        confused = (confusions(root, data.test_labels),)
    return SIMULATORS[kind](data.labels, rng, *confused, **vars(settings))


def answers_of_files(
    data: Dataset, settings: FileSettings, files: Sequence[AnswerFile] | None = None, root: Path = Path()
) -> PairAnnotations:
    """The answers of files about the items of ``data``, which may call these by ids, by files, or by rows.

    Raises
    ------
    UserError
        As :func:`semicrowd.crowd.csv_file.of_table`.
    """
    given = read_answer_files(settings) if files is None else files
    unfilled = said_of_unfilled([file.table for file in given])
    parts, skip = [], settings.skip_unknown
    for file in (file for file, note in zip(given, unfilled, strict=True) if not note):
        names = _names(data, file.table)
        parts.append(
            csv_file.of_table(file.table, data.num_items, names, file.truth, skip_unknown=skip, known=file.known)
        )
    answers = csv_file.joined(parts, data.names)
    notes = answers.notes
    if data.ids is None and data.files is not None:  # a table of answers does not know what these names are
        notes = tuple(note.replace("identified by their ids", "identified by their paths") for note in notes)
    answers = replace(answers, notes=(*filter(None, unfilled), *notes))
    if settings.anonymise:
        answers = anonymised(answers, root)
    return _without(answers, [str(name) for name in settings.leave_out]) if settings.leave_out else answers


def _without(answers: PairAnnotations, people: Sequence[str]) -> PairAnnotations:
    """The answers of the other people, with a note; of an anonymised run people are called as in its files."""
    for name in people:
        if name not in answers.worker_names:
            raise UserError(f"annotations.leave_out={as_list([name])}: no answers of {name}"
                            f"{nearest(name, answers.worker_names)}")
    kept = np.array([name not in people for name in answers.worker_names])
    if not kept.any():
        raise UserError(f"annotations.leave_out={as_list(people)}: these are all people; expected answers of others")
    rows = np.flatnonzero(kept[answers.worker])
    note = f"{answers.num_pairs - len(rows):,} answers of {listed(people)} are left out: annotations.leave_out"
    return replace(answers.some(rows).renumbered(np.flatnonzero(kept)), notes=(*answers.notes, note))


def _names(data: Dataset, table: AnswerTable) -> Sequence[str] | None:
    """Names by which the answers identify the items, [N]; None: row numbers.

    Ids, if the items have them. For files that of path, name and name without suffix which occurs most often in the
    answers; the latter two only if no two items share one and none is a number.
    """
    if data.ids is not None or data.files is None:
        return data.ids
    written = table.item_cells()[1]
    identifiers = set(map(canonical, written))
    paths = [PurePosixPath(name) for name in data.files]
    # A name that is a number could be the number of a row, unless there is one with a zero in front.
    padded = any(cell[:1] == "0" and len(cell) > 1 for cell in written)
    namings = [
        names for names in ([path.name for path in paths], [path.stem for path in paths])
        if len(set(names)) == len(names)
        and (not any(name.isdecimal() for name in names) or (padded and written <= set(names)))
    ]  # fmt: skip
    return max((data.files, *namings), key=lambda names: len(identifiers.intersection(map(canonical, names))))


def _crowd(data: Dataset, root: Path, seed: int, settings: CrowdSettings) -> PairAnnotations:
    """Real answers: those of the data's own file, or the 57,330 answers of 48 annotators to 91 tasks about MNIST.

    Of the latter ``settings.num_tasks`` selects some tasks at random; annotators keep their names. If labels are known,
    an annotator's true rates are the shares of correct answers among the answers in use.
    """
    answers = data.answers
    if answers is None:
        answers = _of_mnist(data, root, seed, settings.num_tasks)
    elif settings.num_tasks is not None:
        raise UserError(f"annotations.num_tasks={settings.num_tasks}: expected null, all answers of data={data.name}")
    return answers if data.labels is None else answers.with_true_rates(data.labels)


def _of_mnist(data: Dataset, root: Path, seed: int, num_tasks: int | None) -> PairAnnotations:
    if data.name != "mnist" or data.labels is None:
        raise UserError(
            f"annotations=crowd: data={data.name} has no real answers; expected data=mnist, or data that have some"
        )
    tasks = np.arange(CROWD_TASKS)
    if num_tasks is not None:  # the first of one permutation, so that fewer tasks are among more
        tasks = np.sort(stream(seed, "annotations").permutation(CROWD_TASKS)[:num_tasks])
    rows = np.load(fetch("mnist_crowd", root)[_CROWD_FILE], allow_pickle=False)
    rows = rows.reshape(CROWD_TASKS, _PAIRS_OF_TASK, 4)[tasks].reshape(-1, 4)
    people, worker = np.unique(rows[:, 2], return_inverse=True)
    return PairAnnotations.from_arrays(
        rows[:, 0], rows[:, 1], worker, rows[:, 3],
        task=np.repeat(np.arange(len(tasks)), _PAIRS_OF_TASK), num_items=data.num_items,
        worker_names=[str(person) for person in people],
        source="crowd" if len(tasks) == CROWD_TASKS else f"crowd ({len(tasks)} of {CROWD_TASKS} tasks)",
    )  # fmt: skip
