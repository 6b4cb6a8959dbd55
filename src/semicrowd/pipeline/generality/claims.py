"""``make claims``: compare the numbers in README and docs/ with the recorded results from which they are computed.

A number that is computed from ``recorded/`` is written between two HTML comments, which a page does not display::

    <!-- claim: locked.scdc.near -->55 of 56<!-- end -->

The name consists of the recorded table, the method and the quantity. ``runs.NAME.METRIC`` is computed from the runs
that ``make record`` has written, ``runs.NAME[OPTION=VALUE].METRIC`` from those at a point of a sweep, and
``pieces.METHOD.DATA`` from ``recorded/pieces.csv``. The command prints the computed
numbers and reports where a page differs; ``--write`` replaces the numbers in the pages. It takes seconds.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semicrowd.errors import UserError, without_traceback
from semicrowd.pipeline.generality.figures import NEAR, NEAR_ALONE, Share, figures, with_answers
from semicrowd.pipeline.generality.plan import OURS, base_of
from semicrowd.pipeline.generality.record import FILES, FOLDER, TRUST, recorded
from semicrowd.pipeline.generality.summary import cell_table, short, signed, with_error

#: Pages with marked numbers.
PAGES = (Path("README.md"), Path("docs/how_good.md"), Path("docs/BENCHMARKS.md"))
#: Metrics for which differences between experiments are computed.
_SCORES = ("train/acc", "train/nmi", "test/acc", "test/nmi", "final/acc", "final/nmi")
_MARK = re.compile(r"(<!-- claim: ([^ ]*) -->)(.*?)(<!-- end -->)", re.S)
_ANY_MARK = re.compile(r"<!-- (?:claim|end)")
#: Parts of a recorded table: suffix of the name → True: only real answers, False: only others, None: all regimes.
_PARTS = {"": None, "-crowd": True, "-simulated": False}


@dataclass(frozen=True)
class Claim:
    """A number: its name, its value as text, and its meaning."""

    name: str
    value: str
    meaning: str


def claims(folder: Path) -> dict[str, Claim]:
    """All numbers that are computed from the recorded results, by name."""
    every: list[Claim] = []
    for where, file in FILES.items():
        rows = recorded(folder / file)
        rows = rows[rows["method"].map(base_of) == rows["method"]]
        for suffix, of_people in _PARTS.items():
            part = rows if of_people is None else rows[(rows["regime"] == "crowd") == of_people]
            if len(part):
                every += _of_part(f"{where}{suffix}", part)
    every += [*_of_runs(folder.parent / "runs"), *_of_pieces(folder.parent / "pieces.csv")]
    return {claim.name: claim for claim in every}


def _of_runs(folder: Path) -> Iterator[Claim]:
    """Means, standard deviations and single values of recorded runs' metrics, and differences over shared seeds."""
    known: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for path in sorted(folder.glob("*.json")):
        by_point: dict[str, list[dict[str, Any]]] = {}
        for one in json.loads(path.read_text(encoding="utf-8"))["runs"]:
            point = ",".join(f"{option}={value}" for option, value in one["run"]["point"].items())
            by_point.setdefault(f"[{point}]" if point else "", []).append(one["run"])
        for point, runs in by_point.items():
            metrics_by_seed: dict[str, dict[int, float]] = {}
            for run in runs:
                for name, value in run["metrics"].items():
                    metrics_by_seed.setdefault(name, {})[run["seed"]] = value
            known[path.stem, point] = metrics_by_seed
            failed = sum(run["status"] != "finished" for run in runs)
            yield Claim(f"runs.{path.stem}{point}.failed", f"{failed} of {len(runs)}", "recorded runs that failed")
    for (experiment, point), metrics in known.items():
        for name, of_seed in metrics.items():
            yield from _of_metric(f"runs.{experiment}{point}.{name}", list(of_seed.values()))
    for one, other in permutations(known, 2):
        if one[1] == other[1] and one[0].partition("_")[0] == other[0].partition("_")[0]:
            yield from _less("".join(one), other[0], known[one], known[other])


def _of_metric(name: str, values: list[float]) -> Iterator[Claim]:
    seeds = f"of {len(values)} recorded seeds"
    whole = name.endswith(("/used", "/occupied")) or ".seconds/" in name
    texts = [f"{value:.0f}" if whole else short(value) for value in values]
    mean = short(float(np.mean(values)))
    yield Claim(f"{name}.mean", mean, f"mean {seeds}")
    sd = f" ± {short(float(np.std(values, ddof=1)))}" if len(values) > 1 else ""
    yield Claim(name, mean + sd, f"mean ± standard deviation {seeds}")
    yield Claim(f"{name}.seeds", " ".join(texts), "each recorded seed")
    low, high = (texts[values.index(extreme(values))] for extreme in (min, max))
    yield Claim(f"{name}.range", low if low == high else f"{low} to {high}", f"minimum and maximum {seeds}")


