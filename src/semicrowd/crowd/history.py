"""What earlier answers of the same annotators about other items tell of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float
from scipy.optimize import brentq
from scipy.stats import beta

from semicrowd.errors import UserError

_RATES = ("sensitivity", "specificity")
#: Probability of the intervals of workers.csv.
_LEVEL = 0.9
#: Smallest and largest number of answers in a history (pseudo-counts).
_COUNTS = 0.1, 1e4
#: Number of points of the grid over the numbers of answers, in which the width of the interval is searched.
_GRID = 60
#: Lower bound of a rate and of its distance to 1.
_MIN_RATE = 1e-4


def assumed_right(history: Float[np.ndarray, "M 2 2"]) -> Bool[np.ndarray, "M"]:
    """Whether a history has no wrong answers, but right ones about both kinds of pairs, as that of known links."""
    right: np.ndarray = (history[..., 0] > 0).all(1) & (history[..., 1] == 0).all(1)
    return right


def crowd_of(history: Float[np.ndarray, "M 2 2"]) -> Bool[np.ndarray, "M"]:
    """The annotators for whom a common prior is estimated: all but known links, unless there are only known links."""
    crowd = ~assumed_right(history)
    return crowd if crowd.any() else ~crowd


def read_history(table: Path | pd.DataFrame, worker_names: Sequence[str]) -> Float[np.ndarray, "M 2 2"]:
    """Numbers of right and wrong answers that represent the rates in workers.csv of a run; 0 for new annotators.

    They are the shapes of the Beta distribution with the same mean and the same width of the 90 % interval.

    Raises
    ------
    UserError
        As :func:`rates_of`, and if none of these annotators is in the file.
    """
    values = rates_of(table)
    known = {number: name for number, name in enumerate(worker_names) if name in values.index}
    if not known:
        people = f"{len(worker_names)} annotators"
        raise UserError(f"{_called(table)}: none of the {people} is in it, such as {worker_names[0]}")
    history = np.zeros((len(worker_names), 2, 2))
    for number, name in known.items():
        history[number] = [_counts(*values.loc[name, [rate, f"{rate}_low", f"{rate}_high"]]) for rate in _RATES]
    return history


def rates_of(source: Path | pd.DataFrame) -> pd.DataFrame:
    """Estimated rates and their intervals in workers.csv of a run or such a table, a row for each annotator, by name.

    Raises
    ------
    UserError
        If columns are missing, an annotator is listed twice, or a value is not a rate between 0 and 1.
    """
    columns = [f"{rate}{end}" for rate in _RATES for end in ("", "_low", "_high")]
    try:
        table = source
        if isinstance(table, Path):
            table = pd.read_csv(table, dtype={"annotator": str}, keep_default_na=False, na_values=[""])
        values = table.astype({"annotator": str}).set_index("annotator")[columns].astype(float)
    except (ValueError, KeyError, OSError) as error:
        raise UserError(
            f"{_called(source)}: expected the workers.csv of a run, with annotator, {', '.join(columns)}"
        ) from error
    ordered = all((values[f"{rate}_low"] <= values[f"{rate}_high"]).all() for rate in _RATES)
    shares = ((values >= 0) & (values <= 1)).all(axis=None)  # and none of them is missing
    if not (values.index.is_unique and shares and ordered):
        raise UserError(f"{_called(source)}: expected each annotator once, with rates and intervals in 0 … 1")
    return values


def _called(source: Path | pd.DataFrame) -> str:
    """The setting that gave the rates, for a message."""
    return f"annotations.history={source}" if isinstance(source, Path) else "history"


def _counts(mean: float, low: float, high: float) -> tuple[float, float]:
    """Shapes of the Beta distribution with this mean whose interval has the width ``high`` − ``low``."""
    mean = min(max(mean, _MIN_RATE), 1 - _MIN_RATE)

    def excess(log_count: Any) -> Any:
        count = np.exp(log_count)
        one, other = beta.interval(_LEVEL, mean * count, (1 - mean) * count)
        return other - one - (high - low)

    grid = np.log(np.geomspace(*_COUNTS, _GRID))
    wider = excess(grid) > 0
    # There may be two solutions, of which the one with more answers is taken: with nearly no answers the
    # interval is narrow, too, at 0 or at 1.
    last = int(np.flatnonzero(wider).max(initial=-1))
    if 0 <= last < _GRID - 1:
        count = float(np.exp(brentq(excess, grid[last], grid[last + 1])))
    else:
        count = _COUNTS[0 if last < 0 else 1]
    return mean * count, (1 - mean) * count
