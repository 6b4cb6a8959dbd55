"""``python src/check.py``: checks data and answers before a fit.

Time and memory of the fit are forecast as a wide range, derived from recorded fits with settings by the rule.
"""

import sys
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.odd_answers import odd_answers, people
from semicrowd.data import Dataset
from semicrowd.data.odd_items import odd_items
from semicrowd.data.preparation import MAX_COMPONENTS
from semicrowd.errors import UserError, without_traceback
from semicrowd.evaluation.columns_and_answers import revealing_columns, telling_columns
from semicrowd.run.inputs import facts_of, load_answers, load_data, load_files, refuse_swapped_files
from semicrowd.run.settings import Resolved, check_given, sources
from semicrowd.settings.rule import Facts

#: Seconds of co-training that is not fitted again: the first of these, plus the second times powers of the numbers of
#: items, columns (at most 100 principal components) and annotated items. Chosen for the table that
#: ``benchmarks/run.py forecasts`` prints.
_ANY, _SECONDS = 2.0, 0.027
_POWER_ITEMS, _POWER_COLUMNS, _POWER_ANNOTATED = 0.2, 0.3, 0.66
#: The forecast begins at the first of these times that many seconds, and ends at the second times as many.
_LEAST, _MOST = 0.6, 3.0
#: If candidates are fitted again, it takes up to the first of these times as long. The more answers an item has, the
#: less likely this is: with each further number of answers as the second, the extra time falls to 37 %.
_AGAIN, _ANSWERS_EACH = 18.0, 10.0
#: Up to so many times as long if answers come in tasks of several pairs, which are then counted in two ways.
_TWO_WAYS = 1.5
#: Seconds of a fit without answers, which only uses the features, and additional seconds for each item.
_ALONE = 0.1
_ITEM_ALONE = 0.0006
#: The range of the time without answers is from the estimate divided by this factor to the estimate times it.
_RANGE_ALONE = 4.0
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
    least, most = seconds_of_cotraining(facts)
    if method != "cotrain":
        networks = _NETWORKS * min(facts.num_items, _MOST_PASSES)
        least, most = least + networks / 2, most + 2 * networks
    return Forecast(least, most, gib)


def seconds_of_cotraining(facts: Facts) -> tuple[float, float]:
    """Seconds of one core at least and at most; the most is for candidates in doubt, which are fitted again."""
    if not facts.num_answers:
        middle = _ALONE + _ITEM_ALONE * facts.num_items
        return middle / _RANGE_ALONE, middle * _RANGE_ALONE
    columns, annotated = min(facts.num_features, MAX_COMPONENTS), max(facts.num_annotated, 1)
    powers = facts.num_items**_POWER_ITEMS * columns**_POWER_COLUMNS * annotated**_POWER_ANNOTATED
    once = _ANY + _SECONDS * powers
    again = _AGAIN * np.exp(-facts.num_answers / (_ANSWERS_EACH * annotated))
    ways = _TWO_WAYS if 0 < facts.num_tasks < facts.num_answers else 1.0
    return _LEAST * once, (_MOST + again) * once * ways


def _time(seconds: float) -> str:
    return f"{max(seconds, 1):.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


#: Maximum number of annotators in the printed table; workers.csv of a run has all of them.
_MOST_PEOPLE = 30
#: A run prints its forecast if it may take more seconds than this.
_LONG = 60.0
_PAGE = """\
Check data and answers before a fit: how each column is used, what looks wrong and how to correct it, and how long a fit
will take.

usage: python src/check.py <file or folder of the items> [<file of answers> ...] [key=value ...]

The settings are those of src/train.py (python src/train.py --help data=table). The paths may also be written
data.path=<file or folder> annotations.path=<file>; data=table, data=images and annotations=file follow from them. No
file is written, except that a network's features of pictures are kept for the fit. Exit codes: 0 a fit can begin, 2
something has to be corrected first.
"""


