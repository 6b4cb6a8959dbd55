"""Settings of the start, of views, of training and of the machine."""

from dataclasses import dataclass

from semicrowd.settings.fields import Settings, choice, each, flag, number, setting, text, whole


@dataclass(frozen=True)
class StartSettings(Settings):
    """Where a model begins (docs/DEVIATIONS.md: warm start)."""

    group = "start"

    kind: str = setting(
        "cells",
        "cells (of latent means, joined by answers) | answers (networks trained on them) | "
        "portfolio (many starts, judged by held-out answers) | features (clusters of them alone) | "
        "communities (of neighbouring latent means) | cold (the paper's)",
        choice("cells", "answers", "portfolio", "features", "communities", "cold"),
    )
    epochs: int = setting(100, "of a plain VAE before the first partition", whole(0))
    learning_rate: float = setting(0.003, "of the VAE and of what learns the clusters found", number(above=0))
    candidates: int = setting(
        10, "partitions tried for each restart; the one with the most evidence starts it", whole(1)
    )
    cells: int = setting(
        15, "k-means cells, joined where the answers say so; 0: K clusters, no joining; start=cells", whole(0)
    )
    networks: int = setting(
        10, "classifiers for each restart, the one with the highest bound is kept; start=answers", whole(1)
    )
    teach_epochs: int = setting(20, "in which the networks learn the clusters found", whole(0))
    agree_epochs: int = setting(
        0, "in which q(z | o) then learns to say the same of two views of an image; scdc, with views", whole(0)
    )
    hold: bool = setting(False, "q(z | o) stays as the start has taught it, but for moves of clusters; scdc", flag())
    teach_weight: float = setting(1.0, "of the clusters against the rest of the ELBO; bayes, start=answers", number(0))


@dataclass(frozen=True)
class ViewSettings(Settings):
    """Every image beside a copy of it, moved a little, of the same kind (docs/DEVIATIONS.md: views)."""

    group = "views"

    kind: str = setting(
        "none", "none | affine (turned, sheared, scaled, moved) | colour (cropped, mirrored, in another light)",
        choice("none", "affine", "colour"),
    )
    rotate: float = setting(12.0, "degrees, drawn from minus to plus this; affine", number(0, 180))
    shear: float = setting(20.0, "degrees; affine", number(0, 89))
    scale: float = setting(0.1, "fraction; affine", number(0, 0.99))
    shift: float = setting(2.0, "pixels; affine", number(0))
    crop: int = setting(4, "whole pixels down and to the right, from minus to plus this; colour", whole(0, 100_000))
    flip: float = setting(0.5, "share of views whose left and right change places; colour", number(0, 1))
    jitter: float = setting(
        0.4, "brightness, contrast, saturation: times 1 minus to plus this; the hue turned by a quarter of it; colour",
        number(0, 1),
    )


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """How long, in which pieces, and from how many starts at once."""

    restarts: int = setting(1, "random initial values fitted at once; the best by ELBO is kept", whole(1, 100_000))
    epochs: int = setting(50, "0: the start alone", whole(0))
    batch_size: int = setting(128, "items without answers in a step", whole(1))


@dataclass(frozen=True)
class TrainerSettings(Settings):
    """The machine; numbers depend on it by rounding, and on the number of processes.

    Of P processes each takes steps on ``batch_size`` items of its own and an epoch has a P-th of the steps.
    """

    group = "trainer"

    strategy: str = setting(
        "single", "single (one process) | ddp (trainer.devices of them on each of trainer.num_nodes machines)",
        choice("single", "ddp"),
    )
    accelerator: str = setting("auto", "auto | cpu | gpu", choice("auto", "cpu", "gpu"))
    devices: int = setting(
        1, "processes of a machine, one for each GPU or CPU share; with trainer=ddp", whole(1, 1024)
    )
    num_nodes: int = setting(1, "machines that train one model together; with trainer=ddp", whole(1, 1024))
    threads: int = setting(1, "of a process; more gain nothing with networks of this size", whole(1, 1024))
    memory: float = setting(
        2.0, "GiB that each network may keep of a step; of larger steps it is evaluated in pieces, and once more for "
        "the gradient", number(above=0)
    )
    progress: bool = setting(True, "a progress bar where the output is a terminal", flag())

    @property
    def world_size(self) -> int:
        """Processes on all machines."""
        return self.devices * self.num_nodes


@dataclass(frozen=True)
class LoggerSettings(Settings):
    """Where runs are tracked."""

    group = "logger"

    name: str = setting("mlflow", "mlflow (a local sqlite store; `make ui` opens it) | none (the files alone)",
                        choice("mlflow", "none"))
    uri: str | None = setting(None, "null: mlflow.db in the project folder; else a tracking URI", text(), optional=True)
    experiment: str = setting("semicrowd", "of MLflow", text())


@dataclass(frozen=True)
class RunSettings(Settings):
    """A run of ``src/train.py`` beside what it fits."""

    protocol: str = setting(
        "semicrowd", "semicrowd (the best inference here for the paper's model) | paper (as the SCDC paper trains it)",
        choice("semicrowd", "paper"),
    )
    seed: int = setting(0, "with -m also seed=0-9 or seed=0-2,7", whole(0))
    resume: bool = setting(False, "go on from the last finished epoch of the same run directory", flag())
    figures: bool = setting(True, "draw the run's figures into its directory", flag())
    previous: str | None = setting(
        None, "folder of an earlier run about some of the items: clusters keep the numbers that they had there, and "
        "co-training, also as the start of scdc and bayes, begins with them, too; annotations.path has all answers, "
        "old and new", text(), optional=True,
    )
    held_out: bool = setting(
        False, "fit once more without a tenth of the answers and score the clusters by these: a score that needs no "
        "labels and is the same for every method (answers/held_out_gain); doubles the time", flag()
    )
    snapshots: tuple[int, ...] = setting(
        (), "epochs after which a sample of every cluster is kept (0: the start), and after the last; images",
        each(whole(0), "[0, 2, 10]"),
    )


