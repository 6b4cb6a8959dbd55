"""Runs as the report finds them, without having run anything."""

from pathlib import Path
from typing import Any

from semicrowd.pipeline.configurations import settings_of
from semicrowd.pipeline.experiments import Plan
from semicrowd.report.build import find_papers
from semicrowd.report.cells import Cell, Summary
from semicrowd.report.collect import Collected, Run
from semicrowd.report.exhibits import Exhibit, Result

METRICS = {
    "test/acc": 0.93,
    "test/nmi": 0.875,
    "test/ami": 0.874,
    "test/ami_max": 0.86,
    "clusters/used": 12,
    "workers/sensitivity_mae": 0.012,
    "workers/specificity_mae": 0.006,
    "workers/sensitivity_rank": 0.5,
    "workers/observed_sensitivity_mae": 0.011,
    "seconds/fit": 620.0,
    "epochs": 40,
}


def exhibit(key: str, paper: str = "scdc") -> Exhibit:
    """A table or figure by its key."""
    (found,) = (e for p in find_papers() if p.key == paper for e in p.exhibits if e.key == key)
    return found


def build(key: str, runs: Collected, folder: Path) -> Result:
    """The result of a table or figure of the SCDC paper."""
    return exhibit(key).build(runs, folder)


def summary_of(cell: Cell) -> Summary:
    """Our number, which must be there."""
    assert cell.ours is not None
    return cell.ours


def paper_config(key: str, model: str = "bayes") -> dict[str, Any]:
    """A configuration that follows the paper to the letter."""
    result: dict[str, Any] = {"model": {"name": model}}
    for setting in exhibit(key).protocol.settings:
        if setting.model not in ("", model):
            continue
        *groups, name = setting.key.split(".")
        target = result
        for group in groups:
            target = target.setdefault(group, {})
        target[name] = setting.paper
    return result


def finished(experiment: str, seed: int = 0, answers: dict[str, Any] | None = None, **metrics: float) -> Run:
    """A finished run of an experiment on MNIST; its model is in its name."""
    return Run(
        seed,
        f"results/{experiment}/seed-{seed}",
        "finished",
        metrics=METRICS | {name.replace("__", "/"): value for name, value in metrics.items()},
        config=paper_config("table-1", "scdc" if "scdc" in experiment else "bayes") | {"epochs": 40},
        answers=answers or {},
    )


def on_face(model: str, answers: str, nmi: dict[int, list[float]], key: str = "figure-3a") -> list[Run]:
    """Finished runs of a sweep on Face: for each number of answers the NMI of seeds 0, 1, …"""
    name = f"{answers}_{model}"
    return [
        Run(
            seed,
            f"results/{name}/pairs_per_annotator-{number}_seed-{seed}",
            "finished",
            metrics={"final/nmi": value, "seconds/fit": 1.0, "epochs": 20},
            config=paper_config(key, model) if model in ("scdc", "bayes") else {"model": {"name": model}},
            point={"pairs_per_annotator": number},
        )
        for number, values in nmi.items()
        for seed, value in enumerate(values)
    ]


def kmeans_on_face(nmi: list[float]) -> list[Run]:
    """Finished runs of k-means on Face, which has no answers."""
    config = {"model": {"name": "kmeans"}}
    return [
        Run(seed, f"results/face_kmeans/seed-{seed}", "finished", metrics={"final/nmi": value}, config=config)
        for seed, value in enumerate(nmi)
    ]


def config_of_experiment(plan: Plan, name: str) -> dict[str, Any]:
    """What a run of the experiment has in config.yaml, where no rule sets what is not given."""
    settings = settings_of(plan.experiment(name).overrides)
    return {group: settings["defaults"][group] | settings[group] for group in ("data", "model")}


def collected(**runs: list[Run]) -> Collected:
    """The runs of experiments by name."""
    return Collected("laptop", {name: f"python src/train.py {name}" for name in runs}, runs)
