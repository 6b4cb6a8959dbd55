"""Settings of answers that a user brings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semicrowd.settings.fields import Settings, flag, setting

#: Help of a setting that files of answers and the answers that come with data have.
ANONYMISE = "call annotators by salted hashes of their names in everything that a run keeps"


def _path(value: Any) -> str | None:
    return None if isinstance(value, str | Path) and str(value).strip() else "the path of a file"


class AnswerSettings(Settings):
    """Of a kind of answers."""

    group = "annotations"


@dataclass(frozen=True)
class FileSettings(AnswerSettings):
    """Your own answers, annotations.path=<csv>: pairs, groupings or classes of items.

    Items are called by their ids or counted from 0. Pairs i,j have a label, 1 (same) or 0 (different), or a word:
    true/false, same/different, yes/no, must-link/cannot-link. Or each item has the group, or the label, that a worker
    gave it: two items of one task (without a column task: of one worker) are the same if their groups are. Without a
    column worker one person gave all answers.
    """

    path: str | Path | None = setting(
        None, "csv with i,j,label or item,group or item,label, and perhaps worker and task", _path, optional=True
    )
    must_link: str | Path | None = setting(
        None, "csv of pairs i,j that are known to be the same, besides or in place of annotations.path; co-training "
        "takes them for nearly certain (with a column worker: for answers of these people)", _path, optional=True
    )
    cannot_link: str | Path | None = setting(
        None, "csv of pairs i,j that are known to be different", _path, optional=True
    )
    history: str | Path | None = setting(
        None, "workers.csv of an earlier run about other items: what it says of the same people counts as earlier "
        "answers of theirs, in co-training and in starts by it", _path, optional=True,
    )
    skip_unknown: bool = setting(False, "leave out answers about items that are not there, and say how many", flag())
    anonymise: bool = setting(False, ANONYMISE, flag())
