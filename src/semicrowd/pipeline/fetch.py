"""Stage ``fetch``: fetches the data files, and notes which are not available and how to get them."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from semicrowd.data.faces import fetch_faces
from semicrowd.data.fetch import PUBLIC, fetch
from semicrowd.data.formats import WANTED
from semicrowd.errors import UserError, without_traceback
from semicrowd.files import read_object, write_json
from semicrowd.pipeline.experiments import DATA

#: Data set → whether it is available. Stages depend on this file, so that it names no folder of a machine.
STATUS = DATA / "status.json"
#: Data set that is not available → how to get it on this machine.
MESSAGES = DATA / "missing.json"
#: Data set of the pipeline → function that fetches it.
DATA_SETS: dict[str, Callable[[Path], object]] = {
    "face": fetch_faces,
    **{name: partial(fetch, name) for name in (
        "mnist", "mnist_crowd", "cifar10", "cifar10h", "optdigits", "wifi", "homes", "letter", "pen", "leukaemia",
        "lung", "activities", "texts",
    )},
}  # fmt: skip
#: Data that may not be redistributed: folder → files that the user has to put there.
OWN = {
    "nus_animals": "table.csv, a row for each image of the 13 animals: 500 columns with its counts of visual words "
                   "(BoW_int of NUS-WIDE, National University of Singapore, on request) and a column label",
    "fifteen_scenes": "table.csv, a row for each image of the 15 scenes (Lazebnik, Schmid & Ponce 2006): 128 columns "
                      "with its counts of visual words and a column label",
    **WANTED,
}  # fmt: skip


def folder_of(name: str) -> Path:
    """Folder of a data set of the pipeline within the data folder."""
    return Path(name) if name in OWN else PUBLIC[name].folder


def fetch_all(root: Path) -> dict[str, str]:
    """Fetch every data set of the pipeline; returns for each how to get it, an empty text if it is available."""
    messages: dict[str, str] = {}
    for name in (*DATA_SETS, *OWN):
        (root / folder_of(name)).mkdir(parents=True, exist_ok=True)
    for name, what in OWN.items():
        messages[name] = "" if any((root / name).iterdir()) else f"{name}: put into {root / name}: {what}"
    for name, get in DATA_SETS.items():
        try:
            get(root)
            messages[name] = ""
        except UserError as error:
            messages[name] = str(error)
    return messages


def write_status(messages: Mapping[str, str]) -> None:
    """Keep what :func:`fetch_all` has found."""
    write_json(MESSAGES, {name: message for name, message in messages.items() if message})
    write_json(STATUS, {name: not message for name, message in messages.items()})


def why_missing(name: str) -> str:
    """How to get the data set called ``name``; empty if it is available."""
    try:
        available = json.loads(STATUS.read_text(encoding="utf-8"))[name]
    except (FileNotFoundError, KeyError) as error:
        raise UserError(f"{STATUS}: {name} is not in it; python -m semicrowd.pipeline.fetch makes it") from error
    how = f"{name}: python -m semicrowd.pipeline.fetch says how to get it"
    return "" if available else str(read_object(MESSAGES).get(name, how))


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.fetch``."""
    argparse.ArgumentParser(description="fetch the pipeline's data sets").parse_args(arguments)
    messages = fetch_all(DATA)
    write_status(messages)
    for name, message in messages.items():
        print(f"{name}: {f'not available here: {message}' if message else 'available'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
