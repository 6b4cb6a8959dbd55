"""Ablations: variants of our methods compared with the default, paired by seed."""

from collections.abc import Sequence

import pandas as pd

from semicrowd.pipeline.generality.plan import base_of
from semicrowd.pipeline.generality.summary import markdown, provenance, with_error


def ablation(rows: pd.DataFrame, data: Sequence[str], regimes: Sequence[str]) -> str:
    """Page of all variants.

    Parameters
    ----------
    rows : one for each fit, including the fits of the default methods
    data, regimes : their order on the page
    """
    scores = rows[rows["status"] == "done"].pivot(index=["data", "regime", "seed"], columns="method", values="nmi")
    order = {name: place for place, name in enumerate([*data, *regimes])}
    variants = [name for name in scores if base_of(name) != name and base_of(name) in scores]
    kept = rows[rows["method"].isin({*variants, *map(base_of, variants)})]
    differences = pd.DataFrame({name: scores[name] - scores[base_of(name)] for name in variants})
    by_cell = differences.groupby(["data", "regime"])
    cells = sorted(by_cell.groups, key=lambda cell: [order[part] for part in cell])
    lines = [[name, *_overall(differences[name])] for name in variants]
    table = [
        [*cell, *(_paired(by_cell.get_group(cell)[name].dropna()) for name in variants)] for cell in cells
    ]
    return "\n\n".join([
        "# Ablations",
        provenance(kept),
        "NMI of all items: variant minus default, paired by seed, ± the standard error over seeds. All cells: the mean "
        "over all cells, for seeds that have a result in every cell. A cell counts as better or worse if the "
        "difference is more than two standard errors.",
        markdown(["variant", "all cells", "seeds", "cells", "better", "worse"], lines),
        markdown(["data", "regime", *variants], table),
    ]) + "\n"  # fmt: skip


def _overall(differences: pd.Series) -> list[str]:
    """Mean over cells and seeds, numbers of seeds and cells, and of the cells that are better and worse."""
    table = differences.dropna().unstack("seed")
    whole = table.dropna(axis=1)
    beyond = table.mean(axis=1) / table.sem(axis=1)
    return [
        _paired(whole.mean()), str(whole.shape[1]), str(len(table)),
        str(int((beyond > 2).sum())), str(int((beyond < -2).sum())),
    ]  # fmt: skip


def _paired(differences: pd.Series) -> str:
    return with_error(differences.mean(), differences.sem()) if len(differences) else "not measured"