def _less(
    one: str, other: str, first: Mapping[str, dict[int, float]], second: Mapping[str, dict[int, float]]
) -> Iterator[Claim]:
    for metric in (name for name in _SCORES if name in first and name in second):
        both = [first[metric][seed] - second[metric][seed] for seed in first[metric] if seed in second[metric]]
        if both:
            name, text = f"runs.{one}.{metric}.less.{other}", f"mean difference of {len(both)} shared seeds"
            yield Claim(name, signed(float(np.mean(both))), text)
            if len(both) > 1:
                error = float(np.std(both, ddof=1)) / len(both) ** 0.5
                yield Claim(f"{name}.se", with_error(float(np.mean(both)), error), f"{text}, ± standard error")


def _of_pieces(path: Path) -> Iterator[Claim]:
    """Mean NMI of each method and data set, and differences from co-training, paired by data set and seed."""
    if not path.is_file():
        return
    fits = pd.read_csv(path)
    table = fits.pivot_table(index=["data", "seed"], columns="method", values="nmi").dropna()
    yield Claim("pieces.fits", str(len(table)), "fits of each method")
    for method, column in table.items():
        for data, nmi in column.groupby("data").mean().items():
            yield Claim(f"pieces.{method}.{data}", short(nmi), "NMI, mean over the seeds")
        less = column - table["cotrain"]
        meaning = "NMI minus that of co-training, ± standard error"
        yield Claim(f"pieces.{method}.less", with_error(less.mean(), less.sem()), meaning)
        seconds = fits[fits["method"] == method].set_index(["data", "seed"]).loc[table.index, "seconds"].mean()
        yield Claim(f"pieces.{method}.seconds", f"{seconds:.0f}", "mean seconds per fit")


def _of_part(where: str, rows: pd.DataFrame) -> Iterator[Claim]:
    table = cell_table(rows)
    yield Claim(f"{where}.sets", str(rows["data"].nunique()), "data sets")
    yield Claim(f"{where}.cells", str(len(with_answers(table)[["data", "regime"]].drop_duplicates())),
                "cells with answers: data sets under regimes")  # fmt: skip
    yield Claim(f"{where}.seeds", str(rows["seed"].nunique()), "seeds")
    yield Claim(f"{where}.fits", str(len(rows)), "fits")
    yield Claim(f"{where}.commits", ", ".join(sorted(rows["commit"].unique())), "commits of the code of these fits")
    for method in OURS:
        yield from _of_method(where, method, table)
        yield from _of_trust(where, method, with_answers(rows))
        yield from _of_fits(f"{where}.{method}", rows[(rows["method"] == method) & rows["nmi"].notna()])
    for row in table.to_dict("records"):
        name = f"{where}.{row['method']}.{row['data']}.{row['regime']}"
        if not np.isnan(row["nmi"]):
            yield Claim(name, short(row["nmi"]), f"NMI, mean of {row['n']} seeds")
            spread = f"{short(row['nmi'])} ± {short(row['nmi_sd'])}"
            yield Claim(f"{name}.sd", spread, "NMI, mean ± standard deviation")
            yield Claim(f"{name}.clusters", str(row["found"]), f"clusters for each seed; there are {row['classes']}")


def _of_fits(where: str, rows: pd.DataFrame) -> Iterator[Claim]:
    """Number of fits whose number of clusters equals the number of classes, exactly or within one.

    Each fit counts separately; the corresponding numbers of cells use the median over the seeds.
    """
    informed = with_answers(rows)
    for prefix, meaning, part in (
        ("", "fits with answers", informed), ("alone-", "fits without answers", rows[rows["regime"] == "none"])
    ):  # fmt: skip
        off = (part["clusters"] - part["classes"]).abs()
        for name, most in (("exact", 0), ("within-one", 1)):
            if len(part):
                share = Share(int((off <= most).sum()), len(part))
                meaning_of_share = f"{meaning} whose number of clusters is off by at most {most}"
                yield Claim(f"{where}.{prefix}{name}-fits", str(share), meaning_of_share)


def _of_trust(where: str, method: str, rows: pd.DataFrame) -> Iterator[Claim]:
    meaning = {
        "calibration_error": "expected calibration error of the annotated items",
        "interval_coverage": "share of 90 % intervals that contain the annotator's rate",
        "sensitivity_rank": "rank correlation of annotators' sensitivities and the truth",
        "specificity_rank": "rank correlation of annotators' specificities and the truth",
    }
    cells = rows[rows["method"] == method].groupby(["data", "regime"])[TRUST].mean().dropna(how="all")
    for name in TRUST:
        if cells[name].notna().any():
            text = f"{meaning[name]}, median of {cells[name].count()} cells"
            yield Claim(f"{where}.{method}.{name}", f"{cells[name].median():.3f}", text)


