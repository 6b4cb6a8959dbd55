"""The numbers that Tables 1 to 3 of the SLPD paper print: sizes; balanced Rand index, mean and standard deviation."""

from semicrowd.report.cells import PaperValue

#: Columns of both tables: method here, share of the training labels that is known.
COLUMNS = (("ckm", 0.0), ("ckm", 0.25), ("ckm", 0.5), ("slpd", 0.0), ("slpd", 0.25), ("slpd", 0.5))
#: Names of the columns as the paper has them.
NAMES = {("ckm", 0.0): "UKM", ("slpd", 0.0): "ULPD"}
QUANTITY = "BRI"


def cell_name(data: str, method: str, share: float) -> str:
    """``wine, CKM, 25 % of the labels``."""
    name = NAMES.get((method, share))
    return f"{data}, {name}" if name else f"{data}, {method.upper()}, {share:.0%} of the labels"


def _row(data: str, *numbers: tuple[float, float]) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(cell_name(data, *column), QUANTITY, *number)
        for column, number in zip(COLUMNS, numbers, strict=True)
    )


TABLE_1 = tuple(
    PaperValue(f"{data}, {of}", "count", number)
    for data, numbers in {
        "letter": (150, 16, 2), "wine": (178, 13, 3), "iris": (150, 4, 3), "pen": (174, 16, 3),
        "leukaemia": (90, 500, 6), "lung": (203, 500, 5),
    }.items()
    for of, number in zip(("samples", "features", "classes"), numbers, strict=True)
)  # fmt: skip
TABLE_2 = (
    *_row("letter", (0.501, 0.005), (0.502, 0.010), (0.501, 0.009), (0.519, 0.025), (0.521, 0.031), (0.527, 0.039)),
    *_row("wine", (0.877, 0.052), (0.885, 0.051), (0.893, 0.047), (0.930, 0.032), (0.926, 0.032), (0.935, 0.032)),
    *_row("iris", (0.824, 0.036), (0.825, 0.035), (0.828, 0.041), (0.872, 0.037), (0.910, 0.043), (0.920, 0.038)),
    *_row("pen", (0.751, 0.068), (0.758, 0.069), (0.772, 0.078), (0.736, 0.046), (0.747, 0.045), (0.755, 0.045)),
)
TABLE_3 = (
    *_row("leukaemia", (0.786, 0.065), (0.782, 0.061), (0.798, 0.062), (0.838, 0.053), (0.846, 0.049), (0.851, 0.048)),
    *_row("lung", (0.578, 0.030), (0.583, 0.033), (0.599, 0.041), (0.660, 0.033), (0.665, 0.032), (0.670, 0.039)),
)
