"""docs/results.md, and what README.md quotes of it, of what recorded/ has: ``make results``.

Between ``<!-- results:NAME -->`` and ``<!-- /results -->`` of README.md stands the template's block of that name. Only
the list of records that are older than their method's files needs git; it is kept in recorded/stale.json. Nothing else
depends on the machine, so that a test can render both pages again and compare.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from reproduction.report.results import NO_RESULTS, WHOSE, papers, short
from reproduction.report.runs import commands, format_ranges, read_runs
from semicrowd.files import write_json, write_text
from tools import results_tables as tables

RECORDED, PAGE, README = Path("recorded"), Path("docs/results.md"), Path("README.md")
STALE = RECORDED / "stale.json"
#: Method → its files below src/semicrowd, where it is more than methods/NAME.py; what all methods share is left out.
_GENERATIVE = ("methods/generative.py", "methods/protocols.py", "models", "nets", "starts", "training")
_FILES: dict[str, Sequence[str]] = {
    "scdc": ("methods/scdc.py", *_GENERATIVE),
    "bayes": ("methods/bayes.py", "inference/message_passing.py", *_GENERATIVE),
    "cotrain": ("methods/cotraining",), "slpd": ("methods/slpd",), "deep_dpm": ("methods/deep_dpm",),
    **dict.fromkeys(("dpm", "ddpm_s", "ddpm_l"), ("methods/discriminative", "inference/gibbs")),
    **dict.fromkeys(("kmeans", "gmm"), ("methods/unsupervised.py",)), "deep_mcvc": ("methods/mcvc.py",),
    "crowd_logistic": ("methods/crowd_only.py", "starts/answer_classifier.py"),
}  # fmt: skip
_SUITE = "python benchmarks/suite.py --regimes {} --data {} --seeds {} --methods {}"
#: Files of fits, and what writes them, once for each kind of answers; the commits' own suite wrote those without.
_FITS = {
    "cotraining": f"{_SUITE} --out recorded/cotraining.csv",
    "cotraining_ablation": "python benchmarks/ablation.py --out recorded/cotraining_ablation.csv",
    "settings": f"{_SUITE} --memory .cache/starts --out recorded/settings.csv",
    "suite/development": "", "suite/locked": "",
}  # fmt: skip
_BLOCK = re.compile(r"(<!-- results:(\w+) -->\n).*?(<!-- /results -->)", re.S)


def sources(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Every recorded file of runs, trials or fits: its anchor, methods, commits, seeds and commands."""
    found: list[dict[str, Any]] = []
    for name, of in runs.groupby("experiment"):
        lines = [one.removeprefix("python src/train.py ").removeprefix("-m ") for one in commands(of)]
        found.append({"anchor": name, "path": f"runs/{name}.json", "methods": {*of["model"]},
                      "commits": {*of["commit"]}, "seeds": format_ranges(of["seed"]), "commands": lines})  # fmt: skip
    for path in sorted((RECORDED / "slpd").glob("*.json")):
        origin = json.loads(path.read_text(encoding="utf-8"))
        found.append({"anchor": f"slpd_{path.stem}", "path": f"slpd/{path.stem}.csv", "methods": {"slpd"},
                      "commits": {origin["git_commit"]}, "seeds": f"{origin['trials']} trials",
                      "commands": [origin["command"]]})  # fmt: skip
    for name, command in _FITS.items():
        fits = pd.read_csv(RECORDED / f"{name}.csv", dtype={"commit": str})
        found.append({"anchor": name.replace("/", "_"), "path": f"{name}.csv",
                      "methods": {one.partition("[")[0] for one in fits["method"]}, "commits": {*fits["commit"]},
                      "seeds": format_ranges(fits["seed"]), "commands": [*dict.fromkeys(
                          command.format(regime, " ".join(of["data"].unique()), format_ranges(of["seed"]),
                                         shlex.join(of["method"].unique()))
                          for regime, of in fits.groupby("regime"))]})  # fmt: skip
    return found


