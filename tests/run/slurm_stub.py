#!/usr/bin/env python3
"""A stand-in for SLURM on one machine: sbatch, srun, sacct and scancel, by the name that this file is called by.

``sbatch`` keeps the script in the folder ``$SLURM_STUB`` and runs it at once, an array's jobs one after the other, in
the background. ``srun`` starts as many processes as the script asks for. What a real SLURM does with partitions,
memory and time is not imitated.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

STORE = Path(os.environ["SLURM_STUB"])


def sbatch(script: str) -> None:
    text = Path(script).read_text()
    number = str(100 + len(list(STORE.glob("*.sh"))))
    (STORE / f"{number}.sh").write_text(text)
    if "--partition=nowhere" in text:
        sys.exit("sbatch: error: invalid partition specified: nowhere")
    array = re.search(r"#SBATCH --array=0-(\d+)", text)
    names = [f"{number}_{task}" for task in range(int(array[1]) + 1)] if array else [number]
    for name in names:
        (STORE / f"{name}.state").write_text("PENDING")
    # As with a cluster, the jobs go on when the one who has submitted them has gone.
    subprocess.Popen([sys.executable, __file__, "run", *names], start_new_session=True, stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    print(f"Submitted batch job {number}")


def run(*names: str) -> None:
    for name in names:
        state = STORE / f"{name}.state"
        if state.read_text() != "PENDING":
            continue
        job, _, task = name.partition("_")
        text = (STORE / f"{job}.sh").read_text()
        flags = dict(re.findall(r"#SBATCH --([\w-]+)=(\S+)", text))
        tasks = int(flags["ntasks-per-node"]) * int(flags["nodes"])
        nodes = flags["nodes"]
        variables = {"JOB_ID": job, "NTASKS": str(tasks), "NTASKS_PER_NODE": flags["ntasks-per-node"],
                     "JOB_NUM_NODES": nodes, "NNODES": nodes, "NODEID": "0", "JOB_NODELIST": "127.0.0.1",
                     "NODELIST": "127.0.0.1", "JOB_NAME": "semicrowd"}  # fmt: skip
        variables = {f"SLURM_{key}": value for key, value in variables.items()}
        if task:
            variables |= {"SLURM_ARRAY_JOB_ID": job, "SLURM_ARRAY_TASK_ID": task}
        process = subprocess.Popen(["bash", str(STORE / f"{job}.sh")], env=os.environ | variables, process_group=0)
        state.write_text(f"RUNNING {process.pid}")
        code = process.wait()
        with contextlib.suppress(ProcessLookupError):
            while True:  # the script is gone; its processes may still put their files in order
                os.killpg(process.pid, 0)
                time.sleep(0.05)
        cancelled = (STORE / f"{name}.cancelled").exists()
        state.write_text("CANCELLED" if cancelled else "COMPLETED" if code == 0 else "FAILED")


def srun(*arguments: str) -> None:
    command = list(arguments)
    streams = {}
    while command[0].startswith("-"):
        flag = command.pop(0)
        if flag in ("--output", "--error"):
            streams[flag] = command.pop(0)
    tasks = int(os.environ["SLURM_NTASKS"])
    name = os.environ["SLURM_JOB_ID"]
    if "SLURM_ARRAY_TASK_ID" in os.environ:
        name += f"_{os.environ['SLURM_ARRAY_TASK_ID']}"
    processes = []
    for rank in range(tasks):
        variables = {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank), "SLURM_STEP_NUM_TASKS": str(tasks)}
        out, err = (streams[flag].replace("%A_%a", name).replace("%j", name).replace("%t", str(rank))
                    for flag in ("--output", "--error"))  # fmt: skip
        with Path(out).open("wb") as output, Path(err).open("wb") as errors:
            processes.append(subprocess.Popen(command, env=os.environ | variables, stdout=output, stderr=errors))
    sys.exit(max(abs(process.wait()) for process in processes))


def sacct(*_: str) -> None:
    print("JobID|State|NodeList")
    for state in sorted(STORE.glob("*.state")):
        print(f"{state.stem}|{state.read_text().split()[0]}|here")


def scancel(*arguments: str) -> None:
    for name in arguments:
        state = STORE / f"{name}.state"
        word, _, group = state.read_text().partition(" ")
        if word == "RUNNING":
            (STORE / f"{name}.cancelled").touch()
            os.killpg(int(group), signal.SIGTERM)
        elif word == "PENDING":
            state.write_text("CANCELLED")


if __name__ == "__main__":
    own = Path(sys.argv[0]).name
    name, rest = (sys.argv[1], sys.argv[2:]) if own == "slurm_stub.py" else (own, sys.argv[1:])
    programs: dict[str, Callable[..., None]] = {
        "sbatch": sbatch, "run": run, "srun": srun, "sacct": sacct, "scancel": scancel,
    }  # fmt: skip
    programs[name](*rest)
