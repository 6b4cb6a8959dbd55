"""``python src/predict.py``: clusters of new items from a finished run."""

import argparse
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproduction.commandline import without_traceback
from reproduction.files import assignment_csv, check_finished, read_config
from semicrowd.errors import UserError
from semicrowd.files import MODEL, PROVENANCE, check_exists, read_object, write_text

if TYPE_CHECKING:
    from semicrowd.data import Dataset

#: What an output begins with.
_HEADER = b"item,cluster,"
_EPILOG = """\
examples:
  python src/predict.py runs/FOLDER new_items.csv
  python src/predict.py runs/FOLDER new_items.npy --annotations answers.csv --output clusters.csv

A table's columns are found by their names, in any order. The columns of the output are item (its id, or its
row from 0), cluster (numbered as in assignments.csv of the run), probability, second_cluster and second_probability
(the second most probable cluster), annotated (1 if the item's answers were used, else 0) and, if items have
ids, row.
The same input gives the same output.
"""


def parser() -> argparse.ArgumentParser:
    """The command line of ``src/predict.py``."""
    arguments = argparse.ArgumentParser(
        description="Assign new items to the clusters of a finished run.", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    arguments.add_argument("run", type=Path, help="folder of a finished run of src/train.py")
    arguments.add_argument(
        "items", type=Path,
        help="new items: a table with the columns of the run's data (.csv, .tsv, .parquet, .xlsx), .npy [N, D], or a "
        "folder of pictures",
    )  # fmt: skip
    arguments.add_argument(
        "--annotations", type=Path, metavar="CSV", action="append", default=[],
        help="answers on the new items: i,j,worker,label; workers by the names they have in the run's workers.csv; "
        "once for each file",
    )  # fmt: skip
    arguments.add_argument("--output", type=Path, metavar="CSV", help="file to write [standard output]; replaces "
                           "an earlier output, but no other file")  # fmt: skip
    return arguments


@without_traceback
def main(given: Sequence[str]) -> int:
    """Run ``src/predict.py`` with the arguments after its name; the exit code."""
    options = parser().parse_args(given)
    run, items, files, output = options.run, options.items, options.annotations, options.output
    check_finished(run)
    if output is not None and output.is_file():
        with output.open("rb") as file:
            if not file.readline().startswith(_HEADER):
                raise UserError(f"{output}: is there, and no earlier output of this command; expected another --output")
    # Imported here: importing torch takes seconds.
    from reproduction.run import assigned
    from semicrowd.data import answers as sources
    from semicrowd.estimators.persistence import load

    model, config = load(run / MODEL), read_config(run)
    if not hasattr(model, "predict"):
        raise UserError(f"{run}: a run of {type(model).__name__}, which cannot assign new items")
    told = ", ".join(map(str, files))
    if files and "pairs" not in inspect.signature(model.predict).parameters:  # a folder of pictures can take minutes
        raise UserError(f"{told}: {type(model).__name__} takes no answers about new items; fit again with all "
                        f"items and answers, or train model=scdc")
    data = _new_items(run, items, model, config["data"])
    features = data.features
    if features.shape[1] != model.n_features_in_:
        raise UserError(f"{items}: {features.shape[1]} features per item, but the run was trained with "
                        f"{model.n_features_in_}")
    if data.missing and not model.takes_missing:
        raise UserError(f"{data.missing}: empty or nan; {type(model).__name__} expects a number in every cell")
    assignment, annotated, notes = assigned(model, features), np.zeros(len(features), bool), data.notes
    if files:
        form = {name: config["annotations"][name] for name in ("columns", "errors") if name in config["annotations"]}
        answers = sources.file(data, path=[str(path) for path in files], **form)
        notes = (*notes, *answers.notes)
        try:
            assignment = assigned(model, features, answers)
        except UserError as error:
            raise UserError(f"{told}: {str(error).removeprefix('pairs: ')}") from error
        annotated[answers.annotated] = True
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    text = assignment_csv(assignment, annotated, data.names)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)
        print(f"note: {output}: the clusters of {len(features):,} items", file=sys.stderr)
    return 0


def _new_items(run: Path, items: Path, model: Any, settings: dict[str, Any]) -> "Dataset":
    """The items, with the features that those of the run have."""
    from semicrowd.data.embedding import EFFICIENTNET_LITE0
    from semicrowd.data.images import load_images
    from semicrowd.data.table import load_new_items, load_table

    if settings["_target_"].endswith("load_images"):
        if items.is_dir():
            shape = read_object(run / PROVENANCE).get("image_shape")
            if shape is None:
                return load_images(path=items, features=EFFICIENTNET_LITE0)
            return load_images(path=items, features="pixels", size=shape[-2:], colour=len(shape) == 3)
        if items.suffix != ".npy":
            check_exists(items)
            raise UserError(f"{items}: a file; expected a folder of pictures, which the run was trained on")
    if model.columns_ is None:
        return load_table(path=items)
    return load_new_items(items, model.columns_, settings.get("read_csv"))
