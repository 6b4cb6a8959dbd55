"""A training step on one GPU, measured: time, share of what the calculation expects, memory.

The settings and the calculation are those of :mod:`scaling`; operations and bytes are counted on the GPU, with all
images of a step.
"""

import time
from dataclasses import replace

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback

from scaling import H100, H100_FLOAT, settings
from semicrowd.errors import UserError
from step_costs import Setting, counted
from steps import images_per_step, train
from table import print_table

#: Epochs of a few steps that count, after some in which kernels are chosen and memory is allocated.
_SKIP, _EPOCHS = 1, 4
#: Numbers of restarts of the first setting.
_RESTARTS = (1, 10, 40)
_HEADER = (
    "setting", "precision", "images", "ms a step, calculated", "ms, measured", "measured / calculated", "TFLOP/s",
    "host ms", "GiB at the peak",
)  # fmt: skip


class DeviceTimer(Callback):
    """Seconds of a training step: ``seconds`` until the GPU has finished, ``host`` until it has its orders.

    If both are equal, the step takes as long as the processor needs to start its operations.

    Parameters
    ----------
    skip : first epochs that do not count
    """

    def __init__(self, skip: int) -> None:
        self.skip = skip
        self._totals, self._steps, self._start = [0.0, 0.0], 0, 0.0

    @property
    def seconds(self) -> float:
        """Mean over the steps."""
        return self._totals[1] / self._steps

    @property
    def host(self) -> float:
        """Mean over the steps."""
        return self._totals[0] / self._steps

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: object, batch_idx: int  # noqa: ARG002
    ) -> None:
        """Hook of Lightning: a batch has been drawn and moved to the GPU."""
        if batch_idx == 0:
            torch.cuda.synchronize()
            self._start = time.perf_counter()
        self._steps += trainer.current_epoch >= self.skip

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:  # noqa: ARG002
        """Hook of Lightning: the last step is done; what the model does at the end of an epoch is still to come."""
        host = time.perf_counter() - self._start
        torch.cuda.synchronize()
        seconds = time.perf_counter() - self._start
        if trainer.current_epoch >= self.skip:
            self._totals = [self._totals[0] + host, self._totals[1] + seconds]


def gpu(quick: bool = False) -> None:
    """All settings in both precisions.

    Raises
    ------
    UserError
        If there is no GPU.
    """
    if not torch.cuda.is_available():
        raise UserError("there is no GPU here")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; the calculation is of an H100\n", flush=True)
    rows, effort = list[tuple[str, ...]](), (1, 1) if quick else (_SKIP, _EPOCHS)
    for setting, _ in settings()[:2] if quick else settings():
        for precision in ("float32", "bfloat16"):
            rows.append(_row(setting, precision, *effort))
            print("  ".join(rows[-1]), flush=True)
    print()
    print_table(_HEADER, rows)
    print("\nThe first of these in float32, with several restarts in one process\n")
    first, rows = settings()[0][0], []
    for restarts in _RESTARTS:
        rows.append((str(restarts), *_row(replace(first, restarts=restarts), "float32", *effort)[4:]))
    print_table(("restarts", *_HEADER[4:]), rows)


def _row(setting: Setting, precision: str, skip: int, epochs: int) -> tuple[str, ...]:
    one = replace(setting, given={**setting.given, "precision": precision})
    cost = counted(one.module(), "gpu")
    module, timer = one.module(), DeviceTimer(skip)
    torch.cuda.reset_peak_memory_stats()
    try:
        train(module, [timer], epochs=skip + epochs, accelerator="gpu")
    except torch.OutOfMemoryError:
        return (setting.what, precision, f"{images_per_step(module):.0f}", "out of memory", *[""] * 5)
    calculated = (H100 if precision == "bfloat16" else H100_FLOAT).seconds(cost)
    return (
        setting.what, precision, f"{cost.images:.0f}", f"{1e3 * calculated:.3g}", f"{1e3 * timer.seconds:.3g}",
        f"{timer.seconds / calculated:.2g}", f"{cost.flop / timer.seconds / 1e12:.3g}", f"{1e3 * timer.host:.3g}",
        f"{torch.cuda.max_memory_allocated() / 2**30:.1f}",
    )  # fmt: skip
