"""One cell of a table: the paper's number, ours, and the runs behind ours."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

#: Ending of a quantity that is a difference between two methods on the same seeds, items and answers.
PAIRED = ", paired"


@dataclass(frozen=True)
class PaperValue:
    """One number that a paper prints.

    Attributes
    ----------
    cell : row or panel, in the paper's words as far as possible
    quantity : ``accuracy``, ``nmi``, ``f1``, ``clusters``, ``count`` or ``seconds_per_epoch``
    value : the number: a fraction (a paper may print per cent), a count or seconds
    sd : standard deviation over runs, where the paper prints one
    """

    cell: str
    quantity: str
    value: float
    sd: float | None = None


@dataclass(frozen=True)
class Summary:
    """Mean and standard deviation of one number over runs.

    Attributes
    ----------
    mean, sd : in the unit of the metric; ``sd`` is the sample standard deviation, None for a single run
    seeds : seeds of the runs, in their order
    drawn : how many numbers are averaged, if a run gives several; None: one for each run
    """

    mean: float
    sd: float | None
    seeds: tuple[int, ...]
    drawn: int | None = None

    @property
    def num_runs(self) -> int:
        """n: how many numbers are averaged."""
        return len(self.seeds) if self.drawn is None else self.drawn


def summarise(values: Sequence[float], seeds: Sequence[int]) -> Summary | None:
    """Mean ± sd over runs; None without runs.

    Raises
    ------
    ValueError
        If a value is not finite or the lengths differ: such a run has failed and must not hide in a mean.
    """
    if len(values) != len(seeds):
        raise ValueError(f"{len(values)} values for {len(seeds)} seeds")
    if not values:
        return None
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).all():
        raise ValueError(f"not all values are finite: {list(values)}")
    sd = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    return Summary(float(numbers.mean()), sd, tuple(int(seed) for seed in seeds))


@dataclass(frozen=True)
class Cell:
    """The paper's number, ours, and why they may differ.

    Attributes
    ----------
    cell, quantity : which row or panel, and what is measured
    paper : the printed number; None for a number of ours that the paper does not give
    ours : None while there is no finished run
    remark : why our number is missing ("not yet done", "data not available here: …", "failed: …"), or that its answers
        are *simulated*; empty otherwise
    deviations : how our protocol differs from the paper's
    """

    cell: str
    quantity: str
    paper: PaperValue | None = None
    ours: Summary | None = None
    remark: str = ""
    deviations: tuple[str, ...] = field(default_factory=tuple)

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's; None where one is missing."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours.mean - self.paper.value


def format_number(value: float, quantity: str) -> str:
    """Format a number with the digits that suit its quantity."""
    if quantity in ("clusters", "count"):
        return f"{value:.1f}".removesuffix(".0")
    text = f"{value:.1f} s" if quantity == "seconds_per_epoch" else f"{value:.3f}"
    return text.replace("-", "−")


def format_value(mean: float, sd: float | None, quantity: str) -> str:
    """``mean ± sd``, or the mean alone."""
    text = ("+" if quantity.endswith(PAIRED) and mean >= 0 else "") + format_number(mean, quantity)
    return text if sd is None else f"{text} ± {format_number(sd, quantity)}"


def format_difference(cell: Cell) -> str:
    """Ours minus the paper's with its sign; for times the ratio, since machines differ."""
    if cell.difference is None or cell.ours is None or cell.paper is None:
        return "–"
    if cell.quantity == "seconds_per_epoch":
        return f"× {cell.ours.mean / cell.paper.value:.2f}"
    sign = "+" if cell.difference >= 0 else "−"
    return sign + format_number(abs(cell.difference), cell.quantity)
