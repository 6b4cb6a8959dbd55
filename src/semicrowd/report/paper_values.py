"""Every result that the papers print, with the table or figure and the cell where it stands.

Accuracies and NMI are fractions (the papers partly print per cent), times are seconds an epoch. A figure whose curves
have no printed numbers has no entry here: its exhibit says so.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperValue:
    """One printed number.

    Attributes
    ----------
    exhibit
        Key of the table or figure in :data:`semicrowd.report.exhibits.EXHIBITS`.
    cell
        Row or panel, in the paper's words as far as possible.
    quantity
        ``accuracy``, ``nmi``, ``clusters`` or ``seconds_per_epoch``.
    value
        The number: a fraction, a count or seconds.
    sd
        Standard deviation over runs, where the paper prints one.
    """

    exhibit: str
    cell: str
    quantity: str
    value: float
    sd: float | None = None


def _values(exhibit: str, cell: str, **numbers: float | tuple[float, float]) -> list[PaperValue]:
    return [
        PaperValue(exhibit, cell, quantity, *(number if isinstance(number, tuple) else (number,)))
        for quantity, number in numbers.items()
    ]


# "NMI" of scdc.md's MNIST table is adjusted mutual information with the 'max' average (docs/DEVIATIONS.md, row 2).
PAPER_VALUES: tuple[PaperValue, ...] = (
    # Section 5.1, the text about Fig. 2: one run each.
    *_values("scdc/figure-2", "b: good initialisation, no answers", accuracy=0.956, nmi=0.91, clusters=8),
    *_values("scdc/figure-2", "c: bad initialisation, no answers", accuracy=0.756, nmi=0.806),
    *_values("scdc/figure-2", "d: with answers", accuracy=0.966, nmi=0.94, clusters=6),
    # Table 1: mean and standard deviation over 5 runs, each the best of 10 initialisations.
    *_values("scdc/table-1", "SCDC, without", accuracy=(0.6592, 0.0347), nmi=(0.6953, 0.0167), seconds_per_epoch=177.3),
    *_values("scdc/table-1", "SCDC, with", accuracy=(0.8187, 0.0386), nmi=(0.7657, 0.0233), seconds_per_epoch=201.7),
    *_values(
        "scdc/table-1", "BayesSCDC, without", accuracy=(0.7764, 0.0397), nmi=(0.7944, 0.0178), seconds_per_epoch=11.2
    ),
    *_values(
        "scdc/table-1", "BayesSCDC, with", accuracy=(0.8424, 0.0552), nmi=(0.8120, 0.0210), seconds_per_epoch=16.4
    ),
    # Section 5.3, the text about Fig. 4b: 5 runs.
    *_values("scdc/figure-4b", "SCDC, without", accuracy=(0.1423, 0.0069), nmi=(0.0424, 0.0119)),
    *_values("scdc/figure-4b", "SCDC, with", accuracy=(0.5009, 0.0008), nmi=(0.5549, 0.0028)),
    # Appendix C, the text about Fig. 5: best of 5 runs on CIFAR-10.
    *_values("scdc/figure-5", "deep MCVC on CIFAR-10, best of 5 runs", nmi=0.44),
    *_values("scdc/figure-5", "SCDC on CIFAR-10", nmi=0.55),
)


def paper_value(exhibit: str, cell: str, quantity: str) -> PaperValue:
    """The one entry with this address.

    Raises
    ------
    KeyError
        If the paper prints no such number.
    """
    for entry in PAPER_VALUES:
        if (entry.exhibit, entry.cell, entry.quantity) == (exhibit, cell, quantity):
            return entry
    raise KeyError(f"no printed value for {exhibit}, {cell}, {quantity}")


def values_of(exhibit: str) -> tuple[PaperValue, ...]:
    """All entries of one table or figure, in the paper's order."""
    return tuple(entry for entry in PAPER_VALUES if entry.exhibit == exhibit)
