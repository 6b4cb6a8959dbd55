"""Settings of the initialisation (start), of views, of training, of the machine, of a run, and of SLURM's jobs."""

import re
from dataclasses import dataclass
from typing import Any

from semicrowd.settings.fields import Settings, choice, each, flag, number, number_of_jobs, setting, text, whole


@dataclass(frozen=True)
class StartSettings(Settings):
    """How the clusters of a model are initialised (docs/DEVIATIONS.md: warm start)."""

    group = "start"

    kind: str = setting(
        "cells",
        "cells (k-means of latent means, joined by the answers) | answers (networks trained on the answers) | "
        "portfolio (several clusterings, one is selected by held-out answers) | features (clusters of the features "
        "alone) | communities (of the neighbour graph of latent means) | cold (random, as in the paper)",
        choice("cells", "answers", "portfolio", "features", "communities", "cold"),
    )
    epochs: int = setting(100, "epochs of a VAE without clusters, which is trained before the start", whole(0))
    learning_rate: float = setting(
        0.003, "learning rate of this VAE, and of the training of networks on the start's clusters",
        number(above=0, high=10),
    )
    candidates: int = setting(
        10, "initial partitions for each restart, of which the one with the highest evidence is used", whole(1)
    )
    cells: int = setting(
        15, "number of k-means cells, which the answers join; 0: K clusters, without joining; start=cells", whole(0)
    )
    networks: int = setting(
        10, "classifiers for each restart, of which the one with the highest bound is used; start=answers", whole(1)
    )
    teach_epochs: int = setting(20, "epochs in which the networks learn to predict the start's clusters", whole(0))
    agree_epochs: int = setting(
        0, "epochs in which q(z | o) then learns to predict the same cluster for two views of an image; scdc, with "
        "views", whole(0)
    )
    hold: bool = setting(
        False, "do not train q(z | o) after the start; only moves of clusters change it; scdc", flag()
    )
    teach_weight: float = setting(
        1.0, "weight of the start's clusters relative to the rest of the ELBO; bayes, start=answers", number(0)
    )


@dataclass(frozen=True)
class ViewSettings(Settings):
    """Data augmentation: slightly transformed copies of each image, of the same cluster (docs/DEVIATIONS.md: views)."""

    group = "views"

    kind: str = setting(
        "none", "none | affine (rotated, sheared, scaled, shifted) | colour (cropped, mirrored, with changed colours)",
        choice("none", "affine", "colour"),
    )
    rotate: float = setting(12.0, "largest rotation, in degrees; affine", number(0, 180))
    shear: float = setting(20.0, "largest shear, in degrees; affine", number(0, 89))
    scale: float = setting(0.1, "largest relative change of size; affine", number(0, 0.99))
    shift: float = setting(2.0, "largest shift, in pixels; affine", number(0))
    crop: int = setting(4, "largest shift in each direction, in whole pixels; colour", whole(0, 100_000))
    flip: float = setting(0.5, "probability of a horizontal flip; colour", number(0, 1))
    jitter: float = setting(
        0.4, "largest relative change of brightness, contrast and saturation; the hue changes by a quarter of it; "
        "colour", number(0, 1),
    )


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """Number of restarts, epochs and items in a batch."""

    restarts: int = setting(
        1, "independent initialisations, fitted at once; the one with the highest ELBO is kept", whole(1, 100_000)
    )
    epochs: int = setting(50, "training epochs; 0: only the start", whole(0))
    batch_size: int = setting(128, "items without answers in a training step", whole(1))


