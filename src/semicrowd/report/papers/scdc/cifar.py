"""CIFAR-10 in the SCDC paper: SCDC's images of highest probability (Fig. 4b), and deep MCVC (Fig. 5, also Face)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from semicrowd.data.cifar10 import CIFAR10_IMAGES, CIFAR10_SHAPE
from semicrowd.evaluation.scores import Likeliest
from semicrowd.figures.images import cluster_images
from semicrowd.files import read_object
from semicrowd.report.cells import Cell, PaperValue, summarise
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit, Image, Result, drawn
from semicrowd.report.experiments import Row, cells_of_rows, mean_of, metric, remarks_on
from semicrowd.report.papers.scdc.face import SOME, cells, image
from semicrowd.report.papers.scdc.paper import FIGURE_4B

#: The paper's row → the experiment, in the order of the figure.
ROWS = {"SCDC, without": "cifar_scdc_none", "SCDC, with": "cifar_scdc_tasks"}
#: Other methods on the same pixels and answers.
OTHERS = {
    "co-training, with": "cifar_cotrain_tasks",
    "co-training, without": "cifar_cotrain_none",
    "deep MCVC, with": "cifar_pixels_deep_mcvc",
    "constrained k-means, with": "cifar_pixels_constrained_kmeans",
    "answers and logistic regression, with": "cifar_pixels_crowd_logistic",
}
#: Experiments that only ``make record`` runs: wide networks, whose classifier is the paper's, and on the same images
#: those of the profile.
RECORDED_ROWS = (
    Row("cifar_wide_none", "SCDC, without; wide networks", "SCDC, without", False),
    Row("cifar_wide_tasks", "SCDC, with; wide networks", "SCDC, with"),
    Row("cifar_narrow_none", "SCDC, without; the same images, narrow networks", with_answers=False),
    Row("cifar_narrow_tasks", "SCDC, with; the same images, narrow networks"),
)
#: Label, first and second experiment of each paired difference, first minus second.
DIFFERENCES = (
    ("SCDC: with answers minus without", "cifar_scdc_tasks", "cifar_scdc_none"),
    ("SCDC minus co-training, with answers", "cifar_scdc_tasks", "cifar_cotrain_tasks"),
    ("SCDC minus co-training, without answers", "cifar_scdc_none", "cifar_cotrain_none"),
    ("SCDC minus deep MCVC, with answers", "cifar_scdc_tasks", "cifar_pixels_deep_mcvc"),
    ("SCDC, wide networks: with answers minus without", "cifar_wide_tasks", "cifar_wide_none"),
    ("SCDC, with answers: wide networks minus narrow ones", "cifar_wide_tasks", "cifar_narrow_tasks"),
    ("SCDC, without answers: wide networks minus narrow ones", "cifar_wide_none", "cifar_narrow_none"),
)
EXPERIMENTS = (*ROWS.values(), *OTHERS.values())
MEASURES = {
    "accuracy": metric("test/acc"), "nmi": metric("test/nmi"), "nmi, all training images": metric("final/nmi"),
    "clusters": metric("clusters/used"),
}  # fmt: skip


def figure_4b(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """The paper's four numbers and ours, numbers of other methods, and ten test images of each cluster."""
    rows = (Row(experiment, label, label if label in ROWS else "", not label.endswith("without"))
            for label, experiment in {**ROWS, **OTHERS}.items())  # fmt: skip
    cells = cells_of_rows(
        collected, exhibit, (*rows, *RECORDED_ROWS), MEASURES, less=DIFFERENCES, compared=("accuracy", "nmi")
    )
    return Result(
        cells=tuple(cells),
        text=(
            "Scores of the test images, each clustered from its pixels alone, and NMI of all training images, where "
            "annotated images also use their answers. \"With\" and \"without\" refer to answers. The answers of the "
            "paper's crowd were never published. Ours are simulated tasks of 36 images; their annotators confuse "
            "classes as often as the people did who were asked about CIFAR-10's test images (CIFAR-10H, Peterson et "
            "al. 2019). The networks have the paper's layers, residual blocks and nine convolutions, with an eighth to "
            "a sixteenth of the channels, and are trained for a few epochs. q(z | o) learns to predict the clusters "
            "that co-training has found from the answers and from patches of these images and no others. The clusters "
            "are therefore those of co-training, which has rows of its own, and the generative model is fitted to "
            "them. All methods have the same pixels and answers and are told ten clusters, which is a maximum for SCDC "
            "and co-training. No network was pretrained. The rows of wide networks are recorded runs on a GPU: eight "
            "times as many channels (64, 128 and 256; 128 in the first layers of q(z | o), as in the paper), on 5,000 "
            "images of the first of the five training batches. Two more rows have narrow networks on these images. "
            "Recorded runs with answers had another model of groupings, on which only the NMI of all training "
            "images depends."
        ),
        images=tuple(_images(collected, folder)),
        commands=collected.commands_of(*EXPERIMENTS),
    )


