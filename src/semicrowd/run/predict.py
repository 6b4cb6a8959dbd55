"""``python src/predict.py``: clusters of new items from a finished run."""

import argparse
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semicrowd.errors import UserError, without_traceback
from semicrowd.files import MODEL, check_exists, check_finished, read_object, write_text
from semicrowd.run.commandline import as_typed, program
from semicrowd.run.files.inputs import PROVENANCE
from semicrowd.settings.data import ImagesSettings

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
        prog=program("predict"), description="Assign new items to the clusters of a finished run.",
        epilog=as_typed(_EPILOG), formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    arguments.add_argument("run", type=Path, help="directory of a finished run of src/train.py")
    arguments.add_argument(
        "features", type=Path,
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
def main(arguments: Sequence[str]) -> int:
    """Run ``src/predict.py`` with the arguments after its name; returns the exit code."""
    given = parser().parse_args(arguments)
    try:
        _predict(given.run, given.features, given.annotations, given.output)
    except KeyboardInterrupt:
        return 130
    return 0


def _predict(run: Path, features_file: Path, answer_files: list[Path], output: Path | None) -> None:
    check_finished(run)
    replaces = output is not None and _is_earlier(output)

    # Imported here: importing torch takes seconds.
    from semicrowd.data import load_dataset
    from semicrowd.data.answers import answers_of_files
    from semicrowd.data.table import load_new_items
    from semicrowd.estimators.persistence import load
    from semicrowd.run.estimator import assigned, check_complete
    from semicrowd.run.files.config import CONFIG, read_config
    from semicrowd.run.files.results import assignment_csv
    from semicrowd.settings.data import FileSettings

    estimator = load(run / MODEL)
    columns = getattr(estimator, "columns_", None)
    config = read_config(run / CONFIG) if (run / CONFIG).exists() else {}
    if not estimator.takes_new_items:
        raise UserError(f"{run}: a run of {type(estimator).__name__}, which cannot assign new items")
    of_run = config.get("annotations", {})
    told = ", ".join(map(str, answer_files))
    if answer_files:  # before the items: a folder of images can take minutes
        if "pairs" not in inspect.signature(estimator.predict).parameters:
            raise UserError(f"{told}: {type(estimator).__name__} takes no answers about new items; fit again with all "
                            f"items and answers, or train model=scdc")
        written = {name: of_run[name] for name in ("columns", "errors") if name in of_run}  # the format of the run's
        settings = FileSettings.of({"path": [str(path) for path in answer_files], **written})
    if config.get("data", {}).get("name") == "images" and features_file.is_dir():
        data = _pictures(run, features_file, config["data"])
    elif config.get("data", {}).get("name") == "images" and features_file.suffix != ".npy":
        check_exists(features_file)
        raise UserError(f"{features_file}: a file; expected a folder of pictures, which the run was trained on")
    elif columns is None:
        data = load_dataset("table", Path(), path=str(features_file))
    else:
        data = load_new_items(features_file, columns, config.get("data", {}).get("read_csv"))
    for note in data.notes:
        print(f"note: {note}", file=sys.stderr)
    features = data.features
    if features.shape[1] != estimator.n_features_in_:
        raise UserError(f"{features_file}: {features.shape[1]} features per item, but the run was trained with "
                        f"{estimator.n_features_in_}")
    check_complete(data, type(estimator))
    assignment, annotated = assigned(estimator, features), np.zeros(len(features), bool)
    if answer_files:
        answers = answers_of_files(data, settings)
        for note in answers.notes:
            print(f"note: {note}", file=sys.stderr)
        try:
            assignment = assigned(estimator, features, answers)
        except UserError as error:
            raise UserError(f"{told}: {str(error).removeprefix('pairs: ')}") from error
        annotated[answers.annotated] = True
    text = assignment_csv(assignment, annotated, data.names)
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)
        earlier = ", instead of those that were there" if replaces else ""
        print(f"note: {output}: the clusters of {len(features):,} items{earlier}", file=sys.stderr)


def _is_earlier(output: Path) -> bool:
    """Whether the file is there, which is then an earlier output."""
    if not output.is_file():
        return False
    with output.open("rb") as file:
        if not file.readline().startswith(_HEADER):
            raise UserError(f"{output}: is there, and no earlier output of this command; expected another --output")
    return True


def _pictures(run: Path, folder: Path, settings: dict[str, Any]) -> "Dataset":
    """New images, with the same features as the images of the run; ``settings`` are the run's, of its data."""
    from semicrowd.data.fetch import data_root
    from semicrowd.data.images import load_images

    kept = {name: settings[name] for name in ("features", "size") if settings.get(name) is not None}
    shape = read_object(run / PROVENANCE).get("image_shape")
    own = ImagesSettings.of({"path": str(folder), **kept})
    return load_images(data_root(), own, None if shape is None else len(shape) == 3)