@dataclass(frozen=True)
class TrainerSettings(Settings):
    """Use of the machine. Results depend on it by rounding, and on the number of processes.

    With P processes each of them uses ``batch_size`` items of its own in a step, so an epoch has 1/P of the steps.
    """

    group = "trainer"

    strategy: str = setting(
        "single", "single (one process) | ddp (trainer.devices processes on each of trainer.num_nodes machines)",
        choice("single", "ddp"),
    )
    accelerator: str = setting("auto", "auto | cpu | gpu", choice("auto", "cpu", "gpu"))
    devices: int = setting(
        1, "processes on each machine, one for each GPU or share of the CPU; with trainer=ddp", whole(1, 1024)
    )
    num_nodes: int = setting(1, "machines that train one model together; with trainer=ddp", whole(1, 1024))
    threads: int = setting(
        1, "threads of each process; more do not speed up networks of this size", whole(1, 1024)
    )
    memory: float = setting(
        2.0, "GiB of activations that each network may store for a step; larger steps are evaluated in parts, and a "
        "second time for the gradient", number(above=0)
    )
    jobs: int = setting(
        1, "processes in which co-training fits candidates again without parts of the answers, which takes most of the "
        "time if they are in doubt; -1: one for each core. The result does not depend on it", number_of_jobs
    )
    progress: bool = setting(True, "show a progress bar, or lines if the output is not a terminal", flag())

    @property
    def world_size(self) -> int:
        """Processes on all machines."""
        return self.devices * self.num_nodes


def _tracking_uri(value: Any) -> str | None:
    if isinstance(value, str) and value.strip() and not re.search(r"://[^/\s]*@", value):
        return None
    return "a tracking URI without user and password, which MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD give"


@dataclass(frozen=True)
class LoggerSettings(Settings):
    """Tracking of runs."""

    group = "logger"

    name: str = setting("mlflow", "mlflow (a local SQLite database; `make ui` opens it) | none (only files)",
                        choice("mlflow", "none"))
    uri: str | None = setting(
        None, "tracking URI; null: MLFLOW_TRACKING_URI, else mlflow.db in the current folder", _tracking_uri,
        optional=True,
    )  # fmt: skip
    experiment: str | None = setting(
        None, "name of the MLflow experiment; null: MLFLOW_EXPERIMENT_NAME, else semicrowd", text(), optional=True
    )


@dataclass(frozen=True)
class RunSettings(Settings):
    """General settings of a run of ``src/train.py``."""

    protocol: str = setting(
        "semicrowd", "default settings: semicrowd (the best ones found here, docs/DEFAULTS.md) | paper (those of the "
        "SCDC paper)", choice("semicrowd", "paper"),
    )
    seed: int = setting(0, "random seed; with -m also several, seed=0-9 or seed=0-2,7", whole(0))
    resume: bool = setting(
        False, "continue the interrupted run of the same run directory, after its last finished epoch", flag(),
    )  # fmt: skip
    figures: bool = setting(True, "draw figures into the run's directory", flag())
    questions: int = setting(200, "number of pairs to ask about in questions.csv", whole(1))
    held_out: bool = setting(
        False, "fit a second time without a tenth of the answers and evaluate the clusters by these: a score that "
        "needs no labels and can be compared between methods (answers/held_out_gain); doubles the time", flag()
    )
    snapshots: tuple[int, ...] = setting(
        (), "epochs after which a sample of each cluster is stored (0: after the start), as well as after the last "
        "epoch; images", each(whole(0), "[0, 2, 10]"),
    )


def _option(value: object) -> str | None:
    fits = isinstance(value, str) and "=" in value and value[0] not in "-="
    return None if fits else "name=value of an option of sbatch, without dashes"


@dataclass(frozen=True)
class SlurmSettings(Settings):
    """Settings of ``hydra/launcher=slurm``. trainer.num_nodes and trainer.devices set machines and processes."""

    group = "hydra.launcher"

    partition: str | None = setting(None, "SLURM partition; null: the cluster's default", text(), optional=True)
    account: str | None = setting(None, "account to be charged; null: your default account", text(), optional=True)
    time: int = setting(
        240, "time limit of a job in minutes; resume=true continues a job that reached it", whole(1)
    )
    memory: float = setting(8, "memory on each machine, in GB", number(above=0))
    cpus: int | None = setting(None, "cores of each process; null: trainer.threads", whole(1), optional=True)
    gpus: int | None = setting(
        None, "GPUs on each machine; null: trainer.devices with trainer.accelerator=gpu, else none", whole(0),
        optional=True,
    )
    at_once: int = setting(20, "maximal number of jobs that run at the same time", whole(1))
    setup: tuple[str, ...] = setting((), "shell commands before the job", each(text(), "[module load cuda]"))
    options: tuple[str, ...] = setting((), "further options of sbatch", each(_option, "[qos=high,constraint=a100]"))
