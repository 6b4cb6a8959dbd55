"""The figures of README.md and docs/how_it_works.md: python tools/docs_figures.py FOLDER, where the tutorial was done.

They are kept in docs/images/, since a build of the documentation does not run the tutorial. Chromium, if installed,
takes the picture of report.html.
"""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from PIL import Image
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
#: Pairs that the picture of the README shows.
_SHOWN = 40


def plane_of(folder: Path) -> pd.DataFrame:
    """The bottles in the plane of their two leading principal components."""
    table = pd.read_csv(folder / "wines.csv").set_index("id")
    plane = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), PCA(2))
    return pd.DataFrame(plane.fit_transform(table.select_dtypes("number")), table.index)


def clusters(axes: Any, folder: Path, run: str) -> None:
    """The bottles by cluster, hollow where it is uncertain; both fits colour alike what is alike in the plane."""
    at = plane_of(folder)
    found = pd.read_csv(folder / "runs" / run / "assignments.csv").set_index("item").loc[at.index]
    groups = sorted(at.groupby(found["cluster"]), key=lambda one: one[1][0].mean())
    for number, (_, members) in enumerate(groups):
        for sure in (True, False):
            x, y = members[(found["probability"][members.index] >= _UNCERTAIN) == sure].to_numpy().T
            face = COLOURS[number] if sure else "none"
            axes.scatter(x, y, s=22, marker=MARKERS[number], facecolors=face, edgecolors=COLOURS[number])


def rates(axes: Any, folder: Path) -> None:
    """Rates of the people with intervals, beside how often they were made to be right."""
    found = pd.read_csv(folder / "runs" / "second" / "workers.csv")
    people = re.search(r"^people = (\{.*?\})$", (DOCS / "tutorial.md").read_text(encoding="utf-8"), re.M)
    assert people is not None
    row = np.arange(len(found))[::-1]
    for rate, colour, marker, shift in (("sensitivity", MAIN, "o", 0.12), ("specificity", ACCENT, "^", -0.12)):
        ends = np.abs(found[[f"{rate}_low", f"{rate}_high"]].to_numpy().T - found[rate].to_numpy())
        axes.errorbar(found[rate], row + shift, xerr=ends, fmt=marker, color=colour, label=rate, markersize=5)
    axes.plot(found["annotator"].map(ast.literal_eval(people[1])), row, "x", color="black", label="made to be right")
    axes.axvline(0.5, color=MUTED, linestyle="--", linewidth=0.8)
    axes.set_yticks(row, found["annotator"])


def answers(axes: Any, folder: Path) -> None:
    """Some of the answers as lines between bottles that nothing else is known about."""
    at = plane_of(folder)
    axes.scatter(*at.to_numpy().T, s=14, color=MUTED)
    for i, j, _, label in pd.read_csv(folder / "answers.csv").drop_duplicates(["i", "j"]).head(_SHOWN).to_numpy():
        same = label == "same"
        axes.plot(*at.loc[[i, j]].to_numpy().T, color=MAIN if same else ACCENT, linestyle="-" if same else ":", lw=1)


def main(folder: Path) -> None:
    """Write the figures."""
    overview, wines, annotators = new_figure(12, 3.6, ""), new_figure(9, 4, ""), new_figure(7, 3.2, "")
    panels = overview.subplots(1, 3)
    answers(panels[0], folder)
    clusters(panels[1], folder, "second")
    rates(panels[2], folder)
    tidy(panels[0], "items, and answers: same (—), different (···)", "", "")
    tidy(panels[1], "clusters", "", "")
    tidy(panels[2], "how often each person is right", "", "")
    for axes in panels[:2]:
        axes.set(xticks=[], yticks=[])
    for axes, (run, title) in zip(wines.subplots(1, 2, sharex=True, sharey=True), RUNS.items(), strict=True):
        clusters(axes, folder, run)
        tidy(axes, title, "first principal component", "second")
    axes = annotators.subplots()
    rates(axes, folder)
    tidy(axes, "", "share of right answers", "")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    for name, figure in {"overview": overview, "wines": wines, "annotators": annotators}.items():
        figure.savefig(DOCS / "images" / f"{name}.svg", metadata={"Date": None})
    if browser := shutil.which("chromium"):
        picture = DOCS / "images" / "report.png"
        window = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,770"]
        page = (folder / "runs" / "first" / "report.html").resolve().as_uri()
        subprocess.run([browser, *window, f"--screenshot={picture}", page], check=True)
        Image.open(picture).quantize(64).save(picture, optimize=True)


if __name__ == "__main__":
    matplotlib.rcParams["svg.hashsalt"] = "semicrowd"  # the same file of the same numbers
    main(Path(sys.argv[1]))
