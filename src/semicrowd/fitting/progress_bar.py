"""One progress bar for a run: warm start, then epochs. Silent where the output is no terminal."""

import multiprocessing
from types import TracebackType

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Callback
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class ProgressBar(Callback):
    """A bar over the epochs on the standard error stream, with the latest metrics beside it."""

    def __init__(self, epochs: int, enabled: bool = True) -> None:
        console = Console(stderr=True)
        # The bars of parallel jobs would overwrite each other.
        alone = multiprocessing.current_process().name == "MainProcess"
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("<"),
            TimeRemainingColumn(), TextColumn("{task.fields[metrics]}"),
            console=console, disable=not (enabled and alone and console.is_terminal), transient=True,
        )
        self._task = self._progress.add_task("starting", total=epochs, metrics="")

    def __enter__(self) -> "ProgressBar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """Show what is being done before the epochs."""
        self._progress.update(self._task, description=text)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Hook of Lightning: training starts, in a resumed run not with the first epoch."""
        self._progress.update(self._task, description="epoch", completed=trainer.current_epoch)

    def on_train_batch_end(
        self,
        trainer: pl.Trainer,
        pl_module: pl.LightningModule,  # noqa: ARG002
        outputs: object,  # noqa: ARG002
        batch: object,  # noqa: ARG002
        batch_idx: int,
    ) -> None:
        """Hook of Lightning: a step is done."""
        part = (batch_idx + 1) / max(float(trainer.num_training_batches), 1)
        self._progress.update(self._task, completed=trainer.current_epoch + part)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Hook of Lightning: an epoch is done."""
        shown = ("elbo/epoch", "clusters/used")
        metrics = [f"{name} {float(trainer.callback_metrics[name]):.5g}" for name in shown
                   if name in trainer.callback_metrics]
        self._progress.update(self._task, completed=trainer.current_epoch + 1, metrics="  ".join(metrics))
