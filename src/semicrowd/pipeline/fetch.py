"""Stage ``fetch``: the data files, and a note of what could not be had and how to get it."""

import argparse
import json
from pathlib import Path
from typing import Any

from semicrowd.data.fetch import fetch
from semicrowd.errors import UserError
from semicrowd.pipeline.experiments import DATA
from semicrowd.run.files import write_json

STATUS = DATA / "status.json"
#: Data sets of the pipeline, by the fetcher's names.
DATA_SETS = ("mnist", "mnist_crowd")


def fetch_all(root: Path) -> dict[str, Any]:
    """Fetch every data set of the pipeline; one that cannot be had leaves its message instead of stopping the rest."""
    status: dict[str, Any] = {}
    for name in DATA_SETS:
        (root / name).mkdir(parents=True, exist_ok=True)
        try:
            fetch(name, root)
            status[name] = {"available": True, "message": ""}
        except UserError as error:
            status[name] = {"available": False, "message": str(error)}
    return status


def why_missing(name: str, path: Path = STATUS) -> str:
    """How to get the data set called ``name``; empty where it is there."""
    status = json.loads(path.read_text(encoding="utf-8"))[name]
    return "" if status["available"] else str(status["message"])


def main(arguments: list[str] | None = None) -> None:
    """``python -m semicrowd.pipeline.fetch``."""
    argparse.ArgumentParser(description="fetch the pipeline's data sets").parse_args(arguments)
    status = fetch_all(DATA)
    write_json(STATUS, status)
    for name, entry in status.items():
        print(f"{name}: {'there' if entry['available'] else 'not available here: ' + entry['message']}")


if __name__ == "__main__":
    main()
