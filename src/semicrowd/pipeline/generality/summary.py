"""Summary of the suite's fits: a table of cells, shares of cells, ranks, paired differences.

A cell here is a data set under a regime; its fits are methods × seeds. Differences are paired by seed.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from semicrowd.pipeline.generality.figures import NEAR, NEAR_ALONE, figures, level, mean_ranks, with_answers
from semicrowd.pipeline.generality.plan import BOUNDS, EXPLAINED, OURS, VARIANTS, base_of

#: Standard methods that use the features alone.
PLAIN = ("kmeans", "gmm")


def summary(rows: pd.DataFrame, data: Sequence[str], regimes: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Table of cells, and the page that summarises them.

    Parameters
    ----------
    rows : one for each fit: data, regime, method, seed, status, nmi, clusters, classes, seconds, commit, dirty, date

    Returns
    -------
    table : a row for each cell and method: the number ``n`` of seeds and the seeds; mean and standard deviation of
        NMI; mean number of clusters and of seconds; the number of clusters for each seed, their median, and the number
        of classes; the best variant of a baseline and the number of its variants; rank among the methods of the cell
        (1 is best); the best baseline. For our methods, also the differences to the best baseline, to k-means, to
        answers + LR and to the better of k-means and GMM, with their standard errors
    text : Markdown
    """
    table = cell_table(rows)
    order = {name: k for k, name in enumerate([*data, *regimes])}
    table = table.sort_values(["data", "regime"], key=lambda names: names.map(order), kind="stable")
    return table.reset_index(drop=True), "\n\n".join([
        "# Generality", _head(rows), "## The bars", "\n".join(f"- {line}" for line in bars(table)),
        "## Shares of the cells", _verdicts(table), "## Mean rank", _ranks(table),
        "## NMI of all items", _main_table(table),
        "## Number of clusters for each seed, variants that count, and seconds", _side_table(table),
    ]) + "\n"  # fmt: skip


def cell_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The table of cells that :func:`summary` describes."""
    summarised = []
    rows = rows.reindex(columns=list(dict.fromkeys([*rows, "nmi", "clusters"])))  # where no fit has a score
    for (data, regime), fits_of_all in rows.groupby(["data", "regime"], sort=False):
        # A suite that was stopped has not tried every method on its last seed, which is no failure.
        tried = [set(fits["seed"]) for _, fits in fits_of_all.groupby("method")]
        common = set.intersection(*tried) or set.union(*tried)
        cell = _best_variants(fits_of_all[fits_of_all["seed"].isin(common)])
        scores = cell.pivot(index="seed", columns="method", values="nmi")
        # A fit without a score (it failed or took too long) leaves its method without a mean in this cell.
        means = scores.mean(skipna=False)
        rank = (-means).rank(method="average", na_option="bottom")
        others = means.drop(labels=[m for m in OURS if m in means]).dropna()
        best = str(others.idxmax()) if len(others) else ""
        plain = str(means.reindex(PLAIN).fillna(-np.inf).idxmax())
        for method, fits in cell.groupby("method", sort=False):
            row = {
                "data": data, "regime": regime, "method": method, "n": len(fits),
                "seeds": " ".join(map(str, sorted(fits["seed"]))), "nmi": means[method],
                "nmi_sd": scores[method].std(), "clusters": fits["clusters"].mean(), "classes": fits["classes"].iloc[0],
                "found": " ".join(_whole(x) for x in fits.sort_values("seed")["clusters"]),
                "clusters_median": fits["clusters"].median(), "variant": fits["variant"].iloc[0],
                "variants": fits["variants"].iloc[0],
                "seconds": fits["seconds"].mean(), "rank": rank[method], "best_baseline": best,
                "status": "; ".join(sorted(set(fits["status"]) - {"done"})),
            }  # fmt: skip
            if method in OURS:
                for name, other in (("best", best), ("kmeans", "kmeans"), ("lr", "crowd_logistic"), ("plain", plain)):
                    row |= _difference(scores, str(method), other, name)
            summarised.append(row)
    return pd.DataFrame(summarised)


def _best_variants(cell: pd.DataFrame) -> pd.DataFrame:
    """Fits of a cell, of each baseline only those of its best variant, under the baseline's name."""
    name = cell["method"].map(lambda method: VARIANTS[method].baseline if method in VARIANTS else method)
    scores = cell.pivot(index="seed", columns="method", values="nmi").mean(skipna=False)
    kept = []
    for method, fits in cell.groupby(name, sort=False):
        means = scores[fits["method"].unique()]
        chosen = means.index[0] if means.isna().all() else means.idxmax()
        kept.append(fits[fits["method"] == chosen].assign(method=method, variant=chosen, variants=len(means)))
    return pd.concat(kept)


