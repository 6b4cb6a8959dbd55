"""docs/results.md and the tables of other pages that quote it, of what recorded/ has: ``make results``.

Between ``<!-- results:NAME -->`` and ``<!-- /results -->`` of a page stands the template's block of that name. Only the
list of records that are older than their method's files needs git; it is kept in recorded/stale.json. Nothing else
depends on the machine, so that a test can render all pages again and compare.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from reproduction.report.results import WHOSE, Numbers, Table, named, papers, short
from reproduction.report.runs import commands, format_ranges, read_runs
from reproduction.report.tables import Row
from semicrowd.files import write_json, write_text

RECORDED, PAGE = Path("recorded"), Path("docs/results.md")
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
#: Files of fits, and what writes them; the commits' own suite wrote those that have no command here.
_FITS = {
    "cotraining": "python benchmarks/suite.py --methods cotrain --out recorded/cotraining.csv",
    "cotraining_ablation": "python benchmarks/ablation.py --out recorded/cotraining_ablation.csv",
    "pieces": "", "suite/development": "", "suite/locked": "",
}  # fmt: skip
_BLOCK = re.compile(r"(<!-- results:(\w+) -->\n).*?(<!-- /results -->)", re.S)


def by_answers(cells: Iterable[tuple[Row, Numbers]], once: pd.DataFrame) -> Table:
    """NMI on Face: a line for each method and column, with a cell for each number of answers of a person."""
    lines: dict[tuple[str, str], dict[int, str]] = {}
    for row, columns in cells:
        for column, of in columns.items():
            label = named(row.spec["row"].replace(", {} answers each", ""), column)
            texts = lines.setdefault((f"[{label}](#{of['NMI'].source})", str(of["NMI"].n)), {})
            texts[int(row.at[0]) if row.at else 0] = short(*of["NMI"][:2])
    for one in once.itertuples():
        number = one.answers.partition(" ")[0]
        texts = lines.setdefault((f"[{one.method}](#measured)", str(one.n)), {})
        texts[int(number) if number.isdigit() else 0] = short(one.mean, one.sd)
    heads = sorted({at for texts in lines.values() for at in texts})
    return [["answers of a person", "n", *map(str, heads)],
            *([*key, *(texts.get(at, "") for at in heads)] for key, texts in lines.items())]  # fmt: skip


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


def less_the_whole(fits: pd.DataFrame, by: str, whole: str) -> Table:
    """NMI without each piece less that of the whole, ± its standard error, over the same data, answers and seeds."""
    wide = fits.pivot_table(index=["data", "regime", "seed"], columns=by, values="nmi")
    crowd = wide.index.get_level_values("regime") == "crowd"
    parts = {name: wide[chosen] for name, chosen in (("crowds", crowd), ("tables", ~crowd)) if chosen.any()}
    table = [["", *(text for name in parts for text in (name, "fits"))]]
    for piece in dict.fromkeys(one for one in fits[by] if one != whole):
        less = [(part[piece] - part[whole]).dropna() for part in parts.values()]
        table.append([piece, *(text for one in less for text in (
            short(one.mean(), one.sem(), "paired difference") if len(one) else "–", str(len(one))))])  # fmt: skip
    return table


def pivot(frame: pd.DataFrame, rows: Sequence[str], column: str) -> Table:
    """``mean ± sd`` of measured.csv, in the order of the file."""
    texts = frame.assign(text=[short(*of) for of in zip(frame["mean"], frame["sd"], strict=True)])
    wide = texts.pivot_table(index=list(rows), columns=column, values="text", aggfunc="first", sort=False).fillna("")
    return [[*rows, *wide.columns], *wide.reset_index().astype(str).to_numpy().tolist()]


def looks(locked: pd.DataFrame) -> Table:
    """Every look at the locked sets, and the mean NMI of co-training by kind of answers that is kept of it."""
    table = [["date", "commit", "data", "seeds", "co-training, mean NMI"]]
    for one in pd.read_csv(RECORDED / "suite/locked_looks.csv", dtype=str).itertuples():
        fits = locked[locked["commit"].map(one.commit.startswith) & locked["data"].isin(one.data.split())
                      & locked["regime"].isin(one.regimes.split()) & locked["seed"].astype(str).isin(one.seeds.split())
                      & (locked["method"] == "cotrain") & ("cotrain" in one.methods)]  # fmt: skip
        gave = ", ".join(f"{regime} {short(mean)}" for regime, mean in fits.groupby("regime")["nmi"].mean().items())
        gave = gave or ("not kept" if "cotrain" in one.methods else "others alone")
        table.append([one.date[:16].replace("T", " "), one.commit[:8], one.data, one.seeds, gave])
    return table


def starts(runs: pd.DataFrame) -> Table:
    """Records of runs with several starts: the mean of the starts, that with the highest bound, the best by label."""
    table = [["record", "answers of a person", "runs", *(f"{score}, {which}" for score in ("ACC", "NMI")
              for which in ("mean of the starts", "by the bound", "by label (oracle)"))]]  # fmt: skip
    some = runs[runs["starts/mean_acc"].notna()]
    for (name, pairs), of in some.groupby(["experiment", "annotations.pairs_per_annotator"], dropna=False):
        columns = [f"{one}_{score}".replace("train_", "train/") for score in ("acc", "nmi")
                   for one in ("starts/mean", "train", "starts/oracle")]  # fmt: skip
        table.append([f"[{name}](#{name})", "" if pd.isna(pairs) else f"{pairs:.0f}", str(len(of)),
                      *(short(of[one].astype(float).mean()) for one in columns)])  # fmt: skip
    return table


def annotators(runs: pd.DataFrame, suite: Iterable[tuple[str, pd.DataFrame]]) -> tuple[Table, Table]:
    """Intervals, ranks and calibration of co-training; errors and ranks of the annotators of MNIST by record."""
    names = ["interval_coverage", "sensitivity_rank", "specificity_rank", "calibration_error"]
    table = [["data", "answers", "fits", *(name.replace("_", " ") for name in names)]]
    for source, fits in suite:
        fits = fits[(fits["method"] == "cotrain") & fits["interval_coverage"].notna()]
        where = fits["data"].where(fits["regime"] == "crowd", "tables")
        for (data, regime), of in fits.groupby([where, "regime"], sort=False):
            name = f"[{data}](#suite_{source}){', locked' if source == 'locked' else ''}"
            table.append([name, str(regime), str(len(of)), *(short(of[one].mean()) for one in names)])
    pairs = [f"workers/{seen}{what}_{kind}" for what in ("sensitivity", "specificity") for kind in ("mae", "rank")
             for seen in ("", "observed_")]  # fmt: skip
    heads = [one.removeprefix("workers/").replace("_mae", " error").replace("_", " ") for one in pairs]
    errors = [["record", "runs", *heads]]
    known = runs[(runs["annotations"] == "crowd") & runs["workers/sensitivity_mae"].notna()]
    for name, of in known.groupby("experiment"):
        errors.append([f"[{name}](#{name})", str(len(of)), *(short(of[one].astype(float).mean()) for one in pairs)])
    return table, errors


def sources(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Every recorded file of runs, trials or fits: its anchor, methods, commits, seeds and commands."""
    found: list[dict[str, Any]] = []
    for name, of in runs.groupby("experiment"):
        lines = [one.removeprefix("python src/train.py ").removeprefix("-m ") for one in commands(of)]
        found.append({"anchor": name, "path": f"runs/{name}.json", "methods": {*of["model"]},
                      "commits": {*of["commit"]}, "seeds": format_ranges(of["seed"]), "commands": lines})  # fmt: skip
    for path in sorted((RECORDED / "slpd").glob("*.json")):
        origin = json.loads(path.read_text(encoding="utf-8"))
        command = f"python -m reproduction.stages.slpd results/slpd --{path.stem} {origin['trials']}"
        found.append({"anchor": f"slpd_{path.stem}", "path": f"slpd/{path.stem}.csv", "methods": {"slpd"},
                      "commits": {origin["git_commit"]}, "seeds": f"{origin['trials']} trials",
                      "commands": [command]})  # fmt: skip
    for name, command in _FITS.items():
        fits = pd.read_csv(RECORDED / f"{name}.csv", dtype={"commit": str})
        found.append({"anchor": name.replace("/", "_"), "path": f"{name}.csv", "methods": {"cotrain"},
                      "commits": {*fits["commit"]}, "seeds": format_ranges(fits["seed"]),
                      "commands": [command]})  # fmt: skip
    return found


