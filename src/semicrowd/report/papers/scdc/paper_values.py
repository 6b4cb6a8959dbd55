"""The numbers that the SCDC paper prints, by table and figure.

Accuracies and NMI are fractions (the paper partly prints per cent), times are seconds an epoch. A figure whose curves
have no printed numbers is not here.
"""

from semicrowd.report.cells import PaperValue


def _values(cell: str, **numbers: float | tuple[float, float]) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(cell, quantity, *(number if isinstance(number, tuple) else (number,)))
        for quantity, number in numbers.items()
    )


# Section 5.1, the text about Fig. 2: one run each.
FIGURE_2 = (
    *_values("b: good initialisation, no answers", accuracy=0.956, nmi=0.91, clusters=8),
    *_values("c: bad initialisation, no answers", accuracy=0.756, nmi=0.806),
    *_values("d: with answers", accuracy=0.966, nmi=0.94, clusters=6),
)
# Mean and standard deviation over 5 runs, each the best of 10 initialisations. "NMI" of this table is adjusted mutual
# information with the 'max' average (docs/DEVIATIONS.md, row 2).
TABLE_1 = (
    *_values("SCDC, without", accuracy=(0.6592, 0.0347), nmi=(0.6953, 0.0167), seconds_per_epoch=177.3),
    *_values("SCDC, with", accuracy=(0.8187, 0.0386), nmi=(0.7657, 0.0233), seconds_per_epoch=201.7),
    *_values("BayesSCDC, without", accuracy=(0.7764, 0.0397), nmi=(0.7944, 0.0178), seconds_per_epoch=11.2),
    *_values("BayesSCDC, with", accuracy=(0.8424, 0.0552), nmi=(0.8120, 0.0210), seconds_per_epoch=16.4),
)
# Section 5.3, the text about Fig. 4b: 5 runs.
FIGURE_4B = (
    *_values("SCDC, without", accuracy=(0.1423, 0.0069), nmi=(0.0424, 0.0119)),
    *_values("SCDC, with", accuracy=(0.5009, 0.0008), nmi=(0.5549, 0.0028)),
)
# Appendix C, the text about Fig. 5: best of 5 runs on CIFAR-10.
FIGURE_5 = (
    *_values("deep MCVC on CIFAR-10, best of 5 runs", nmi=0.44),
    *_values("SCDC on CIFAR-10", nmi=0.55),
)
