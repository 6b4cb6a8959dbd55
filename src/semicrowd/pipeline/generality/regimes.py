"""Regimes of answers of the generality suite."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from semicrowd.settings.realistic import EFFECTS

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
