"""The catalogue of tables and figures, and the papers' numbers, are whole and consistent."""

import pytest

from semicrowd.report.build import BUILDERS
from semicrowd.report.exhibits import EXHIBITS, PAPERS, exhibit
from semicrowd.report.paper_values import PAPER_VALUES, paper_value, values_of

#: Counted in the papers: tables, and figures with their separately captioned panels as the catalogue has them.
COUNTS = {"scdc": 9, "slpd": 5, "discriminative-bnp": 6, "deep-dpm": 7}


def test_every_table_and_figure_is_listed_once() -> None:
    keys = [entry.key for entry in EXHIBITS]
    assert len(set(keys)) == len(keys)
    assert {paper: sum(entry.paper == paper for entry in EXHIBITS) for paper in PAPERS} == COUNTS


def test_builders_and_values_belong_to_exhibits() -> None:
    keys = {entry.key for entry in EXHIBITS}
    assert set(BUILDERS) <= keys
    assert {value.exhibit for value in PAPER_VALUES} <= keys


def test_values_are_fractions_counts_and_seconds() -> None:
    for value in PAPER_VALUES:
        if value.quantity in ("accuracy", "nmi"):
            assert 0 < value.value < 1
            assert value.sd is None or 0 < value.sd < 0.1
    addresses = [(value.exhibit, value.cell, value.quantity) for value in PAPER_VALUES]
    assert len(set(addresses)) == len(addresses)


def test_table_1_has_its_four_rows() -> None:
    rows = {value.cell: value for value in values_of("scdc/table-1") if value.quantity == "accuracy"}
    assert [round(100 * row.value, 2) for row in rows.values()] == [65.92, 81.87, 77.64, 84.24]
    assert paper_value("scdc/table-1", "BayesSCDC, with", "nmi").sd == 0.021


def test_unknown_addresses_are_errors() -> None:
    with pytest.raises(KeyError, match="table-9"):
        exhibit("scdc/table-9")
    with pytest.raises(KeyError, match="seconds"):
        paper_value("scdc/figure-2", "d: with answers", "seconds")
