"""Results that are kept in the repository: runs that take longer than a profile allows, ``recorded/runs/*.json``.

``make record`` (:mod:`semicrowd.report.record`) writes these files, and nothing else does; the report shows them beside
what the selected profile has run, and ``make verify`` (:mod:`semicrowd.report.verify`) runs some of them again.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from filelock import FileLock

from semicrowd.errors import UserError
from semicrowd.files import write_json
from semicrowd.report.runs import Run

FOLDER = Path("recorded/runs")
#: Keeps two programs from writing at once.
LOCK = Path("runs/recorded.lock")


@dataclass(frozen=True)
class RecordedRun:
    """One run, and where its numbers come from.

    Attributes
    ----------
    run : its seed, settings and metrics, as the report takes them
    arguments : of ``src/train.py``, with which anybody can have it again
    commit, date : of the code, and when it began
    processor : what it was computed on; the same bytes can be expected of the same processor alone
    versions : of the packages that compute
    data_hashes : file → sha256
    """

    run: Run
    arguments: list[str]
    commit: str
    date: str
    processor: str
    versions: dict[str, str]
    data_hashes: dict[str, str]
    notes: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Of the fit, by the clock."""
        return self.run.metrics["seconds/fit"]

    @property
    def place(self) -> tuple[int, str]:
        """What it is within its experiment: seed, and point of a sweep."""
        return self.run.seed, json.dumps(self.run.point, sort_keys=True)


def read(folder: Path = FOLDER) -> dict[str, list[RecordedRun]]:
    """Every recorded experiment's runs, in the order of their seeds.

    Raises
    ------
    UserError
        For a file that is not one of these.
    """
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            found[path.stem] = [RecordedRun(**{**one, "run": Run.from_json(one["run"])}) for one in content["runs"]]
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"{path}: not a file of make record ({error})") from None
    return found


def write(experiment: str, runs: Sequence[RecordedRun], folder: Path = FOLDER) -> Path:
    """Put runs into their experiment's file, each in the place of an older one of its seed and point; the file."""
    path = folder / f"{experiment}.json"
    LOCK.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(LOCK):
        known = {one.place: one for one in [*read(folder).get(experiment, []), *runs]}
        entries = (known[place] for place in sorted(known))
        write_json(path, {"runs": [asdict(one) | {"run": one.run.to_json()} for one in entries]})
    return path