def _whole(clusters: float) -> str:
    return "–" if np.isnan(clusters) else f"{clusters:.0f}"


def _difference(scores: pd.DataFrame, one: str, other: str, name: str) -> dict[str, float]:
    if other not in scores:
        return {}
    # If one seed has no score, there is no difference: the other seeds alone would favour one of the two methods.
    paired = scores[one] - scores[other]
    return {f"to_{name}": float(paired.mean(skipna=False)), f"to_{name}_se": float(paired.sem(skipna=False))}


def provenance(rows: pd.DataFrame) -> str:
    """A sentence with the number of fits, their dates, seeds and commits."""
    when = f"{rows['date'].min()[:10]} to {rows['date'].max()[:10]}" if len(rows) else ""
    commits = ", ".join(f"{c[:10]} ({k} fits)" for c, k in rows["commit"].fillna("unknown").value_counts().items())
    dirty = "; with uncommitted changes" if rows["dirty"].fillna(True).any() else ""
    seeds = ", ".join(map(str, sorted(rows["seed"].unique())))
    return f"{len(rows)} fits, {when}, seeds {seeds}; commit {commits}{dirty}."


def _head(rows: pd.DataFrame) -> str:
    lines = [
        provenance(rows),
        f"{', '.join(OURS)} only get the features and the answers, with default settings; the other methods are also "
        "given the true number of clusters. NMI is of all items. Differences are paired by seed, ± their standard "
        "error. The best baseline of a cell is the one with the highest mean NMI, so it is chosen with hindsight.",
        EXPLAINED,
    ]  # fmt: skip
    there = {VARIANTS[name].baseline if name in VARIANTS else name for name in rows["method"]}
    lines += [f"{name}: {why}." for name, why in BOUNDS.items() if name in there]
    return "\n\n".join(lines)


def bars(table: pd.DataFrame) -> list[str]:
    """The requirements ("bars") for a default method, and what each of our methods reaches: one sentence for each."""
    lines = []
    for method in OURS:
        result = figures(table, method)
        if result is None:
            continue
        if result.near.of:
            lines += [
                f"{method}: within {NEAR:g} NMI of the best baseline, or above it, in {result.near.with_percent} "
                "cells with answers (bar: 90 %)",
                f"{method}: more than {NEAR:g} below k-means in {result.below_kmeans} and below answers + LR in "
                f"{result.below_lr} cells with answers (bar: never)",
            ]  # fmt: skip
        if result.exact.of:
            lines.append(f"{method}: as many clusters as classes in {result.exact.with_percent} cells with answers, "
                         f"off by at most one in {result.within_one.with_percent} (median over the seeds)")
        if not np.isnan(result.rank):
            of_all = f"place {result.place} of {result.methods} methods (bar: 1)"
            lines.append(f"{method}: mean rank {result.rank:.2f} with answers, {of_all}")
        for share, where in ((result.alone, "without answers"), (result.chance, "with random answers")):
            if share.of:
                lines.append(f"{method}: {where} within {NEAR_ALONE:g} of the better of k-means and GMM, or above it, "
                             f"in {share.with_percent} cells (bar: 80 %)")
    return lines


def _verdicts(table: pd.DataFrame) -> str:
    header = ["method", "cells with answers", f"within {NEAR:g} of the best baseline, or above",
              f"not more than {NEAR:g} below k-means", f"not more than {NEAR:g} below answers + LR",
              "smallest difference to the best", f"without answers: within {NEAR_ALONE:g} of the best",
              "number of clusters = classes", "off by at most one"]  # fmt: skip
    lines = []
    for method in OURS:
        result = figures(table, method)
        if result is None:
            continue
        answered = with_answers(table[table["method"] == method])
        alone = table[(table["method"] == method) & (table["regime"] == "none")]
        shares = [level(answered, name, NEAR) for name in ("to_best", "to_kmeans", "to_lr")]
        lines.append([
            method, str(len(answered)), *(share.with_percent for share in shares),
            "" if np.isnan(result.worst) else signed(result.worst), level(alone, "to_best", NEAR_ALONE).with_percent,
            result.exact.with_percent, result.within_one.with_percent,
        ])  # fmt: skip
    return markdown(header, lines)


