"""Fig. 5 of the SCDC paper: deep MCVC beside MCVC and SCDC on Face with pairs over 100 images, and on CIFAR-10."""

from dataclasses import replace
from pathlib import Path

from semicrowd.data.cifar10 import CIFAR10_IMAGES
from semicrowd.pipeline.run_files import read_num_items
from semicrowd.report.cells import Cell, PaperValue, summarise
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.experiments import cells_of_experiment, metric, remarks_on
from semicrowd.report.papers.scdc.face_curves import cells, image
from semicrowd.report.papers.scdc.figure3 import SOME
from semicrowd.report.papers.scdc.figure4b import ROWS
from semicrowd.report.papers.scdc.protocols import FIGURE_4B
from semicrowd.report.runs import Collected, Run

MODELS = ("scdc", "bayes", "deep_mcvc", "mcvc")
_DIFFERENCES = (("deep_mcvc", "mcvc"), ("scdc", "deep_mcvc"))
IMAGE = Path("figures/face-100-deep-mcvc.png")
#: Experiment of deep MCVC on CIFAR-10; the paper prints the best of five runs.
CIFAR10 = "cifar_deep_mcvc"
CIFAR10_RUNS = 5
BEST, OF_SCDC = "deep MCVC on CIFAR-10, best of 5 runs", "SCDC on CIFAR-10"
#: Row → metric, of our own numbers beside the best.
_MEANS = {
    "deep MCVC on CIFAR-10, mean of the runs": "final/nmi",
    "deep MCVC on CIFAR-10, the images with answers alone": "annotated/nmi",
    "deep MCVC on CIFAR-10, test images": "test/nmi",
}


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """Those of Fig. 3b's runs that the figure shows, and the two numbers on CIFAR-10 that the paper prints."""
    on_face = cells(collected, exhibit, SOME, MODELS, _DIFFERENCES)
    scdc = cells_of_experiment(
        collected, ROWS["SCDC, with"], replace(exhibit, protocol=FIGURE_4B), OF_SCDC, {"nmi": metric("test/nmi")},
        with_answers=True,
    )
    return Result(
        cells=(*on_face, *cifar10_cells(collected, exhibit.value(BEST, "nmi")), *scdc),
        text=(
            "The runs of Fig. 3b with deep MCVC, whose views are networks of two hidden layers of 40 ReLU units. The "
            "paper finds it better than MCVC with many answers and below SCDC. It prints no numbers on Face. On "
            "CIFAR-10 it prints the best of five runs: chosen by label, an oracle. Beside it stands our best NMI over "
            "all training images of a run, each from its features, which is all that deep MCVC uses once it is fitted "
            "to the images with answers. The paper does not say over which images its number is. SCDC on CIFAR-10 is "
            "that of Fig. 4b, with answers, on test images."
        ),
        images=image(collected, exhibit, SOME, MODELS, "Face, pairs over 100 images, deep MCVC", IMAGE, folder),
        commands=collected.commands_of(*(f"{SOME}_{model}" for model in MODELS), CIFAR10),
    )


def cifar10_cells(collected: Collected, paper: PaperValue) -> list[Cell]:
    """The best run beside the paper's, and means of all; where nothing has run, why not."""
    runs, remarks = collected.finished(CIFAR10), remarks_on(collected, CIFAR10)
    if not runs:
        return [Cell(BEST, "nmi", paper, remark="; ".join(remarks))]
    protocol = _protocol(runs)
    remark = "; ".join([*remarks, "answers simulated", f"{read_num_items(Path(runs[0].directory))} images"])
    best = max(runs, key=lambda run: run.metrics["final/nmi"])
    found = [
        Cell(BEST, "nmi", paper, summarise([best.metrics["final/nmi"]], [best.seed]),
             f"best of {len(runs)} by label (oracle); {remark}", protocol)
    ]  # fmt: skip
    for name, entry in _MEANS.items():
        scored = [run for run in runs if entry in run.metrics]
        ours = summarise([run.metrics[entry] for run in scored], [run.seed for run in scored])
        if ours is not None:
            found.append(Cell(name, "nmi", ours=ours, remark=remark, deviations=protocol))
    return found


def _protocol(runs: list[Run]) -> tuple[str, ...]:
    """How the runs differ from the paper's."""
    config, num_images = runs[0].config, read_num_items(Path(runs[0].directory))
    pca = config["data"]["pca"]
    return (
        *([f"{len(runs)} runs (paper: {CIFAR10_RUNS})"] if len(runs) != CIFAR10_RUNS else []),
        *([f"{num_images} of the {CIFAR10_IMAGES} training images"] if num_images < CIFAR10_IMAGES else []),
        f"{runs[0].answers['num_pairs']} simulated answers of {runs[0].answers['num_annotators']} annotators about "
        f"{runs[0].answers['num_annotated']} images (paper: as many of a crowd, which are not published)",
        f"{'pixels' if pca is None else f'{pca} principal components'} (paper: not said)",
        f"the best of {config['model']['n_restarts']} starts by the bound (paper: not said)",
    )