def _of_method(where: str, method: str, table: pd.DataFrame) -> Iterator[Claim]:
    summary = figures(table, method)
    if summary is None:
        return
    better = f"within {NEAR_ALONE:g} of the better of k-means and GMM"
    number = "cells with answers whose number of clusters"
    shares: dict[str, tuple[Share, str]] = {
        "near": (summary.near, f"cells with answers within {NEAR:g} NMI of the best baseline, or above it"),
        "below-kmeans": (summary.below_kmeans, f"cells with answers more than {NEAR:g} below k-means"),
        "below-lr": (summary.below_lr, f"cells with answers more than {NEAR:g} below answers + LR"),
        "alone": (summary.alone, f"cells without answers {better}"),
        "chance": (summary.chance, f"cells with random answers {better}"),
        "exact": (summary.exact, f"{number} equals the number of classes"),
        "within-one": (summary.within_one, f"{number} differs from the number of classes by at most one"),
    }
    for name, (share, meaning) in shares.items():
        if share.of:
            yield Claim(f"{where}.{method}.{name}", str(share), meaning)
            yield Claim(f"{where}.{method}.{name}.percent", share.percent, f"{meaning}, in per cent")
    if not np.isnan(summary.rank):
        yield Claim(f"{where}.{method}.rank", f"{summary.rank:.2f}", "mean rank with answers")
        yield Claim(f"{where}.{method}.place", f"{summary.place} of {summary.methods}", "place by mean rank")
    if not np.isnan(summary.worst):
        yield Claim(f"{where}.{method}.worst", signed(summary.worst), "smallest difference to the best baseline")


def checked(text: str, known: dict[str, Claim]) -> list[str]:
    """Problems of the marked numbers in a text, a line each."""
    marks = list(_MARK.finditer(text))
    problems = []
    if len(_ANY_MARK.findall(text)) != 2 * len(marks):
        problems.append("a mark is not closed, or closed twice; expected <!-- claim: NAME -->number<!-- end -->")
    for mark in marks:
        name, value = mark[2], " ".join(mark[3].split())
        if name not in known:
            problems.append(f"{name}: no number of this name is computed from the recorded results")
        elif value != known[name].value:
            problems.append(f"{name}: {value} on the page, but {known[name].value} computed from the recorded results")
    return problems


def rewritten(text: str, known: dict[str, Claim]) -> str:
    """The text with all marked numbers replaced by the computed ones; numbers with an unknown name are not changed."""
    return _MARK.sub(lambda mark: mark[1] + (known[mark[2]].value if mark[2] in known else mark[3]) + mark[4], text)


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """Print the computed numbers; exit code 1 if a number on a page differs."""
    parser = argparse.ArgumentParser(
        prog="python -m semicrowd.pipeline.generality.claims",
        description="Compute numbers from the recorded results, print them, and compare the marked numbers of pages.",
    )
    parser.add_argument("--recorded", default=FOLDER, type=Path, help=f"folder of recorded results [{FOLDER}]")
    parser.add_argument("--pages", nargs="+", default=PAGES, type=Path, help="pages with marked numbers "
                        f"[{' '.join(map(str, PAGES))}]")  # fmt: skip
    parser.add_argument("--all", action="store_true", help="also print the numbers of single cells")
    parser.add_argument("--write", action="store_true", help="replace the marked numbers in the pages")
    options = parser.parse_args(arguments)
    texts = {}
    for page in options.pages:
        try:
            texts[page] = page.read_text(encoding="utf-8")
        except OSError as error:
            raise UserError(f"--pages {page}: cannot be read: {error.strerror}") from error
    known = claims(options.recorded)
    named = {mark[2] for text in texts.values() for mark in _MARK.finditer(text)}
    for claim in known.values():
        single = claim.name.startswith(("runs.", "pieces.")) or claim.name.count(".") > 2
        if options.all or claim.name in named or not single or claim.name.endswith(".percent"):
            print(f"{'*' if claim.name in named else ' '} {claim.name} = {claim.value}  ({claim.meaning})")
    if not known:
        print(f"nothing is recorded in {options.recorded} yet: make generality ARGS=\"… --record\"")
    problems = []
    for page, text in texts.items():
        if options.write:
            texts[page] = rewritten(text, known)
            page.write_text(texts[page], encoding="utf-8")
        problems += [f"{page}: {problem}" for problem in checked(texts[page], known)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"* {len(named)} of these are in {', '.join(map(str, texts))}; {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