def _ranks(table: pd.DataFrame) -> str:
    """Mean ranks over the cells in which every method of the column has a score."""
    columns = {}
    for name, part in (("with answers", with_answers(table)), ("none", table[table["regime"] == "none"])):
        cells = part.pivot(index=["data", "regime"], columns="method", values="rank").dropna()
        columns[f"{name} ({len(cells)} cells)"] = mean_ranks(part)
    frame = pd.DataFrame(columns)
    frame = frame.sort_values(frame.columns[0])
    return markdown(["method", *frame.columns],
                     [[str(m), *("" if np.isnan(x) else f"{x:.2f}" for x in row)] for m, row in zip(
                         frame.index, frame.to_numpy(), strict=True)])  # fmt: skip


def _main_table(table: pd.DataFrame) -> str:
    methods, ours = _methods(table), [m for m in OURS if m in set(table["method"])]
    lines = []
    for (data, regime), cell in table.groupby(["data", "regime"], sort=False):
        by_method = cell.set_index("method")
        best = by_method["best_baseline"].iloc[0]
        line = [str(data), str(regime)]
        for method in methods:
            line.append(_mean(by_method.loc[method], bold=method == best) if method in by_method.index else "")
        for method in ours:
            there = method in by_method.index and "to_best" in by_method
            line.append(_to_best(by_method.loc[method]) if there else "")
        lines.append(line)
    return markdown(["data", "regime", *methods, *(f"{m} − best" for m in ours)], lines)


def _side_table(table: pd.DataFrame) -> str:
    methods, ours = _methods(table), [m for m in OURS if m in set(table["method"])]
    others = [m for m in methods if m not in ours and (table.loc[table["method"] == m, "variant"] != m).any()]
    lines = []
    for (data, regime), cell in table.groupby(["data", "regime"], sort=False):
        by_method = cell.set_index("method")
        line = [str(data), str(regime), str(by_method["classes"].iloc[0])]
        line += [str(by_method["found"].get(name, "")) for name in ours]
        line += [str(by_method["variant"].get(name, "")).removeprefix(f"{name}_") for name in others]
        seconds = [by_method["seconds"].get(name, np.nan) for name in methods]
        lines.append([*line, *("" if np.isnan(x) else f"{x:.0f}" for x in seconds)])
    return markdown(["data", "regime", "classes", *(f"{m}: found" for m in ours), *(f"{m}: variant" for m in others),
                     *(f"{m}: s" for m in methods)], lines)  # fmt: skip


def _methods(table: pd.DataFrame) -> list[str]:
    there = list(dict.fromkeys(table["method"]))
    return [*(m for m in OURS if m in there), *(m for m in there if m not in OURS)]


def _mean(row: pd.Series, *, bold: bool) -> str:
    if np.isnan(row["nmi"]):
        return str(row["status"]).partition(":")[0] or "–"
    text = short(row["nmi"]) + ("" if np.isnan(row["nmi_sd"]) else f" ± {short(row['nmi_sd'])}")
    return f"**{text}**" if bold else text


def _to_best(row: pd.Series) -> str:
    return "" if np.isnan(row["to_best"]) else with_error(row["to_best"], row["to_best_se"])


def with_error(value: float, error: float) -> str:
    """A difference with its sign and its standard error, where there is one."""
    return signed(value) + ("" if np.isnan(error) else f" ± {short(error)}")


def short(value: float) -> str:
    """Three decimals, without the zero before the decimal point."""
    text = f"{value:.3f}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def signed(x: float) -> str:
    """A difference with its sign."""
    return ("+" if x >= 0 else "−") + short(abs(x))


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    rows = [f"| {' | '.join(cells)} |" for cells in ([*header], *lines)]
    return "\n".join([rows[0], "|" + "-|" * len(header), *rows[1:]])


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
