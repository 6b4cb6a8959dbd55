"""The figures of docs/how_it_works.md: python tools/docs_figures.py FOLDER, in which the tutorial was done.

They are kept in docs/images/, since a build of the documentation does not run the tutorial.
"""

import ast
import re
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semicrowd.figures.style import ACCENT, COLOURS, MAIN, MARKERS, MUTED, new_figure, tidy

DOCS = Path(__file__).parents[1] / "docs"
#: The two fits of the tutorial, and what stands above each.
RUNS = {"first": "210 answers", "second": "300 more"}
#: Probability below which the page of a run calls an item uncertain.
_UNCERTAIN = 0.9


def wines(folder: Path) -> None:
    """The bottles in the plane of their two leading principal components, by cluster, in both fits."""
    table = pd.read_csv(folder / "wines.csv").set_index("id")
    plane = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), PCA(2))
    at = plane.fit_transform(table.select_dtypes("number"))
    figure = new_figure(9, 4, "")
    for axes, (run, title) in zip(figure.subplots(1, 2, sharex=True, sharey=True), RUNS.items(), strict=True):
        found = pd.read_csv(folder / "runs" / run / "assignments.csv").set_index("item").loc[table.index]
        # In the order of the plane, so that both fits colour alike what is alike.
        for number, cluster in enumerate(_in_order(found["cluster"].to_numpy(), at)):
            members = found["cluster"] == cluster
            for sure in (True, False):
                x, y = at[(members & ((found["probability"] >= _UNCERTAIN) == sure)).to_numpy()].T
                face = COLOURS[number] if sure else "none"
                axes.scatter(x, y, s=22, marker=MARKERS[number], facecolors=face, edgecolors=COLOURS[number])
        tidy(axes, title, "first principal component", "second")
    figure.savefig(DOCS / "images" / "wines.svg", metadata={"Date": None})


def annotators(folder: Path) -> None:
    """Rates of the people with intervals, beside how often they were made to be right."""
    found = pd.read_csv(folder / "runs" / "second" / "workers.csv")
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    people = re.search(r"^people = (\{.*?\})$", page, re.M)
    assert people is not None
    made = ast.literal_eval(people[1])
    figure = new_figure(7, 3.2, "")
    axes = figure.subplots()
    row = np.arange(len(found))[::-1]
    for rate, colour, marker, shift in (("sensitivity", MAIN, "o", 0.12), ("specificity", ACCENT, "^", -0.12)):
        ends = np.abs(found[[f"{rate}_low", f"{rate}_high"]].to_numpy().T - found[rate].to_numpy())
        axes.errorbar(found[rate], row + shift, xerr=ends, fmt=marker, color=colour, label=rate, markersize=5)
    axes.plot(found["annotator"].map(made), row, "x", color="black", label="made to be right")
    axes.axvline(0.5, color=MUTED, linestyle="--", linewidth=0.8)
    axes.set_yticks(row, found["annotator"])
    tidy(axes, "", "share of right answers", "")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(DOCS / "images" / "annotators.svg", metadata={"Date": None})


def _in_order(clusters: np.ndarray, at: np.ndarray) -> list[int]:
    """Clusters from left to right in the plane."""
    return sorted(np.unique(clusters), key=lambda one: at[clusters == one, 0].mean())


if __name__ == "__main__":
    matplotlib.rcParams["svg.hashsalt"] = "semicrowd"  # the same file of the same numbers
    wines(Path(sys.argv[1]))
    annotators(Path(sys.argv[1]))
