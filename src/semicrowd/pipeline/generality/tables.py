"""Data sets of the generality suite, and the regimes under which answers about them are simulated."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from semicrowd.data.embedding import MISSING, installed
from semicrowd.data.npz import find, where_to_put
from semicrowd.settings.data import EFFICIENTNET_LITE0
from semicrowd.settings.realistic import EFFECTS

#: Number of items that are sampled from a larger table, to save time.
_DRAWN = 2000


@dataclass(frozen=True)
class Table:
    """A data set of the suite.

    Attributes
    ----------
    loader, options : arguments of :func:`semicrowd.data.load_dataset`
    regimes : regimes under which it is measured; None for all but those in ``regimes.OWN``
    embedded : whether the features are those of a network that was trained on labelled photographs
    """

    loader: str = "benchmark"
    options: Mapping[str, Any] = field(default_factory=dict)
    regimes: tuple[str, ...] | None = None
    embedded: bool = False


def _crowd(name: str, *regimes: str, embedded: bool = False) -> Table:
    """A file with answers of people; it is measured with these answers and under the given regimes."""
    return Table("npz", {"path": name}, regimes=("crowd", *regimes), embedded=embedded)


def _file(name: str, **options: Any) -> Table:
    """A table in a file that the user provides."""
    return Table("npz", {"path": name, **options})


#: Data sets on which decisions about the methods are made.
DEVELOPMENT: dict[str, Table] = {
    **{name: Table(options={"which": name}) for name in ("iris", "wine", "digits")},
    "pen": Table(options={"which": "pen", "subset": _DRAWN}),
    "letter_first": Table(options={"which": "letter", "classes": [*ascii_uppercase[:10]], "subset": _DRAWN}),
    "pinwheel": Table("pinwheel"),
    "face": Table("face"),
    "mnist": Table("mnist", {"subset": _DRAWN}),
    "families": Table(options={"which": "families"}, regimes=("hard",)),
    # Locked until they were evaluated in November 2026.
    "letter_last": Table(options={"which": "letter", "classes": [*ascii_uppercase[-10:]], "subset": _DRAWN}),
    **{name: Table(options={"which": name, "columns": 500}) for name in ("leukaemia", "lung")},
    **{name: Table(options={"which": name, "subset": _DRAWN}) for name in ("activities", "texts", "wifi_1", "wifi_11")},
    "wifi_14": Table(options={"which": "wifi_14"}),
    # The photographs and features of the first three are the same.
    "birds5_pairs": _crowd("birds5_pairs", "none", embedded=True),
    "birds5_triples_quads": _crowd("birds5_triples_quads", embedded=True),
    "birds5_sorted": _crowd("birds5_sorted", embedded=True),
    "cifar10s": _crowd("cifar10s", "none", embedded=True),
    "weather_tweets": _crowd("weather_tweets", "none"),
    "felix_cats": _crowd("felix_cats", "none", embedded=True),
    "cifar10_embedded": Table(
        "cifar10", {"features": EFFICIENTNET_LITE0, "subset": _DRAWN}, ("pairs90", "misplaced5", "misplaced", "none"),
        embedded=True,
    ),
    # It has 1,162 classes, most of them with one or two items.
    "product_matching": _crowd("product_matching"),
    "segment": _file("segment", subset=_DRAWN),
    **{name: _file(name) for name in ("vehicle", "ecoli", "olive", "mice_protein", "banknote", "ionosphere")},
}  # fmt: skip
#: Locked data sets, which are evaluated once, at the end. No decision may be based on them.
LOCKED: dict[str, Table] = {
    "labelme": _crowd("labelme", "none", embedded=True),
    "music_genre": _crowd("music_genre", "none"),
    "faces_expression": _crowd("faces_expression", "none"),
    "satimage": _file("satimage", subset=_DRAWN),
    "texture": _file("texture", subset=_DRAWN),
    "movement_libras": _file("movement_libras"),
    "seeds": _file("seeds"),
    "cardiotocography": _file("cardiotocography", subset=_DRAWN),
    "steel_faults": _file("steel_faults"),
    "crabs": _file("crabs"),
}
TABLES = DEVELOPMENT | LOCKED


def missing_file(name: str, root: Path) -> str:
    """Message about a data set whose file is missing, or whose network is not installed; else empty."""
    table = TABLES[name]
    if table.options.get("features") == EFFICIENTNET_LITE0 and not installed():
        return MISSING
    if table.loader != "npz" or find(table.options["path"], root) is not None:
        return ""
    return where_to_put(table.options["path"], root)


#: Minimum number of items with answers, which matters for small tables.
_FEWEST = 20
#: Number of tasks that contain each annotated item.
_PLACEMENTS = 3
#: Number of annotators who answer about pairs.
_ASKED = 10
_TASK_SIZE = (12, 20)


@dataclass(frozen=True)
class Regime:
    """How answers are simulated.

    Attributes
    ----------
    kind : kind of answers: ``none``; ``crowd``, the real answers that belong to the data; ``two_coin`` and
        ``realistic``, about pairs; ``tasks`` and ``realistic_tasks``, about tasks
    share : share of the items that get answers; at least 20 items get some
    options : further options of the kind
    """

    kind: str
    share: float = 0.2
    options: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, num_items: int) -> dict[str, Any]:
        """Options of :func:`semicrowd.data.answers.load_annotations`.

        Pairs: ten annotators, ten answers for each annotated item. Tasks: groupings of 12 to 20 items, each annotated
        item in three of them, an annotator for every four tasks (3 to 30 annotators).
        """
        if self.kind in ("none", "crowd"):
            return {}
        annotated = min(num_items, max(_FEWEST, round(self.share * num_items)))
        if self.kind in ("two_coin", "realistic"):
            return {
                "num_annotators": _ASKED, "pairs_per_annotator": annotated, "num_annotated": annotated, **self.options
            }  # fmt: skip
        tasks = math.ceil(_PLACEMENTS * annotated / (sum(_TASK_SIZE) / 2))
        return {
            "num_annotated": annotated, "num_tasks": tasks, "num_annotators": min(tasks, max(3, min(30, tasks // 4))),
            "task_size": _TASK_SIZE, "sensitivity": 1.0, "specificity": 1.0, **self.options,
        }  # fmt: skip


def _with(kind: str, **effects: float) -> Regime:
    """A regime with these effects and no others."""
    return Regime(kind, options={**dict.fromkeys(EFFECTS, 0.0), **effects})


#: Share of misplaced items in regimes that are named after another kind of error.
_SOME = 0.05
REGIMES: dict[str, Regime] = {
    "pairs90": Regime("two_coin", options={"sensitivity": 0.9, "specificity": 0.9}),
    "pairs75": Regime("two_coin", options={"sensitivity": 0.75, "specificity": 0.75}),
    # About what README recommends to begin with; there, the three annotators answer about the same pairs.
    "first_pairs": Regime(
        "two_coin", 1.0, {"num_annotators": 3, "pairs_per_annotator": 200, "sensitivity": 0.9, "specificity": 0.9}
    ),
    "misplaced5": Regime("tasks", 0.05, {"misplaced": 0.1}),
    "misplaced": Regime("tasks", options={"misplaced": 0.1}),
    "misplaced100": Regime("tasks", 1.0, {"misplaced": 0.1}),
    "merging": Regime("tasks", options={"merging": 0.5, "misplaced": _SOME}),
    "guessing": Regime("tasks", options={"guessing": 1 / 3, "misplaced": _SOME}),
    # Dependent errors: one effect at a time, then all effects together, each half as strong.
    "hard_items": _with("realistic", hardness=0.2),
    "confused_kinds": _with("realistic", confused=0.5, confusion=0.6),
    "other_axis": _with("realistic", other_axis=0.3),
    "lazy": _with("realistic", lazy=0.4),
    "drift": _with("realistic", drift=0.8),
    "copying": _with("realistic", copying=0.4, sensitivity=0.85, specificity=0.85),
    "mixed": Regime("realistic"),
    "mixed_tasks": Regime("realistic_tasks"),
    # Every annotator answers "same" to half of the pairs, whatever their classes: sensitivity is 1 − specificity.
    "chance": Regime("two_coin", options={"sensitivity": 0.5, "specificity": 0.5}),
    "none": Regime("none"),
    "crowd": Regime("crowd"),
    # For the generated table ``families``, 4,500 items in 14 classes, many of which are often confused.
    "hard": Regime(
        "tasks", 800 / 4500,
        {"num_tasks": 350, "num_annotators": 50, "sensitivity": 0.87, "specificity": 0.77, "families": 4, "alike": 0.7},
    ),
}  # fmt: skip
#: Regimes that are only used for tables that name them.
OWN = ("hard", "crowd")
#: Regimes whose answers carry no information.
UNINFORMED = ("none", "chance")
