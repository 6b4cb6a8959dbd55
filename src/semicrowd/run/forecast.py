"""Forecast of a fit's time and memory: a wide range, derived from recorded fits with settings by the rule."""

from collections.abc import Collection
from typing import NamedTuple

from semicrowd.defaults.facts import Facts

#: Seconds of co-training on 200 items with few answers, of one core (median of recorded/suite, 150 to 2,000 items).
_SECONDS = 10.0
_ITEMS = 200
#: Power of the number of items with which the seconds grow: 60,000 items took 253 s, a million 517 s
#: (docs/BENCHMARKS.md, Size).
_POWER = 0.5
#: Additional seconds for each answer: 190,000 answers took about 200 s on tables of 300 to 700 items.
_ANSWER = 0.001
#: Seconds of a fit without answers, which only uses the features, and additional seconds for each item.
_ALONE = 0.1
_ITEM_ALONE = 0.0006
#: The range is from the estimate divided by this factor to the estimate times it; 9 of 10 recorded fits lie within.
_RANGE = 4.0
#: Additional seconds for each item, for models that start with co-training; items beyond _MOST_PASSES do not count.
_NETWORKS = 0.01
_MOST_PASSES = 10_000
_METHODS = ("cotrain", "scdc", "bayes")
#: Settings, or groups of them, on which the time depends; where the user has chosen one, no recorded fit is comparable.
_DECISIVE = frozenset({"protocol", "epochs", "restarts", "batch_size", "nets", "start", "trainer", "views"})
#: Minimum and maximum seconds of a fit of grey images, whose number of steps does not depend on the number of images.
_PICTURES = (120.0, 900.0)
#: GiB of memory of the program itself, and bytes of memory for each cell of the table and for each answer.
_PROGRAM = 0.65
_CELL = 42
_PAIR = 200


class Forecast(NamedTuple):
    """Seconds of one core, at least and at most, and GiB of memory."""

    least: float
    most: float
    gib: float

    def __str__(self) -> str:
        return f"{_time(self.least)} to {_time(self.most)} of one core, {self.gib:.1f} GiB of memory"


def forecast(method: str, facts: Facts, given: Collection[str] = ()) -> Forecast | None:
    """Forecast for co-training and the models that start with it; None for other methods.

    Also None if one of the settings ``given`` by the user (dotted names) decides how long the models are trained.
    """
    if method not in _METHODS:
        return None
    if method != "cotrain" and not _DECISIVE.isdisjoint(name.partition(".")[0] for name in given):
        return None
    gib = _PROGRAM + (_CELL * facts.num_items * facts.num_features + _PAIR * facts.num_answers) / 2**30
    grey = facts.image_shape is not None and len(facts.image_shape) == 2 and facts.unit_interval
    if grey and method != "cotrain":
        return Forecast(*_PICTURES, gib)
    middle = _ALONE + _ITEM_ALONE * facts.num_items
    if facts.num_answers:
        middle = _SECONDS * (facts.num_items / _ITEMS) ** _POWER + _ANSWER * facts.num_answers
    if method != "cotrain":
        middle += _NETWORKS * min(facts.num_items, _MOST_PASSES)
    return Forecast(middle / _RANGE, middle * _RANGE, gib)


def _time(seconds: float) -> str:
    return f"{max(seconds, 1):.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
