"""Fig. 4b of the SCDC paper: CIFAR-10, the test images that SCDC is surest of, without and with answers."""

from collections.abc import Iterator
from pathlib import Path

from semicrowd.data.cifar10 import CIFAR10_SHAPE
from semicrowd.evaluation.likeliest import Likeliest
from semicrowd.figures.likeliest import likeliest_images
from semicrowd.figures.style import save
from semicrowd.report.cells import Cell
from semicrowd.report.exhibits import Exhibit, Image, Result
from semicrowd.report.experiments import cells_of_experiment, metric, paired
from semicrowd.report.runs import Collected

#: The paper's row → the experiment, as the figure has them, from top to bottom.
ROWS = {"SCDC, without": "cifar_scdc_none", "SCDC, with": "cifar_scdc_tasks"}
#: Others on the same pixels and the same answers.
OTHERS = {
    "co-training, with": "cifar_cotrain_tasks",
    "co-training, without": "cifar_cotrain_none",
    "deep MCVC, with": "cifar_pixels_deep_mcvc",
    "constrained k-means, with": "cifar_pixels_constrained_kmeans",
    "answers and logistic regression, with": "cifar_pixels_crowd_logistic",
}
#: What is compared on the same seeds, and what is less what.
DIFFERENCES = (
    ("SCDC, with less without answers", "cifar_scdc_tasks", "cifar_scdc_none"),
    ("SCDC less co-training, with", "cifar_scdc_tasks", "cifar_cotrain_tasks"),
    ("SCDC less co-training, without", "cifar_scdc_none", "cifar_cotrain_none"),
    ("SCDC less deep MCVC, with", "cifar_scdc_tasks", "cifar_pixels_deep_mcvc"),
)
EXPERIMENTS = (*ROWS.values(), *OTHERS.values())
MEASURES = {
    "accuracy": metric("test/acc"),
    "nmi": metric("test/nmi"),
    "nmi, all training images": metric("final/nmi"),
    "clusters": metric("clusters/used"),
}


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:
    """The four numbers, those of other methods beside them, and ten test images of each cluster."""
    cells: list[Cell] = []
    for label, experiment in {**ROWS, **OTHERS}.items():
        with_answers = not label.endswith("without")
        paper = label if label in ROWS else ""
        cells += cells_of_experiment(
            collected, experiment, exhibit, paper, MEASURES, with_answers=with_answers, label=label
        )
    for label, first, second in DIFFERENCES:
        cells += paired(collected, label, first, second, {name: MEASURES[name] for name in ("accuracy", "nmi")})
    return Result(
        cells=tuple(cells),
        text=(
            "Test images, each from its pixels alone, and all training images, the annotated ones with their answers. "
            "The answers of the paper's crowd were never published: ours are simulated tasks of 36 images, whose "
            "annotators take a kind for another as often as people did who were asked about CIFAR-10's test images "
            "(CIFAR-10H, Peterson et al. 2019). The networks have the paper's layers, residual blocks and nine "
            "convolutions, with an eighth to a sixteenth of their channels, for a few epochs; q(z | o) learns what "
            "co-training has found from patches of these images, no others, and from the answers. So the clusters "
            "are co-training's, which has rows of its own, and the generative model is fitted to them. The other "
            "methods have the same pixels and answers and are told ten kinds. Nothing was pretrained on anything."
        ),
        images=tuple(_images(collected, folder)),
        commands=collected.commands_of(*EXPERIMENTS),
    )


def _images(collected: Collected, folder: Path) -> Iterator[Image]:
    """Of each row whose first finished run has kept its likeliest images."""
    for label, experiment in ROWS.items():
        for run in collected.finished(experiment)[:1]:
            found = Likeliest.read(Path(run.directory))
            if found is None:
                continue
            path = Path(f"figures/cifar10-{label.rpartition(' ')[2]}-answers.png")
            title = f"CIFAR-10, {label} answers, seed {run.seed}: test images of highest probability"
            save(likeliest_images(found, CIFAR10_SHAPE, title), folder / path)
            yield Image(path, f"{title}, a row for each cluster of 0.5 % of the images or more, the largest first.")