def write_stale(records: Iterable[Mapping[str, Any]]) -> None:
    """Ask git which records lack later commits that changed their methods' files, and keep their names.

    Commits of recorded/unchanged.csv, after which fits were the same, do not count.
    """
    same, stale = {*pd.read_csv(RECORDED / "unchanged.csv")["commit"]}, []
    for one in records:
        files = [path for name in one["methods"] for path in _FILES.get(name, [f"methods/{name}.py"])]
        later = [["git", "rev-list", f"{commit}..HEAD", "--", *(f"src/semicrowd/{path}" for path in files)]
                 for commit in one["commits"]]  # fmt: skip
        found = {line for one in later for line in subprocess.check_output(one, text=True).split()}
        if found - same:
            stale.append(one["anchor"])
    write_json(STALE, {"stale": stale})


def _right(fits: pd.DataFrame) -> dict[str, int]:
    """How many fits found as many clusters as there are classes, and how many at most one more or less."""
    less = (fits["clusters"] - fits["classes"]).abs()
    return {"fits": len(fits), "equal": int((less == 0).sum()), "near": int((less <= 1).sum())}


def _look(latest: pd.DataFrame, locked: pd.DataFrame) -> dict[str, Any]:
    """The newest look at the locked sets, and ``before``: the look before it at the same data, answers and seeds."""
    found = {}
    asked = latest.loc[latest["regime"] != "none", ["data", "regime", "seed"]]
    older = locked[(locked["method"] == "cotrain") & ~locked["commit"].isin(latest["commit"])].merge(asked)
    before = older[older["date"] == older["date"].max()].drop_duplicates([*asked])
    for name, fits in (("now", latest[latest["regime"] != "none"]), ("before", before)):
        crowd = fits.loc[fits["regime"] == "crowd", "nmi"].mean()
        found[name] = {**fits.iloc[0][["date", "commit"]], **_right(fits), "crowd": crowd}
    return {**found, "sets": latest["data"].nunique()}


def _rates(rules: pd.DataFrame) -> dict[str, float]:
    """Shares of data sets on which rules for the number of clusters are right: of all rules, the old and the used."""
    shares = rules[rules["quantity"] == "share with the number of classes"].set_index("method")["mean"]
    used, old = (shares[shares.index.str.startswith(name)].item() for name in ("features_alone.py", "today"))
    return {"rules": len(shares), "least": shares.min(), "most": shares.max(), "used": used, "old": old}


@cache
def recorded_runs() -> pd.DataFrame:
    """The runs of recorded/ alone."""
    return read_runs(NO_RESULTS)


