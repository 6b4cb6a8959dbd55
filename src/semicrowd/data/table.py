"""The user's own features: a table that pandas can read, or a NumPy array."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import validate_params

from semicrowd.data.columns import Columns, as_list, id_text, ids_of
from semicrowd.data.dataset import Dataset
from semicrowd.data.frames import EXPECTED, ID, LABEL, PAGE, SEQUENCE, TEXT_FILES, place, read_frame, refuse_answers
from semicrowd.errors import UserError
from semicrowd.files import expanded, sha256_of


@validate_params(
    {
        "path": [str, Path, None], "id": [str, None], "label": [str, None], "ignore": ["array-like"],
        "read_csv": [Mapping, None],
    },
    prefer_skip_nested_validation=False,
)  # fmt: skip
def load_table(
    *, path: str | Path | None = None, id: str | None = None, label: str | None = None, ignore: Sequence[str] = (),
    read_csv: Mapping[str, Any] | None = None,
) -> Dataset:  # fmt: skip
    """Load a feature table.

    A table has a row for each item. A column ``id``, or ``data.id``, has the ids of the items; a column ``label``
    (whole numbers or names, numbered in sorted order) or ``data.label`` is only used for the metrics. A column
    ``sequence`` assigns each item to a sequence, in the order of the rows. All others become features
    (:mod:`semicrowd.data.columns`). An .npy file has a table of numbers without these special columns; an .npz file
    has such a table, called features or X, and perhaps ``labels``, ``ids`` and ``columns``, the names of the columns.

    Parameters
    ----------
    path : .csv or .tsv with a header, .parquet, .xlsx, .npy or .npz
    id : column with the ids of the items; None: the one called id, if any
    label : column with the true classes; None: the one called label, if any
    ignore : names of columns to leave out
    read_csv : keywords of :func:`pandas.read_csv` for a text file, such as sep and decimal
    """
    if not path:
        raise UserError(f"data=table: data.path is missing; expected {EXPECTED}")
    path = expanded(path)
    named = path.suffix.lower() != ".npy"
    given = {"ignore": ignore, "id": (id,), "label": (label,)}
    wanted = {option: [one for one in names if one is not None] for option, names in given.items()}
    if not named and (options := [option for option, names in wanted.items() if names]):
        raise UserError(f"data.{options[0]}: an .npy file has no named columns; expected an .npz file with arrays "
                        "features, ids and columns, or a table")  # fmt: skip
    table = read_frame(path, (id or ID, label or LABEL, SEQUENCE), read_csv)
    refuse_answers(table.columns, f"data.path={path}")
    for option, names in wanted.items():
        if unknown := [one for one in names if one not in table]:
            raise UserError(f"data.{option}={as_list(unknown)}: {path} has no such column; it has "
                            f"{', '.join(table.columns)[:200]}")  # fmt: skip
    roles = Counter(one for names in wanted.values() for one in set(names))
    if roles and (most := roles.most_common(1)[0])[1] > 1:
        raise UserError(f"{path}, column {most[0]}: expected in one of data.ignore, data.id and data.label only")
    table = table.drop(columns=wanted["ignore"])
    id_column = id or (ID if ID in table else None)
    if id_column is None and (other := next((one for one in table if one.casefold() == ID), None)):
        raise UserError(f"{path}, column {other}: expected the name {ID} for a column of ids, data.id={other}, or "
                        f"'data.ignore=[{other}]'")  # fmt: skip
    ids = None
    if id_column is not None:
        ids = ids_of(table.pop(id_column), str(path))
        table.index = pd.Index(ids, name=id_column)
    labels, class_names = _named(table, label or LABEL, path)
    sequence, _ = _named(table, SEQUENCE, path)
    columns, notes = Columns.of(table, str(path), id_column, named=named)
    features, _ = columns.features(table, str(path))
    return Dataset(
        "table", features, labels, num_classes=None if labels is None else len(np.unique(labels)), sequence=sequence,
        class_names=class_names, ids=ids, columns=columns, notes=notes,
        hashes={path.name: sha256_of(path)},
    )  # fmt: skip


def load_new_items(path: Path, columns: Columns, read_csv: Mapping[str, Any] | None = None) -> Dataset:
    """Load new items for a run that was trained on a table with these columns, which are matched by name."""
    table = read_frame(path, (columns.ids or ID,), read_csv if path.suffix.lower() in TEXT_FILES else None)
    ids = None
    if columns.ids is not None and columns.ids in table:
        ids = ids_of(table[columns.ids], str(path))
        table.index = pd.Index(ids, name=columns.ids)
    if path.suffix.lower() == ".npy" or not columns.named:  # by position
        names = [one.name for one in columns.columns]
        if table.shape[1] != len(names):
            raise UserError(f"{path}: {table.shape[1]} columns; expected {len(names)}, as in the run")
        table = table.set_axis(names, axis=1)
    features, notes = columns.features(table, str(path))
    data = Dataset("table", features, ids=ids, columns=columns, notes=notes)
    return data.with_gaps_filled() if columns.filled else data


def _named(table: pd.DataFrame, column: str, path: Path) -> tuple[np.ndarray | None, tuple[str, ...] | None]:
    """Take a column of names out of the table: their numbers, and the names in order; None if they are numbers."""
    if column not in table:
        return None, None
    texts = [id_text(cell) for cell in table.pop(column)]
    if "" in texts:
        raise UserError(f"{path}, {place(table.index, texts.index(''))}, column {column}: empty; expected a {column} "
                        f"in every row, or no such column; {PAGE}")  # fmt: skip
    try:
        return np.array(texts).astype(np.int64), None
    except (ValueError, OverflowError):
        names, numbers = np.unique(texts, return_inverse=True)
        return numbers.astype(np.int64), tuple(names.tolist())