@without_traceback
def main(arguments: Sequence[str]) -> int:
    """Run ``src/check.py`` with the arguments after its name; returns the exit code."""
    # Imported here: every run imports this module for tell(), and does not need the command line of check.py.
    from semicrowd.run.commandline import as_typed

    if not arguments or not {"-h", "--help"}.isdisjoint(arguments):
        print(as_typed(_PAGE), end="")
        return 0
    from semicrowd.run.commandline.arguments import completed, parse
    from semicrowd.run.commandline.mistakes import explain, is_mistake
    from semicrowd.run.composition import composed

    try:
        others, more = completed(arguments)
        given = composed(parse([*others, *more]).overrides)
        check_given(given)
        return check(sources(given).content, given.values)
    except Exception as error:
        if not is_mistake(error):
            raise
        raise UserError(as_typed(str(explain(error, arguments)))) from error


def check(content: dict[str, Any], given: Collection[str] = ()) -> int:
    """Print the checks of data and answers; returns the exit code.

    Parameters
    ----------
    content : settings as in config.yaml
    given : dotted names of the settings that the user has given

    Raises
    ------
    UserError
        For data that cannot be read. If the answers cannot be used, a line ``error: …`` is printed instead.
    """
    refuse_swapped_files(content)
    answers, files, wrong = None, None, ""
    try:
        files = load_files(content)  # before the data: a folder of images can take minutes
    except UserError as error:
        wrong = str(error)
    data = load_data(content)
    try:
        answers = None if wrong else load_answers(content, data, files)
    except UserError as error:
        wrong = str(error)
    method = content["model"]["name"]
    print(f"data: {data.num_items:,} items, {data.num_features:,} features")
    if answers is not None:
        share = len(answers.annotated) / data.num_items
        sizes = np.bincount(answers.question)
        several = sizes[sizes > 1]  # answers about single pairs may stand beside groupings, each as a task of its own
        alone = "" if len(several) == len(sizes) else f", {several.sum():,} of them"
        number = f"{len(several):,} task{'s' * (len(several) > 1)}"
        tasks = f"{alone} in {number}" if answers.num_tasks and len(several) else ""
        rest = data.num_items - len(answers.annotated)
        others = "the other item is" if rest == 1 else f"the other {rest:,} items are"
        people_of = "1 person" if answers.num_annotators == 1 else f"{answers.num_annotators} people"
        print(f"answers: {answers.num_pairs:,} about pairs{tasks}, {answers.label.mean():.0%} 'same', by {people_of} "
              f"about {len(answers.annotated):,} items ({share:.0%}); {others} clustered by their features alone")
        print(table_of_people(people(answers)))
    for line in (*data.notes, *(() if answers is None else answers.notes)):
        print(f"note: {line}")
    for line in oddities(data, answers):
        print(f"check: {line}")
    for line in () if answers is None else telling_columns(data, answers):
        print(f"note: {line}")
    if wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    duration = forecast(method, facts_of(data, answers), given)
    print(f"a fit by model={method}: {duration or 'no forecast of its time'}")
    return 0


def oddities(data: Dataset, answers: PairAnnotations | None) -> list[str]:
    """Warnings about unusual data and answers, one line each."""
    if answers is None or answers.simulated:
        return odd_items(data)
    return [*odd_items(data), *odd_answers(answers, data.names), *revealing_columns(data, answers)]


def tell(settings: Resolved, data: Dataset, answers: PairAnnotations | None) -> None:
    """Print what the user should know about data and answers before a fit, to standard error."""
    for line in (*data.notes, *(() if answers is None else answers.notes)):
        print(f"note: {line}", file=sys.stderr)
    if data.name in ("table", "images"):
        for line in oddities(data, answers):
            print(f"check: {line}", file=sys.stderr)
    duration = forecast(settings.choices["model"], facts_of(data, answers), settings.given)
    if duration is not None and duration.most > _LONG:
        print(f"note: a fit of this size takes {duration}", file=sys.stderr)


def table_of_people(table: pd.DataFrame) -> str:
    """An aligned table of each annotator's answers and agreement with the majority of the others."""
    rows = [("worker", "answers", "same", "different", "as most others")]
    for row in table.head(_MOST_PEOPLE).itertuples():
        agree = f"{row.agree:.0%} of {row.compared}, by chance {row.chance:.0%}" if row.compared else "none in common"
        rows.append((row.worker, str(row.answers), str(row.same), str(row.different), agree))
    more = f"\n  … and {len(table) - _MOST_PEOPLE} more" if len(table) > _MOST_PEOPLE else ""
    return _aligned(rows) + more


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [min(max(map(len, column)), 40) for column in zip(*rows, strict=True)]
    return "\n".join("  " + "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
                     for row in rows)
