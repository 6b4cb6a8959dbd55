"""A user's own .npz file: a table with true classes, optionally with answers about its items.

``features`` (or ``X``) [N, D] and ``labels`` (or ``y``) [N], as :func:`semicrowd.data.frames.read_archive` finds them,
and perhaps ``pairs`` [P, 5]. A row of pairs is i, j, worker, label (1 same, 0 different) and task, −1 for a pair that
was asked alone. Other arrays are left alone.

Environment
-----------
SEMICROWD_CROWDS
    A folder of such files, which are then called by their names; default ``crowds`` in the data root.
"""

import os
from pathlib import Path

import numpy as np
from sklearn.utils._param_validation import validate_params

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.dataset import SEED, SUBSET, Dataset, drawn
from semicrowd.data.fetch import data_root
from semicrowd.data.frames import read_archive
from semicrowd.errors import UserError, listed
from semicrowd.files import expanded, sha256_of

_EXPECTED = "features and labels (or X and y), with pairs or not"


@validate_params(
    {"path": [str, Path, None], "subset": SUBSET, "data_seed": SEED}, prefer_skip_nested_validation=False
)
def load_npz(
    *, path: str | Path | None = None, subset: int | None = None, data_seed: int = 0, root: Path | None = None
) -> Dataset:
    """Load a file by its path or by its name.

    Parameters
    ----------
    path : an .npz file, or the name of one in the folder SEMICROWD_CROWDS
    subset : number of items, drawn at random; None: all, as for a file with answers, which refer to items by their row
    data_seed : of this draw, apart from the run's seed
    root : data root, None: that of the environment

    Returns
    -------
    Dataset
        Has the name of the file. ``features`` are float32 if they are in the file, else float64. Classes are numbered
        in the order of their labels; ``answers`` are those of the file.
    """
    if path is None:
        raise UserError("data=npz: data.path is missing; expected an .npz file or the name of one")
    root = root or data_root()
    file = find(path, root)
    if file is None:
        where = "" if str(path).endswith(".npz") else f" in {_folder(root)} or a folder within it (SEMICROWD_CROWDS)"
        raise UserError(f"data.path={path}: no such file{where}; expected an .npz with {_EXPECTED}")
    archive = read_archive(file)
    features, labels, pairs = archive.features, archive.labels, archive.arrays.get("pairs")
    if labels is None:
        raise UserError(f"{file}: it has {listed(list(archive.arrays))}; expected an .npz with {_EXPECTED}")
    if subset is not None and pairs is not None:
        raise UserError(f"data.subset={subset}: expected null: {file.name} has answers about all items")
    features, labels = drawn(subset, data_seed, features, labels)
    classes, labels = np.unique(labels, return_inverse=True)
    features = np.ascontiguousarray(features, np.float32 if features.dtype == np.float32 else np.float64)
    return Dataset(
        file.stem, features, labels.astype(np.int64), num_classes=len(classes),
        hashes={file.name: sha256_of(file)},
        answers=None if pairs is None else _answers(pairs, len(features), str(file)),
    )  # fmt: skip


def find(path: str | Path, root: Path) -> Path | None:
    """The file at this path, or of this name in the folder of such files or one within it; None if there is none."""
    given = expanded(path)
    if given.suffix == ".npz":
        return given if given.is_file() else None
    return min((one for one in _folder(root).rglob("*.npz") if one.name == f"{given.name}.npz"), default=None)


def _folder(root: Path) -> Path:
    chosen = os.environ.get("SEMICROWD_CROWDS")
    return expanded(chosen) if chosen else root / "crowds"


def _answers(pairs: np.ndarray, num_items: int, source: str) -> PairAnnotations:
    """Answers as they are, repeated and contradictory ones too."""
    if pairs.ndim != 2 or pairs.shape[1] != 5 or pairs.dtype.kind not in "iu":
        raise UserError(f"{source}: pairs {pairs.dtype} {list(pairs.shape)}; expected whole numbers [answers, 5]")
    i, j, worker, label, task = pairs.T
    people, number = np.unique(worker, return_inverse=True)
    return PairAnnotations.from_arrays(
        i, j, number, label, task=_tasks(number, task), num_items=num_items, source=source,
        worker_names=[str(name) for name in people],
    )  # fmt: skip


def _tasks(worker: np.ndarray, task: np.ndarray) -> np.ndarray | None:
    """Tasks numbered from 0, each of one annotator; None where there are none.

    Where some pairs were asked alone and others in tasks, each of those asked alone is a task of one pair.
    """
    if (task < 0).all():
        return None
    alone = np.arange(len(task)) + task.max(initial=0) + 1
    whole = np.where(task < 0, alone, task)
    return np.unique(np.stack([worker, whole]), axis=1, return_inverse=True)[1].ravel()
