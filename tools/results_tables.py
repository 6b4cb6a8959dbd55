"""Tables of docs/results.md: a paper's exhibits and conclusions, what files of fits say, annotators, several starts."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from reproduction.report.engine import deviations
from reproduction.report.results import WHOSE, Numbers, Table, short
from reproduction.report.tables import Row, mark

#: Answers that are random, wrong more often or fewer than those of the other regimes of benchmarks/suite.py.
HARDER = ("chance", "noisy", "flipped", "half", "quarter", "tenth")
_CASE = re.compile(r" \([^()]*\)$|,? with(out)? answers$")


def named(label: str, column: str) -> str:
    """A line's name; of other lines than those of our default whose it is."""
    return label if column == "ours" else f"{label}, {WHOSE[column]}"


def exhibit(rows: Sequence[Row], numbers: Sequence[Numbers], seen: set[tuple[float, str]]) -> Table:
    """A line for what the paper prints in a row and one for each column of ours; what stood above is left out."""
    asked = [name for row in rows for name in row.paper]
    wanted = dict.fromkeys([*asked, *rows[0].spec.get("also", ["clusters"])] if asked else list(rows[0].cells)[:3])
    shown = [one for one in wanted if one in asked or any(one in of for row in numbers for of in row.values())]
    table = [["", "n", *shown]]
    for row, columns in zip(rows, numbers, strict=True):
        if row.paper:
            n = row.spec.get("n", "") if columns else "no data" if row.spec.get("no_data") else "no run"
            n = f"in {row.spec['repeats']}" if "repeats" in row.spec else str(n)
            printed = {name: short(mean, sd, name) for name, (mean, sd) in row.paper.items()}
            table.append([f"{row.label}: paper", n, *(printed.get(one, "") for one in shown)])
        for column, of in columns.items():
            first = next((of[one] for one in shown if one in of), None)
            if first is None or (not row.paper and (first.mean, first.source) in seen):
                continue
            seen.add((first.mean, first.source))
            ours = {name: short(one.mean, one.sd, name) for name, one in of.items()}
            for name, (mean, sd) in row.paper.items():
                ours[name] = ours.get(name, "") + (mark(name, mean, sd, of[name].mean) if name in of else "")
            remark = f" ({row.spec['remark']})" if column == "ours" and row.spec.get("remark") else ""
            name = WHOSE[column] + remark if row.paper else named(row.label, column)
            table.append([f"[{name}](#{first.source})", first.n, *(ours.get(one, "") for one in shown)])
    return table


def by_answers(cells: Iterable[tuple[Row, Numbers]], once: pd.DataFrame) -> Table:
    """NMI on Face: a line for each method and column, with a cell for each number of answers of a person."""
    lines: dict[tuple[str, str], dict[int, str]] = {}
    for row, columns in cells:
        for column, of in columns.items():
            label = named(row.spec["row"].replace(", {} answers each", ""), column)
            texts = lines.setdefault((f"[{label}](#{of['NMI'].source})", of["NMI"].n), {})
            texts[int(row.at[0]) if row.at else 0] = short(*of["NMI"][:2])
    for one in once.itertuples():
        number = one.answers.partition(" ")[0]
        texts = lines.setdefault((f"[{one.method}](#measured)", str(one.n)), {})
        texts[int(number) if number.isdigit() else 0] = short(one.mean, one.sd)
    heads = sorted({at for texts in lines.values() for at in texts})
    return [["answers of a person", "n", *map(str, heads)],
            *([*key, *(texts.get(at, "") for at in heads)] for key, texts in lines.items())]  # fmt: skip


def settings(rows: Iterable[Row]) -> dict[str, list[str]]:
    """How runs of the paper's protocol differ from what the paper states, and the rows that do; without n."""
    found: dict[str, list[str]] = {}
    for row in rows:
        one = next((one for name in row.paper if (one := row.number(name, "protocol")) is not None), None)
        stated = [] if one is None else [text for text in deviations(row, one) if "(paper: not said)" not in text]
        differs = [text for text in stated if not text.startswith("n = ")]
        if differs:
            found.setdefault(", ".join(differs).replace("_", " "), []).append(row.label)
    return found


