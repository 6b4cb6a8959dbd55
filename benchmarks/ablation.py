"""Co-training without one of its pieces: a row for each fit and piece, and what each piece adds.

    python benchmarks/ablation.py --data iris wine --regimes pairs90 --seeds 0-2 --out results/ablation.csv
    python benchmarks/ablation.py --out results/ablation.csv --show

Data, answers and seeds are those of ``suite.py``. ``none`` is the whole method. Rows that exist are kept.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd

import suite
from semicrowd.methods.cotraining import candidates, estimator, selection

COLUMNS = ["without", *suite.COLUMNS]
KEY = ["without", *suite.KEY]
#: Where a piece is → what stands in its place, given what is there.
Change = tuple[Any, str, Callable[[Any], Any]]


def _some_preparations(*left_out: str) -> Change:
    return (estimator, "preparations", lambda real: lambda *given: _named(real(*given), left_out))


def _named(found: Iterator[tuple[str, Any]], left_out: Sequence[str]) -> Iterator[tuple[str, Any]]:
    return ((name, one) for name, one in found if name not in left_out)


def _classifiers(left_out: int) -> Change:
    """The classifiers of each preparation: kernel, neighbours, Gaussians with own covariances, with a shared one."""
    return (estimator, "classifiers_of", lambda real: lambda x: [c for n, c in enumerate(real(x)) if n != left_out])


def _initial(left_out: str) -> Change:
    def change(real: Callable[..., Any]) -> Callable[..., Any]:
        def some(*given: Any) -> Any:
            starts, of_features = real(*given)
            return {name: one for name, one in starts.items() if left_out not in name}, of_features

        return some

    return (estimator, "initial_clusters", change)


def _uniform(real: Callable[..., Any]) -> Callable[..., Any]:
    def clusters(*given: Any) -> Any:
        labels, of_number = real(*given)
        return labels, dict.fromkeys(of_number, 1.0)

    return clusters


#: Piece → how to leave it out.
PIECES: dict[str, list[Change]] = {
    "none": [],
    "rows of length 1": [_some_preparations("unit")],
    "patches": [_some_preparations("patches")],
    "weights of columns": [(estimator, "weighted", lambda _: lambda *_: None)],
    "kernel classifier": [_classifiers(0)],
    "label propagation": [_classifiers(1)],
    "Gaussians, own covariances": [_classifiers(2)],
    "Gaussians, one covariance": [_classifiers(3)],
    "cells": [_initial("cells of")],
    "answers alone": [_initial("answers alone")],
    "networks of the answers": [_initial(candidates.NETWORKS)],
    "all but one finalist": [(estimator, "_FINALISTS", lambda _: 1)],
    "answers as independent": [(estimator, "COUNTS", lambda _: {"": False})],
    "answers by effective number": [(estimator, "COUNTS", lambda _: {estimator.INDEPENDENT: True})],
    "merges after co-training": [(selection, "merges", lambda real: lambda *given: islice(real(*given), 1))],
    "prior of K by the features": [(candidates, "clusters_of_features", _uniform)],
}


def fit(without: str, *what: Any) -> dict[str, Any]:
    """A row."""
    with ExitStack() as stack:
        for place, name, change in PIECES[without]:
            stack.enter_context(patch.object(place, name, change(getattr(place, name))))
        return {"without": without} | suite.fit(*what)


def show(rows: pd.DataFrame) -> None:
    """NMI that each piece adds: mean difference to the whole method ± standard error, over the fits that both have."""
    whole = rows[rows["without"] == "none"]
    for without, some in rows.groupby("without", sort=False):
        both = some.merge(whole, on=suite.KEY, suffixes=("", "_whole"))
        added = both["nmi_whole"] - both["nmi"]
        exact = (both["clusters"] == both["classes"]).mean()
        seconds = (both["seconds"] / both["seconds_whole"]).median()
        print(f"{without:32s} n {len(both):3d}  adds {added.mean():+.4f} ± {added.sem():.4f}, K exact without it "
              f"{exact:.2f}, seconds × {seconds:.2f}")  # fmt: skip


def main() -> int:
    """Exit code 1 if a fit failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=["iris"], metavar="NAME", help="as suite.py")
    parser.add_argument("--regimes", nargs="+", default=["pairs90", "tasks", "crowd"], choices=suite.REGIMES)
    parser.add_argument("--without", nargs="+", default=list(PIECES), choices=list(PIECES))
    parser.add_argument("--seeds", default="0-2", type=suite.seeds_of)
    parser.add_argument("--jobs", default=2, type=int)
    parser.add_argument("--out", default=Path("results/ablation.csv"), type=Path)
    parser.add_argument("--show", action="store_true", help="fit nothing, print what each piece adds")
    options = parser.parse_args()
    if options.show:
        show(pd.read_csv(options.out))
        return 0
    fits = suite.plan(options.data, options.regimes, ["cotrain"], options.seeds)
    waiting = suite.left([(piece, *one) for one in fits for piece in options.without], COLUMNS, KEY, options.out)
    failed = suite.collect(fit, waiting, COLUMNS, KEY, options.out, options.jobs)
    show(pd.read_csv(options.out))
    return 1 if failed else 0


if __name__ == "__main__":
    import ablation  # worker processes import the functions from the module of this name

    sys.exit(ablation.main())
