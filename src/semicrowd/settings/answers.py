"""Settings of the user's own answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from semicrowd.settings.fields import Settings, each, either, file_path, flag, mapping, number, setting, text

#: Help text of ``anonymise``, a setting of answers in files and of real answers that belong to a data set.
ANONYMISE = "replace the annotators' names by salted hashes in all files of a run"


class AnswerSettings(Settings):
    """Base class of the settings of a source of answers."""

    group = "annotations"


@dataclass(frozen=True)
class FileSettings(AnswerSettings):
    """Your own answers, annotations.path=<csv>: pairs, groupings or classes of items.

    Items are identified by their ids, or by row numbers from 0. Pairs i,j have a label, 1 (same) or 0 (different), or
    a word: true/false, same/different, yes/no, must-link/cannot-link. Alternatively each row gives the group, or the
    class, to which a worker has assigned an item: two items of a task (without a column task: of a worker) are "same"
    if their groups are equal. Without a column worker all answers are assigned to one person.
    """

    path: str | Path | None = setting(
        None, "csv with i,j,label or item,group or item,label, and optionally worker and task", file_path(),
        optional=True,
    )
    must_link: str | Path | None = setting(
        None, "csv of pairs i,j that are known to be the same, in addition to annotations.path or instead of it; "
        "co-training, SCDC and BayesSCDC give them a reliability of nearly 1 (with a column worker they are answers of "
        "these people)",
        file_path(), optional=True,
    )
    cannot_link: str | Path | None = setting(
        None, "csv of pairs i,j that are known to be different", file_path(), optional=True
    )
    history: str | Path | None = setting(
        None, "workers.csv of an earlier run about other items: its estimates of the same people are used as if they "
        "had given as many answers before; by co-training, SCDC and BayesSCDC", file_path(), optional=True,
    )
    columns: Mapping[str, str] | None = setting(
        None, "names of the columns in the file, such as {i: left_image, j: right_image, label: verdict}, if they are "
        "not recognised", mapping(("i", "j", "item", "label", "group", "worker", "task"), "{worker: coder}"),
        optional=True,
    )
    same_words: Sequence[str | float] = setting(
        (), "further words for the answer same, such as [gleich,oui]", each(either(text(), number()), "[gleich,oui]")
    )
    different_words: Sequence[str | float] = setting(
        (), "further words for the answer different, such as [verschieden,-1]",
        each(either(text(), number()), "[verschieden,-1]"),
    )
    skip_unknown: bool = setting(False, "leave out answers about unknown items, and report how many", flag())
    anonymise: bool = setting(False, ANONYMISE, flag())
