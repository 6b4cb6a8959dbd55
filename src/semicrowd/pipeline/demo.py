"""``make demo``: the pinwheel without and with answers, by both models, in one figure."""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import yaml

from semicrowd.data import load_dataset
from semicrowd.figures.plane import Panel, draw_panels
from semicrowd.pipeline.experiments import DATA
from semicrowd.run.commandline.arguments import folder_name
from semicrowd.run.files.results import final_clusters

FOLDER = Path("demo")
DEMO_MODELS = ("scdc", "bayes")
ANSWERS = ("none", "two_coin")
NAMES = {"scdc": "SCDC", "bayes": "BayesSCDC", "none": "no answers", "two_coin": "980 noisy answers"}
COMMAND = (
    "src/train.py",
    "-m",
    "data=pinwheel",
    f"model={','.join(DEMO_MODELS)}",
    f"annotations={','.join(ANSWERS)}",
    "restarts=3",
    "seed=0",
    f"hydra.sweep.dir={FOLDER}",
    "hydra/launcher=joblib",
    "hydra.launcher.n_jobs=2",
)


def panel(model: str, answers: str) -> Panel:
    """The clusters of one of the four runs, with its scores."""
    directory = FOLDER / folder_name([f"model={model}", f"annotations={answers}"])
    metrics = json.loads((directory / "metrics.json").read_text(encoding="utf-8"))
    config = yaml.safe_load((directory / "config.yaml").read_text(encoding="utf-8"))
    options = {key: value for key, value in config["data"].items() if key != "name"}
    clusters = final_clusters(directory)  # of annotated items by their answers, too
    title = (
        f"{NAMES[model]}, {NAMES[answers]}: {len(np.unique(clusters))} clusters, "
        f"accuracy {metrics['final/acc']:.3f}, NMI {metrics['final/nmi']:.3f}"
    )
    return Panel(title, load_dataset("pinwheel", DATA, **options).features, clusters)


def main() -> int:
    """Run the four jobs and draw them."""
    print("$ python", *COMMAND, flush=True)
    # Networks as small as these are fastest with one thread.
    done = subprocess.run([sys.executable, *COMMAND], env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
    if done.returncode:
        return done.returncode
    figure = FOLDER / "comparison.png"
    panels = [panel(model, answers) for model, answers in product(DEMO_MODELS, ANSWERS)]
    draw_panels("pinwheel: clusters found", panels, figure)
    best = FOLDER / folder_name(["model=bayes", "annotations=two_coin"])
    print(f"""
open these:
  {figure}: the clusters of all four runs
  {FOLDER / "jobs.csv"}: their numbers
  {best / "figures"}: the figures of one run
  {best / "assignments.csv"}, {best / "workers.csv"}: each item's cluster, each annotator's reliability
make ui shows the runs in a browser""")
    return 0


if __name__ == "__main__":
    sys.exit(main())
