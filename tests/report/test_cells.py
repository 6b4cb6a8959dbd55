"""Means, differences and their texts."""

import statistics

import pytest

from semicrowd.report.cells import Cell, PaperValue, format_difference, summarise


def test_summary_is_the_sample_mean_and_deviation() -> None:
    values = [0.91, 0.95, 0.97, 0.9]
    summary = summarise(values, [0, 1, 2, 5])
    assert summary is not None
    assert summary.mean == pytest.approx(statistics.mean(values))
    assert summary.sd == pytest.approx(statistics.stdev(values))
    assert (summary.num_runs, summary.seeds) == (4, (0, 1, 2, 5))


@pytest.mark.parametrize(("values", "seeds"), [([float("nan")], [0]), ([0.5, float("inf")], [0, 1]), ([0.5], [0, 1])])
def test_a_broken_run_does_not_hide_in_a_mean(values: list[float], seeds: list[int]) -> None:
    with pytest.raises(ValueError, match=r"finite|seeds"):
        summarise(values, seeds)


@pytest.mark.parametrize(
    ("quantity", "paper", "ours", "expected"),
    [
        ("accuracy", 0.8424, [0.93, 0.94], "+0.093"),
        ("nmi", 0.94, [0.9], "−0.040"),
        ("clusters", 8, [6.0, 5.0], "−2.5"),
        ("seconds_per_epoch", 16.4, [8.2], "× 0.50"),
    ],
)
def test_difference_has_its_sign_and_times_are_ratios(
    quantity: str, paper: float, ours: list[float], expected: str
) -> None:
    cell = Cell("row", quantity, PaperValue("row", quantity, paper), summarise(ours, range(len(ours))))
    assert format_difference(cell) == expected