@cache
def context() -> dict[str, Any]:
    """What the template shows."""
    runs, measured = recorded_runs(), pd.read_csv(RECORDED / "measured.csv")
    curve = measured[(measured["paper"] == "slpd") & (measured["exhibit"] == "Fig. 2")]
    peaks = curve.loc[curve.groupby("answers")["mean"].idxmax()]  # of the held-out log-likelihood of wine
    peaks = peaks.assign(mean=peaks["method"].str.extract(r"(\d+)$")[0].astype(float), quantity="clusters",
                      method="peak of the mean curve, " + peaks["answers"])  # fmt: skip
    shown = papers(runs, pd.concat([measured, peaks]))
    once = {name: of for name, of in measured.groupby("exhibit")}
    summary = []
    for paper in shown:
        seen: set[tuple[float, str]] = set()
        for exhibit in paper["exhibits"]:
            exhibit["table"] = tables.exhibit(exhibit["rows"], exhibit["numbers"], seen)
            exhibit["settings"] = tables.settings(exhibit["rows"])
            stated = any("protocol" in of for of in exhibit["numbers"])
            exhibit["why"] = exhibit["gap"] if stated and exhibit["key"] in [one[1] for one in paper["summary"]] else ""
            if exhibit["key"] in ("figure-3a", "figure-3b"):
                of = [one for (key, *_), one in paper["cells"].items() if key == exhibit["key"]]
                exhibit["table"] = tables.by_answers(of, once[exhibit["label"]])
        paper["verdicts"], paper["held"] = tables.verdicts(paper["claims"])
        for name, exhibit, key, at, quantity, *drawn in paper["summary"]:
            row, columns = paper["cells"][exhibit, key, *([] if at is None else [at])]
            found = {column: of[quantity] for column, of in columns.items() if quantity in of}
            source = next(found[one].source for one in ("ours", "alone", "protocol") if one in found)
            seconds = runs.loc[runs["experiment"] == source, "seconds/fit"].astype(float).mean()
            printed = short(row.paper[quantity][0]) if quantity in row.paper else "".join(drawn) or "–"
            line = {"name": name, "paper": printed, "numbers": found, "source": source, "minutes": seconds / 60}
            summary.append(line)
    read = {one: pd.read_csv(RECORDED / f"{one}.csv", dtype={"commit": str}) for one in (*_FITS, "speed")}
    locked, speed = read["suite/locked"], read["speed"]
    speed["command"] = ("`" + speed["command"].str.replace("python benchmarks/run.py", "…") + "`").where(
        speed["command"] != "by hand", "by hand")  # fmt: skip
    newest = locked.loc[locked["date"].idxmax(), "commit"]
    latest = locked[(locked["method"] == "cotrain") & (locked["commit"] == newest)]
    development = read["cotraining"]
    told = development[~development["method"].isin(("cotrain", "scdc", "bayes"))]  # the number of classes
    others = {"development": pd.concat([read["suite/development"], told]), "locked": locked}
    now = {"development": development[(development["method"] == "cotrain")
                                      & ~development["regime"].isin(tables.HARDER)], "locked": latest}  # fmt: skip
    crowds = {name: {kind: tables.beside(fits[(fits["regime"] == "crowd") == (kind == "crowds")], others[name])
                     for kind in ("crowds", "tables")} for name, fits in now.items()}  # fmt: skip
    right = {name: {"answers": _right(fits[fits["regime"] != "none"]), "none": _right(fits[fits["regime"] == "none"])}
             for name, fits in now.items()}  # fmt: skip
    coverage, errors = tables.annotators(runs, [("cotraining", development), ("suite_locked", latest)])
    random = development[(development["regime"] == "chance") & (development["method"] == "cotrain")]
    records, ablation, settings = sources(runs), read["cotraining_ablation"], read["settings"]
    return {
        "papers": shown, "summary": summary, "whose": WHOSE, "crowds": crowds, "right": right,
        "look": _look(latest, locked), "failed": locked[locked["status"] != "done"],
        "looks": tables.looks(pd.read_csv(RECORDED / "suite/locked_looks.csv", dtype=str), locked),
        "coverage": coverage, "errors": errors, "starts": tables.starts(runs),
        "ablation": tables.less_the_whole(ablation.assign(
            kind=(ablation["regime"] == "crowd").map({True: "crowds", False: "tables"})), "without", "none"),
        "settings": tables.less_the_whole(settings.assign(kind=settings["regime"].map(
            {"pairs90": "tables, answers", "none": "tables, no answers", "crowd": "MNIST"})), "method"),
        "added": tables.less_the_whole(
            settings[settings["method"].isin(("cotrain", "scdc", "bayes"))].assign(kind="tables"), "method", "cotrain"),
        "speed": [[*speed.columns], *speed.astype(str).to_numpy().tolist()],
        "harder": tables.harder(development), "random": random,
        "once": once, "pivot": tables.pivot, "rates": _rates(once["number of clusters, features alone"]),
        "records": records, "stale": json.loads(STALE.read_text(encoding="utf-8"))["stale"],
    }  # fmt: skip


def pages() -> dict[Path, str]:
    """The page, and README.md, which quotes it, as they ought to be."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("reproduction.report"), undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    templates.filters["short"] = short
    template, values = templates.get_template("results.md"), context()

    def block(part: re.Match[str]) -> str:
        return f"{part[1]}\n{template.render(values, block=part[2]).strip()}\n\n{part[3]}"

    return {PAGE: template.render(values, block=""), README: _BLOCK.sub(block, README.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    try:
        write_stale(sources(recorded_runs()))
    except (FileNotFoundError, subprocess.CalledProcessError):
        print(f"{STALE} stays as it is: no git, or not the whole history")
    for path, text in pages().items():
        write_text(path, text)
