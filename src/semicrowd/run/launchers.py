"""Ways to run the jobs of a sweep: one after the other in this process, in several processes, or on a cluster."""

import os
from collections.abc import Sequence
from pathlib import Path

from semicrowd.errors import UserError
from semicrowd.run.composition import Given
from semicrowd.run.job import JobCall, Launch


def launcher(given: Given) -> Launch | None:
    """A function that runs several jobs at once, as ``hydra/launcher`` says; None if they run one after the other.

    Raises
    ------
    UserError
        For a launcher other than basic, joblib and slurm, and if SLURM cannot be used.
    """
    settings = dict(given.launcher)
    name = settings.pop("name", "basic")
    settings.pop("_target_", None)
    if name == "basic":
        return None
    if name not in ("joblib", "slurm"):
        raise UserError(f"hydra/launcher={name}: not supported; expected basic, joblib or slurm")
    # Several processes with several torch threads each would slow each other down.
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    if name == "slurm":
        from semicrowd.run.slurm import slurm_launch

        return slurm_launch(settings, Path(given.sweep_dir))

    def launch(calls: Sequence[JobCall]) -> object:
        from joblib import Parallel, delayed

        return Parallel(**{**settings, "backend": "loky"})(delayed(call)() for call in calls)

    return launch
