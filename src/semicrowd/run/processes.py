"""The rank of this process among the processes of one run, if torchrun or SLURM's srun has started all of them.

Otherwise the run starts the other processes itself (:mod:`semicrowd.run.rank`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from semicrowd.errors import UserError
from semicrowd.run.composition import Given


@dataclass(frozen=True)
class Place:
    """This process among the others.

    Attributes
    ----------
    rank : number of this process; process 0 writes the run's files and reports to the tracker
    size : number of processes on all machines
    starter : the program that has started them, for messages
    """

    rank: int
    size: int
    starter: str


def place(environment: Mapping[str, str] = os.environ) -> Place | None:
    """The place of this process; None if it is the only one, or if it starts the others itself."""
    if "TORCHELASTIC_RUN_ID" in environment:
        here = Place(int(environment["RANK"]), int(environment["WORLD_SIZE"]), "torchrun")
    # Only srun sets the variables of a job step. The script that sbatch runs has SLURM_NTASKS, too, but is one process.
    elif "SLURM_STEP_NUM_TASKS" in environment and "SLURM_PROCID" in environment:
        here = Place(int(environment["SLURM_PROCID"]), int(environment["SLURM_STEP_NUM_TASKS"]), "srun")
    else:
        return None
    return here if here.size > 1 else None


def check_processes(given: Given) -> None:
    """Refuse a run whose settings ask for another number of processes than have been started."""
    here = place()
    if here is None:
        return
    devices, machines = given.values.get("trainer.devices", 1), given.values.get("trainer.num_nodes", 1)
    if given.values.get("trainer.strategy") != "ddp":
        raise UserError(f"{here.starter} has started {here.size} processes, each of which would do the whole run; "
                        "expected trainer=ddp")
    if devices * machines != here.size:
        wanted = f"trainer.devices={devices}" + (f" trainer.num_nodes={machines}" if machines > 1 else "")
        raise UserError(f"{wanted}: {here.starter} has started {here.size} processes; expected as many as "
                        "trainer.devices (per machine) times trainer.num_nodes")
