"""``make claims``: the figures of the README, computed from the recorded results in seconds.

A figure of the README that the suite has measured stands between two comments, which a reader does not see::

    <!-- claim: locked.scdc.near -->55 of 56<!-- end -->

The name says which recorded table, method and figure. The command prints all figures and says where the README has
another one; ``--write`` puts the computed ones into it.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.errors import UserError, without_traceback
from semicrowd.pipeline.generality.figures import NEAR, NEAR_ALONE, Share, figures, with_answers
from semicrowd.pipeline.generality.plan import OURS, base_of
from semicrowd.pipeline.generality.record import FILES, FOLDER, TRUST, recorded
from semicrowd.pipeline.generality.summary import cell_table, signed

_MARK = re.compile(r"(<!-- claim: ([^ ]*) -->)(.*?)(<!-- end -->)", re.S)
_ANY_MARK = re.compile(r"<!-- (?:claim|end)")
#: Parts of a recorded table: its name → the regimes that belong to it.
_PARTS = {"": None, "-crowd": True, "-simulated": False}


@dataclass(frozen=True)
class Claim:
    """A figure by its name, as text, and what it is."""

    name: str
    value: str
    meaning: str


def claims(folder: Path) -> dict[str, Claim]:
    """All figures that the recorded results give: of development and locked sets, of real and simulated answers."""
    found = []
    for where, file in FILES.items():
        rows = recorded(folder / file)
        rows = rows[rows["method"].map(base_of) == rows["method"]]
        for suffix, of_people in _PARTS.items():
            part = rows if of_people is None else rows[(rows["regime"] == "crowd") == of_people]
            if len(part):
                found += list(_of_part(f"{where}{suffix}", part))
    return {claim.name: claim for claim in found}


def _of_part(where: str, rows: pd.DataFrame) -> Iterator[Claim]:
    table = cell_table(rows)
    yield Claim(f"{where}.sets", str(rows["data"].nunique()), "data sets")
    yield Claim(f"{where}.cells", str(len(with_answers(table)[["data", "regime"]].drop_duplicates())),
                "cells with answers: data sets under regimes")  # fmt: skip
    yield Claim(f"{where}.seeds", str(rows["seed"].nunique()), "seeds")
    yield Claim(f"{where}.fits", str(len(rows)), "fits")
    yield Claim(f"{where}.commits", ", ".join(sorted(rows["commit"].unique())), "commits that they were measured with")
    for method in OURS:
        yield from _of_method(where, method, table)
        yield from _of_trust(where, method, with_answers(rows))
        yield from _of_fits(f"{where}.{method}", rows[(rows["method"] == method) & rows["nmi"].notna()])
    for row in table.to_dict("records"):
        name = f"{where}.{row['method']}.{row['data']}.{row['regime']}"
        if not np.isnan(row["nmi"]):
            yield Claim(name, f"{row['nmi']:.3f}".removeprefix("0"), f"NMI, mean of {row['n']} seeds")
            yield Claim(f"{name}.clusters", str(row["found"]), f"clusters for each seed; there are {row['classes']}")


def _of_fits(where: str, rows: pd.DataFrame) -> Iterator[Claim]:
    """How many fits have as many clusters as kinds: each for itself, where cells have the median of their seeds."""
    informed = with_answers(rows)
    for prefix, meaning, part in (
        ("", "fits with answers", informed), ("alone-", "fits without answers", rows[rows["regime"] == "none"])
    ):  # fmt: skip
        off = (part["clusters"] - part["classes"]).abs()
        for name, most in (("exact", 0), ("within-one", 1)):
            if len(part):
                share = Share(int((off <= most).sum()), len(part))
                yield Claim(f"{where}.{prefix}{name}-fits", str(share), f"{meaning}, clusters {most} off at most")


def _of_trust(where: str, method: str, rows: pd.DataFrame) -> Iterator[Claim]:
    meaning = {
        "calibration_error": "expected calibration error of the annotated items",
        "interval_coverage": "share of 90 % intervals that hold the annotator's rate",
        "sensitivity_rank": "rank correlation of annotators' sensitivities and the truth",
        "specificity_rank": "of their specificities",
    }
    mine = rows[rows["method"] == method].groupby(["data", "regime"])[TRUST].mean().dropna(how="all")
    for name in TRUST:
        if mine[name].notna().any():
            text = f"{meaning[name]}, median of {mine[name].count()} cells"
            yield Claim(f"{where}.{method}.{name}", f"{mine[name].median():.3f}", text)


def _of_method(where: str, method: str, table: pd.DataFrame) -> Iterator[Claim]:
    found = figures(table, method)
    if found is None:
        return
    shares: dict[str, tuple[Share, str]] = {
        "near": (found.near, f"cells with answers within {NEAR:g} NMI of the best baseline, or above it"),
        "below-kmeans": (found.below_kmeans, f"cells with answers more than {NEAR:g} below k-means"),
        "below-lr": (found.below_lr, f"cells with answers more than {NEAR:g} below answers + LR"),
        "alone": (found.alone, f"cells without answers within {NEAR_ALONE:g} of the better of k-means and GMM"),
        "chance": (found.chance, "the same of cells whose answers are chance"),
        "exact": (found.exact, "cells with answers that have as many clusters as kinds"),
        "within-one": (found.within_one, "cells with answers that have as many clusters as kinds, or one more or less"),
    }
    for name, (share, meaning) in shares.items():
        if share.of:
            yield Claim(f"{where}.{method}.{name}", str(share), meaning)
            yield Claim(f"{where}.{method}.{name}.percent", share.percent, f"{meaning}, in per cent")
    if not np.isnan(found.rank):
        yield Claim(f"{where}.{method}.rank", f"{found.rank:.2f}", "mean rank with answers")
        yield Claim(f"{where}.{method}.place", f"{found.place} of {found.methods}", "place by mean rank")
    if not np.isnan(found.worst):
        yield Claim(f"{where}.{method}.worst", signed(found.worst), "smallest difference to the best baseline")


def checked(text: str, known: dict[str, Claim]) -> list[str]:
    """What is wrong with the marked figures of a text, a line each."""
    marks = list(_MARK.finditer(text))
    problems = []
    if len(_ANY_MARK.findall(text)) != 2 * len(marks):
        problems.append("a mark is not closed, or closed twice; expected <!-- claim: NAME -->figure<!-- end -->")
    for mark in marks:
        name, value = mark[2], " ".join(mark[3].split())
        if name not in known:
            problems.append(f"{name}: the recorded results give no such figure")
        elif value != known[name].value:
            problems.append(f"{name}: says {value}, the recorded results {known[name].value}")
    return problems


def rewritten(text: str, known: dict[str, Claim]) -> str:
    """The text with the computed figures in the marked places; those without a figure stay."""
    return _MARK.sub(lambda mark: mark[1] + (known[mark[2]].value if mark[2] in known else mark[3]) + mark[4], text)


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Print figures; exit code 1 where the text says another thing."""
    parser = argparse.ArgumentParser(
        prog="python -m semicrowd.pipeline.generality.claims",
        description="Print the figures that the recorded results give, and compare those that the README names.",
    )
    parser.add_argument("--recorded", default=FOLDER, type=Path, help=f"folder of recorded results [{FOLDER}]")
    parser.add_argument("--readme", default=Path("README.md"), type=Path, help="text with marked figures [README.md]")
    parser.add_argument("--all", action="store_true", help="print the figures of single cells, too")
    parser.add_argument("--write", action="store_true", help="put the computed figures into the text")
    options = parser.parse_args(arguments)
    try:
        text = options.readme.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"--readme {options.readme}: cannot be read: {error.strerror}") from error
    known = claims(options.recorded)
    named = {mark[2] for mark in _MARK.finditer(text)}
    for claim in known.values():
        single = claim.name.count(".") > 2 and not claim.name.endswith(".percent")
        if options.all or claim.name in named or not single:
            print(f"{'*' if claim.name in named else ' '} {claim.name} = {claim.value}  ({claim.meaning})")
    if not known:
        print(f"nothing is recorded in {options.recorded} yet: make generality ARGS=\"… --record\"")
    if options.write:
        text = rewritten(text, known)
        options.readme.write_text(text, encoding="utf-8")
    problems = checked(text, known)
    for problem in problems:
        print(f"{options.readme}: {problem}", file=sys.stderr)
    print(f"* {len(named)} of these are in {options.readme}; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