def _images(collected: Collected, folder: Path) -> Iterator[Image]:
    """An image for each row whose first finished run has saved its likeliest images."""
    for label, experiment in ROWS.items():
        for run in collected.finished(experiment)[:1]:
            found = Likeliest.read(Path(run.directory))
            if found is None:
                continue
            path = Path(f"figures/cifar10-{label.rpartition(' ')[2]}-answers.png")
            title = f"CIFAR-10, {label} answers, seed {run.seed}: test images of highest probability"
            figure = cluster_images(found.images, found.clusters, found.share, CIFAR10_SHAPE, title)
            caption = f"{title}, a row for each cluster with at least 0.5 % of the images, largest first."
            yield drawn(figure, folder, path, caption)


ON_FACE = ("scdc", "bayes", "deep_mcvc", "mcvc")
_ON_FACE_LESS = (("deep_mcvc", "mcvc"), ("scdc", "deep_mcvc"))
FACE_IMAGE = Path("figures/face-100-deep-mcvc.png")
#: Experiment of deep MCVC on CIFAR-10; the paper prints the best of five runs.
DEEP_MCVC = "cifar_deep_mcvc"
DEEP_MCVC_RUNS = 5
BEST = "deep MCVC on CIFAR-10, best of 5 runs"
OF_SCDC = "SCDC on CIFAR-10"
#: Row → metric, for our additional numbers.
_MEANS = {
    "deep MCVC on CIFAR-10, mean of the runs": "final/nmi",
    "deep MCVC on CIFAR-10, the images with answers alone": "annotated/nmi",
    "deep MCVC on CIFAR-10, test images": "test/nmi",
}


def figure_5(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """The runs of Fig. 3b that the figure shows, and the two numbers on CIFAR-10 that the paper prints."""
    on_face = cells(collected, exhibit, SOME, ON_FACE, _ON_FACE_LESS)
    of_scdc, measures = Row(ROWS["SCDC, with"], paper=OF_SCDC), {"nmi": metric("test/nmi")}
    scdc = cells_of_rows(collected, replace(exhibit, protocol=FIGURE_4B), [of_scdc], measures)
    return Result(
        cells=(*on_face, *deep_mcvc_cells(collected, exhibit.value(BEST, "nmi")), *scdc),
        text=(
            "The runs of Fig. 3b and runs of deep MCVC, whose views are networks with two hidden layers of 40 ReLU "
            "units. The paper finds deep MCVC better than MCVC with many answers, and worse than SCDC. It prints no "
            "numbers on Face. On CIFAR-10 it prints the best of five runs, selected by label, which is an oracle. It "
            "is compared with our best NMI over all training images of a run. Each image is clustered from its "
            "features, because deep MCVC uses only features after it is fitted to the images with answers. The paper "
            "does not say over which images its number is computed. SCDC on CIFAR-10 is the row with answers of "
            "Fig. 4b, on test images."
        ),
        images=image(collected, exhibit, SOME, ON_FACE, "Face, pairs over 100 images, deep MCVC", FACE_IMAGE, folder),
        commands=collected.commands_of(*(f"{SOME}_{model}" for model in ON_FACE), DEEP_MCVC),
    )


def deep_mcvc_cells(collected: Collected, paper: PaperValue) -> list[Cell]:
    """The best run and the paper's number, and means of all runs; without finished runs, why there are none."""
    runs, remarks = collected.finished(DEEP_MCVC), remarks_on(collected, DEEP_MCVC)
    if not runs:
        return [Cell(BEST, "nmi", paper, remark="; ".join(remarks))]
    protocol = _protocol(runs)
    remark = "; ".join([*remarks, "simulated answers", f"{_num_images(runs[0])} images"])
    best = max(runs, key=lambda run: run.metrics["final/nmi"])
    found = [
        Cell(BEST, "nmi", paper, summarise([best.metrics["final/nmi"]], [best.seed]),
             f"best of {len(runs)} by label (oracle); {remark}", protocol)
    ]  # fmt: skip
    for name, entry in _MEANS.items():
        ours = mean_of(runs, metric(entry))
        if ours is not None:
            found.append(Cell(name, "nmi", ours=ours, remark=remark, deviations=protocol))
    return found


def _num_images(run: Run) -> int:
    return int(read_object(Path(run.directory) / "provenance.json")["num_items"])


def _protocol(runs: list[Run]) -> tuple[str, ...]:
    """Differences of our runs from the paper's."""
    config, num_images = runs[0].config, _num_images(runs[0])
    pca = config["data"]["pca"]
    return (
        *([f"{len(runs)} runs (paper: {DEEP_MCVC_RUNS})"] if len(runs) != DEEP_MCVC_RUNS else []),
        *([f"{num_images} of the {CIFAR10_IMAGES} training images"] if num_images < CIFAR10_IMAGES else []),
        f"{runs[0].answers['num_pairs']} simulated answers of {runs[0].answers['num_annotators']} annotators about "
        f"{runs[0].answers['num_annotated']} images (paper: as many of a crowd, which are not published)",
        f"{'pixels' if pca is None else f'{pca} principal components'} (paper: not said)",
        f"the best of {config['model']['n_restarts']} starts by the bound (paper: not said)",
    )
