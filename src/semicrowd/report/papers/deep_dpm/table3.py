"""Table 3: how long the autoencoder was trained."""

from pathlib import Path

import pandas as pd

from semicrowd.data.encoded import FOLDER
from semicrowd.pipeline.experiments import DATA
from semicrowd.report.cells import Cell
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import cells_of_experiment, paired
from semicrowd.report.papers.deep_dpm.sets import MEASURES, METHODS
from semicrowd.report.runs import Collected
from semicrowd.settings.sources import TRAINED

#: Share of the training → the paper's row.
ROWS = dict(zip(TRAINED, ("250,000 steps", "500,000 steps", "750,000 steps", "1000,000 steps"), strict=True))
TEXT = (
    "MNIST, features after a quarter, two, three and all four quarters of one training of the autoencoder{steps}. The "
    "paper's 1,000,000 steps are those of its Table 2, which its text calls 100,000."
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The table's cells, a row for each stage and method; the last stage is that of Table 2."""
    rows: list[Cell] = []
    commands: list[str] = []
    for trained, paper in ROWS.items():
        at = collected if trained == TRAINED[-1] else collected.at({"data.trained": trained})
        for ending, method in list(METHODS.items())[1:]:
            experiment = f"deep_{'mnist' if trained == TRAINED[-1] else 'trained'}{ending}"
            rows += cells_of_experiment(
                at, experiment, exhibit, f"{paper}, {method}", MEASURES, with_answers=False
            )
            commands += collected.commands_of(experiment)
        name = "deep_mnist" if trained == TRAINED[-1] else "deep_trained"
        rows += paired(at, f"{paper}, DDPM less DPM", name, f"{name}_dpm", MEASURES)
    return Result(cells=tuple(rows), text=TEXT.format(steps=_steps()), commands=tuple(dict.fromkeys(commands)))


def _steps(path: Path = DATA / FOLDER / "mnist" / "training.csv") -> str:
    """What the training says of itself."""
    if not path.is_file():
        return ""
    rows = pd.read_csv(path)
    errors = ", ".join(f"{error:.4f}" for error in rows["held_out_error"])
    return f" ({int(rows['steps'].iloc[-1])} steps in all; squared error on items that it is not trained on: {errors})"
