"""How a benchmark says what it found: Markdown tables, and figures against their bars."""

from collections.abc import Sequence


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table with columns of even width."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in (header, ["-" * width for width in widths], *rows):
        print(f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |", flush=True)


def at_most(value: float, bar: float | None) -> str:
    """The bar that ``value`` must not exceed, and whether it does."""
    return "" if bar is None else f"≤ {bar:g}: {'met' if value <= bar else 'MISSED'}"


def at_least(value: float, bar: float) -> str:
    """The bar that ``value`` must reach, and whether it does."""
    return f"≥ {bar:g}: {'met' if value >= bar else 'MISSED'}"