def write_stale(records: Iterable[Mapping[str, Any]]) -> None:
    """Ask git which records lack later commits that changed their methods' files, and keep their names."""
    stale = []
    for one in records:
        files = [path for name in one["methods"] for path in _FILES.get(name, [f"methods/{name}.py"])]
        later = [["git", "rev-list", "--count", f"{commit}..HEAD", "--", *(f"src/semicrowd/{path}" for path in files)]
                 for commit in one["commits"]]  # fmt: skip
        if any(int(subprocess.run(one, capture_output=True, check=True).stdout) for one in later):
            stale.append(one["anchor"])
    write_json(STALE, {"stale": stale})


def _right(fits: pd.DataFrame) -> dict[str, int]:
    """How many fits found as many clusters as there are classes, and how many at most one more or less."""
    less = (fits["clusters"] - fits["classes"]).abs()
    return {"fits": len(fits), "equal": int((less == 0).sum()), "near": int((less <= 1).sum())}


@cache
def context() -> dict[str, Any]:
    """What the template shows."""
    runs, measured = read_runs(Path("nowhere")), pd.read_csv(RECORDED / "measured.csv")
    curve = measured[(measured["paper"] == "slpd") & (measured["exhibit"] == "Fig. 2")]
    peaks = curve.loc[curve.groupby("answers")["mean"].idxmax()]  # of the held-out log-likelihood of wine
    peaks = peaks.assign(mean=peaks["method"].str.extract(r"(\d+)$")[0].astype(float), quantity="clusters",
                      method="peak of the mean curve, " + peaks["answers"])  # fmt: skip
    grown = pd.read_csv(RECORDED / "released_bayes.csv").query("batch_weights == 'released'").iloc[[-1]]
    rebuilt = [{"paper": "scdc", "exhibit": "Table 1", "method": "BayesSCDC, with", "quantity": quantity, "n": 1,
                "mean": grown[name].item(), "column": "released", "source": "released_bayes"}
               for quantity, name in (("accuracy", "acc"), ("clusters", "used_clusters"))]  # fmt: skip
    known = pd.concat([measured.assign(column="ours", source="measured"),
                       peaks.assign(column="ours", source="measured"), pd.DataFrame(rebuilt)])  # fmt: skip
    shown = papers(runs, known)
    once = {name: of for name, of in measured.groupby("exhibit")}
    summary = []
    for paper in shown:
        for exhibit in paper["exhibits"]:
            if exhibit["key"] in ("figure-3a", "figure-3b"):
                of = [one for (key, *_), one in paper["cells"].items() if key == exhibit["key"]]
                exhibit["table"] = by_answers(of, once[exhibit["label"]])
        for name, exhibit, key, at, quantity in paper["summary"]:
            row, columns = paper["cells"][exhibit, key, *([] if at is None else [at])]
            found = {column: of[quantity] for column, of in columns.items() if quantity in of}
            source = next(found[one].source for one in ("ours", "alone", "protocol") if one in found)
            seconds = runs.loc[runs["experiment"] == source, "seconds/fit"].astype(float).mean()
            printed = short(row.paper[quantity][0]) if quantity in row.paper else "curve"
            line = {"name": name, "paper": printed, "numbers": found, "source": source, "minutes": seconds / 60}
            summary.append(line)
    read = {one: pd.read_csv(RECORDED / f"{one}.csv", dtype={"commit": str}) for one in (*_FITS, "speed")}
    locked, speed = read["suite/locked"], read["speed"]
    speed["command"] = ("`" + speed["command"].str.replace("python benchmarks/run.py", "…") + "`").where(
        speed["command"] != "by hand", "by hand")  # fmt: skip
    newest = locked.loc[locked["date"].idxmax(), "commit"]
    latest = locked[(locked["method"] == "cotrain") & (locked["commit"] == newest)]
    now = {"development": read["cotraining"], "locked": latest}
    crowds = {name: {kind: beside(fits[(fits["regime"] == "crowd") == (kind == "crowds")], read[f"suite/{name}"])
                     for kind in ("crowds", "tables")} for name, fits in now.items()}  # fmt: skip
    right = {name: {"answers": _right(fits[fits["regime"] != "none"]), "none": _right(fits[fits["regime"] == "none"])}
             for name, fits in now.items()}  # fmt: skip
    coverage, errors = annotators(runs, [("development", read["suite/development"]), ("locked", latest)])
    records = sources(runs)
    return {
        "papers": shown, "summary": summary, "whose": WHOSE, "crowds": crowds, "right": right,
        "look": {**latest.iloc[0][["date", "commit"]], "sets": latest["data"].nunique()},
        "looks": looks(locked), "coverage": coverage, "errors": errors, "starts": starts(runs),
        "ablation": less_the_whole(read["cotraining_ablation"], "without", "none"),
        "pieces": less_the_whole(read["pieces"], "method", "cotrain"),
        "speed": [[*speed.columns], *speed.astype(str).to_numpy().tolist()],
        "chance": once["crowds at chance"]["mean"].describe(), "once": once, "pivot": pivot,
        "records": records, "stale": json.loads(STALE.read_text(encoding="utf-8"))["stale"],
    }  # fmt: skip


def pages() -> dict[Path, str]:
    """The page, and every page that quotes it, as they ought to be."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("reproduction.report"), undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    templates.filters["short"] = short
    template, values = templates.get_template("results.md"), context()
    found = {PAGE: template.render(values, block="")}
    for path in (Path("README.md"), *sorted(Path("docs").rglob("*.md"))):
        text = path.read_text(encoding="utf-8")
        if path != PAGE and _BLOCK.search(text):
            found[path] = _BLOCK.sub(
                lambda part: f"{part[1]}\n{template.render(values, block=part[2])}\n{part[3]}", text
            )
    return found


if __name__ == "__main__":
    try:
        write_stale(sources(read_runs(Path("nowhere"))))
    except (FileNotFoundError, subprocess.CalledProcessError):
        print(f"{STALE} stays as it is: no git, or not the whole history")
    for path, text in pages().items():
        write_text(path, text)