def verdicts(claims: Sequence[Mapping[str, Any]]) -> tuple[Table, dict[str, Counter[str]]]:
    """Whether a paper's conclusions hold, a line for each and a column for each of ours; the counts by column.

    Comparisons that differ in what stands in brackets at a claim's end, or in whether there were answers, share a line;
    if their verdicts differ, it names those that hold or are reversed.
    """
    table, counts = [], {column: Counter[str]() for column in WHOSE}
    for claim, of in groupby(claims, lambda one: _CASE.sub("", one["claim"])):
        found: dict[str, dict[str, list[str]]] = {column: {} for column in WHOSE}
        for one in of:
            case = (_CASE.search(one["claim"]) or [""])[0].strip(" ,()")
            for column, (verdict, _) in one["cells"].items():
                found[column].setdefault(verdict, []).append(f"{case} {one['quantity']}".strip())
        line = [claim]
        for column, cases in found.items():
            counts[column] += Counter({verdict: len(those) for verdict, those in cases.items()})
            named = {verdict: f" ({', '.join(those)})" for verdict, those in cases.items()
                     if len(cases) > 1 and verdict != "not decided"}  # fmt: skip
            line.append(", ".join(f"{verdict.replace('not decided', 'open')} {len(cases[verdict])}"
                                  f"{named.get(verdict, '')}" for verdict in sorted(cases)) or "–")  # fmt: skip
        table.append(line)
    return table, counts


def beside(cotrain: pd.DataFrame, others: pd.DataFrame) -> tuple[Table, list[float]]:
    """Co-training beside the best variant of every other method, chosen by its NMI; the differences to the best."""
    others = others.assign(family=others["method"].str.replace(r"_(raw|scaled)(_predict)?$", "", regex=True))
    means = others[others["family"] != "cotrain"].groupby(["data", "regime", "family", "method"])["nmi"].mean()
    best = means.groupby(level=[0, 1, 2]).max().unstack()
    table, differences = [["data", "answers", "classes", "co-training", "clusters", *best.columns, "difference"]], []
    for (data, regime), fits in cotrain.groupby(["data", "regime"]):
        of = best.loc[data, regime] if (data, regime) in best.index else pd.Series(float("nan"), best.columns)
        differences.append(fits["nmi"].mean() - of.max())
        found = [data, regime, str(fits["classes"].iloc[0]), short(fits["nmi"].mean(), fits["nmi"].std()),
                 " ".join(f"{one:.0f}" for one in fits["clusters"])]  # fmt: skip
        table.append([*found, *map(short, of), short(differences[-1], None, "paired difference")])
    return table, [one for one in differences if one == one]


def harder(fits: pd.DataFrame) -> tuple[Table, list[float]]:
    """Co-training with the answers of :data:`HARDER`, beside what a user would have without them; the differences.

    The difference is to the best of co-training without answers, k-means and constrained k-means, both told K.
    """
    nmi = fits.groupby(["data", "regime", "method"])["nmi"].mean()
    table = [["data", "answers", "fits", "co-training", "co-training, no answers", "k-means", "constrained k-means",
              "difference"]]  # fmt: skip
    differences = []
    ours = fits[(fits["method"] == "cotrain") & fits["regime"].isin(HARDER)]
    for (data, regime), of in ours.groupby(["data", "regime"], sort=False):
        others = [nmi.get((data, "none", "cotrain"), np.nan),
                  nmi.get((data, regime, "kmeans"), nmi.get((data, "none", "kmeans"), np.nan)),
                  nmi.get((data, regime, "constrained_kmeans"), np.nan)]  # fmt: skip
        differences.append(of["nmi"].mean() - pd.Series(others).max())
        table.append([data, regime, str(len(of)), short(of["nmi"].mean(), of["nmi"].std()), *map(short, others),
                      short(differences[-1], None, "paired difference")])  # fmt: skip
    return table, [one for one in differences if one == one]


def less_the_whole(fits: pd.DataFrame, by: str, whole: str = "") -> Table:
    """NMI of each change less that of the whole, ± its standard error, over the same data, answers and seeds.

    Parameters
    ----------
    fits : with a column ``kind``, whose values are the columns of the table
    whole : value of ``by`` to compare with; empty: of ``bayes[epochs=0]`` it is ``bayes``
    """
    wide = fits.pivot_table(index=["kind", "data", "regime", "seed"], columns=by, values="nmi")
    kinds = [*dict.fromkeys(fits["kind"])]
    table = [["", *(text for kind in kinds for text in (kind, "fits"))]]
    for change in dict.fromkeys(fits[by]):
        other = whole or change.partition("[")[0]
        if change != other:
            less = [(wide.loc[kind, change] - wide.loc[kind, other]).dropna() for kind in kinds]
            table.append([change, *(text for one in less for text in (
                short(one.mean(), one.sem(), "paired difference") if len(one) else "–", str(len(one))))])  # fmt: skip
    return table


def pivot(frame: pd.DataFrame, rows: Sequence[str], column: str) -> Table:
    """``mean ± sd`` of measured.csv, in the order of the file."""
    texts = frame.assign(text=[short(*of) for of in zip(frame["mean"], frame["sd"], strict=True)])
    wide = texts.pivot_table(index=list(rows), columns=column, values="text", aggfunc="first", sort=False).fillna("")
    return [[*rows, *wide.columns], *wide.reset_index().astype(str).to_numpy().tolist()]


def looks(looked: pd.DataFrame, locked: pd.DataFrame) -> Table:
    """Every look at the locked sets, and the mean NMI of co-training by kind of answers that is kept of it."""
    table = [["date", "commit", "data", "seeds", "co-training, mean NMI"]]
    for one in looked.itertuples():
        fits = locked[locked["commit"].map(one.commit.startswith) & locked["data"].isin(one.data.split())
                      & locked["regime"].isin(one.regimes.split()) & locked["seed"].astype(str).isin(one.seeds.split())
                      & (locked["method"] == "cotrain") & ("cotrain" in one.methods)]  # fmt: skip
        gave = ", ".join(f"{regime} {short(mean)}" for regime, mean in fits.groupby("regime")["nmi"].mean().items())
        gave = gave or ("not kept" if "cotrain" in one.methods else "others alone")
        table.append([one.date[:16].replace("T", " "), one.commit[:8], one.data, one.seeds, gave])
    return table


def starts(runs: pd.DataFrame) -> Table:
    """Records of runs with several starts: the mean of the starts, that with the highest bound, the best by label.

    Runs of MNIST with all answers or none differ in their start alone: those of a record count as starts of one run.
    """
    table = [["record", "answers of a person", "runs", *(f"{score}, {which}" for score in ("ACC", "NMI")
              for which in ("mean of the starts", "by the bound", "by label (oracle)"))]]  # fmt: skip
    scores = ["train/acc", "train/nmi"]
    several = runs["starts/mean_acc"].notna()
    by = ["experiment", "protocol", "annotations.pairs_per_annotator"]
    for (name, _, pairs), of in runs[several].groupby(by, dropna=False):
        columns = [one + score for score in ("acc", "nmi") for one in ("starts/mean_", "train/", "starts/oracle_")]
        table.append([f"[{name}](#{name})", "" if pd.isna(pairs) else f"{pairs:.0f}", str(len(of)),
                      *(short(of[one].astype(float).mean()) for one in columns)])  # fmt: skip
    crowd = runs["annotations"].eq("crowd") & runs["annotations.num_tasks"].eq("null")
    alike = runs["annotations"].eq("none") | crowd
    alike &= runs["data"].eq("mnist") & runs["elbo/train"].notna() & ~several
    for name, of in runs[alike].groupby("experiment"):
        if len(of) > 2 and of["annotations"].nunique() == 1 and of["seed"].is_unique:
            bound, found = of["elbo/train"].astype(float), of[scores].astype(float)
            chosen, oracle = found.loc[bound.idxmax()], found.loc[found["train/acc"].idxmax()]
            table.append([f"[{name}](#{name})", "", f"1×{len(of)}", *(
                short(one[score]) for score in scores for one in (found.mean(), chosen, oracle))])  # fmt: skip
    return table


def annotators(runs: pd.DataFrame, suite: Iterable[tuple[str, pd.DataFrame]]) -> tuple[Table, Table]:
    """Intervals, ranks and calibration of co-training; errors and ranks of the annotators of MNIST by record.

    Parameters
    ----------
    suite : anchor of a file → its fits
    """
    names = ["interval_coverage", "coverage_sensitivity", "coverage_specificity", "sensitivity_rank",
             "specificity_rank", "calibration_error"]  # fmt: skip
    table = [["data", "answers", "fits", *(name.replace("_", " ") for name in names)]]
    for source, fits in suite:
        fits = fits.reindex(columns=[*fits, *(name for name in names if name not in fits)])
        fits = fits[(fits["method"] == "cotrain") & fits[names].notna().any(axis=1)]
        people = fits.loc[fits["regime"] == "crowd", "data"]
        where = fits["data"].where(fits["data"].isin(people), "tables")
        for (data, regime), of in fits.groupby([where, "regime"], sort=False):
            name = f"[{data}](#{source}){', locked' if source.endswith('locked') else ''}"
            table.append([name, str(regime), str(len(of)), *(short(of[one].mean()) for one in names)])
    pairs = [f"workers/{seen}{what}_{kind}" for what in ("sensitivity", "specificity") for kind in ("mae", "rank")
             for seen in ("", "observed_")]  # fmt: skip
    heads = [one.removeprefix("workers/").replace("_mae", " error").replace("_", " ") for one in pairs]
    errors = [["record", "runs", *heads]]
    known = runs[(runs["annotations"] == "crowd") & runs["workers/sensitivity_mae"].notna()]
    for name, of in known.groupby("experiment"):
        if not of.duplicated(["model", "seed"]).any():  # a mean over changed settings says nothing
            means = (short(of[one].astype(float).mean()) for one in pairs)
            errors.append([f"[{name}](#{name})", str(len(of)), *means])
    return table, errors
