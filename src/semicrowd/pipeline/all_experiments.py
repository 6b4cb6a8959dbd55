"""Stage ``experiments``: every run of the profile, several at once, the longest first.

Runs that finished with the same settings, code, answers and data are not repeated. If a task fails, the others still
run, and the exit code is 1. Each task can be run by hand: ``python -m semicrowd.pipeline.<task>``.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from semicrowd.data.encoded import FOLDER as ENCODED
from semicrowd.errors import without_traceback
from semicrowd.files import read_object, write_json
from semicrowd.pipeline import experiment
from semicrowd.pipeline.experiments import DATA, RESULTS, Plan, load_plan

#: CPU seconds of each task on the machine of docs/BENCHMARKS.md.
KNOWN = Path("recorded/seconds.json")
#: CPU seconds of each task on this machine.
HERE = RESULTS / "seconds.json"
#: Assumed CPU seconds of a task that has never run.
_UNKNOWN = 60.0
#: A task that takes fewer CPU seconds than this has found nothing to do, if it is known.
_WORK = 1.0
LOGS = RESULTS / "logs"


@dataclass(frozen=True)
class Task:
    """``python -m semicrowd.pipeline.<module> <arguments>``.

    Attributes
    ----------
    after : names of the tasks whose results it reads
    """

    module: str
    arguments: tuple[str, ...]
    after: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Module and arguments, as in its command."""
        return " ".join([self.module, *self.arguments])

    @property
    def command(self) -> dict[str, object]:
        """The line of JSON for a worker."""
        file = f"{self.name.replace(' ', '_').replace('--', '')}.txt"
        log = str(LOGS / file)
        return {"module": f"semicrowd.pipeline.{self.module}", "arguments": list(self.arguments), "log": log}


def tasks_of(plan: Plan) -> list[Task]:
    """All tasks of a profile: autoencoders, experiments, tasks that read their runs, and tables of the SLPD paper."""
    tasks = [Task("autoencoder", (data,)) for data in plan.autoencoder]
    made = {task.arguments[0]: task.name for task in tasks}
    together = {name: names for names in plan.together for name in names}
    for first in plan.experiments.values():
        names = together.get(first.name, (first.name,))
        if first.name != names[0]:  # a part of the task of the first
            continue
        parts = [plan.experiments[name] for name in names]
        after = tuple(made[data] for part in parts for data in part.encoded if data in made)
        seeds = [()] if first.sweep is not None else [("--seed", str(seed)) for seed in first.seeds]
        own = [Task("experiment", (*names, *seed), after) for seed in seeds]
        tasks += own
        for name in names:
            if name in plan.spaces:
                tasks.append(Task("deep_spaces", (name,), tuple(task.name for task in own)))
    tasks += [Task("slpd.tables", (data,)) for data in plan.slpd.get("data", ())]
    return tasks + ([Task("slpd.curve", ())] if "curve" in plan.slpd else [])


def expected_seconds(tasks: Iterable[Task]) -> dict[str, float]:
    """CPU seconds of each task: as last measured on this machine, else as recorded in the repository."""
    known = read_object(KNOWN) | read_object(HERE)
    return {task.name: float(known.get(task.name, _UNKNOWN)) for task in tasks}


def keep_seconds(taken: Mapping[str, float]) -> None:
    """Keep the CPU seconds of tasks, for the next time; of a known task that found nothing to do, the earlier ones."""
    known = read_object(KNOWN) | read_object(HERE)
    new = {name: round(value, 1) for name, value in taken.items() if value >= _WORK or name not in known}
    write_json(HERE, dict(sorted((read_object(HERE) | new).items())))


def urgency(tasks: Iterable[Task], seconds: Mapping[str, float]) -> dict[str, float]:
    """Task → CPU seconds of the longest chain of tasks that begins with it. The longest chain goes first."""
    all_of = list(tasks)
    total: dict[str, float] = {}
    for task in reversed(all_of):  # in the list, a task comes after those whose results it reads
        waiting = [total[other.name] for other in all_of if task.name in other.after]
        total[task.name] = seconds[task.name] + max(waiting, default=0.0)
    return total


#: After a task with more CPU seconds than this, its process is replaced, which frees the memory that it has kept.
_LONG = 60.0


class Worker:
    """A process of :mod:`semicrowd.pipeline.worker`, started when it is first needed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[str] | None = None

    def run(self, task: Task) -> tuple[int, float]:
        """Run a task; returns its exit code and its CPU seconds."""
        if self._process is not None and self._process.poll() is not None:  # it was killed between two tasks
            self.end()
        process = self._process or subprocess.Popen(
            [sys.executable, "-m", "semicrowd.pipeline.worker"], env=self._environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # then there is no reply, either
            print(json.dumps(task.command), file=process.stdin, flush=True)
        reply = process.stdout.readline()
        if not reply.endswith("\n"):  # the process died, for example because memory ran out
            code = self.end() or 1
            _note_lost(task, f"its process died (code {code})")
            return code, 0.0
        code, seconds = json.loads(reply)
        if seconds > _LONG:
            self.end()
        return int(code), float(seconds)

    def end(self) -> int:
        """Let the process end; returns its exit code."""
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.communicate()
        return process.returncode


class Schedule:
    """Runs tasks, several at once.

    Attributes
    ----------
    failed : names of tasks that failed, and of tasks that were not run because they need the result of a failed one
    """

    def __init__(self, tasks: list[Task], jobs: int, console: Console | None = None) -> None:
        self.failed: list[str] = []
        self._seconds = expected_seconds(tasks)
        self._urgency = urgency(tasks, self._seconds)
        self._waiting = sorted(tasks, key=lambda task: -self._urgency[task.name])
        self._running: dict[str, float] = {}
        self._done: list[str] = []
        self._total, self._jobs = len(tasks), jobs
        self._begun = time.monotonic()
        self._ended: SimpleQueue[tuple[Task, int, float]] = SimpleQueue()
        self._console = console or Console()
        environment = {**os.environ, **({"OMP_NUM_THREADS": "1"} if jobs > 1 else {})}
        self._idle = [Worker(environment) for _ in range(jobs)]

    def run(self) -> bool:
        """Run all tasks; returns whether all succeeded."""
        bar = Progress(
            TextColumn("experiments"), BarColumn(), TextColumn("{task.fields[said]}"), console=self._console,
            disable=not self._console.is_terminal, transient=True,
        )  # fmt: skip
        with bar:
            shown = bar.add_task("", total=sum(self._seconds.values()), said="")
            while self._waiting or self._running:
                self._start_what_can()
                said = f"{len(self._done)}/{self._total}, {self._left()}: {', '.join(self._running)}"
                bar.update(shown, completed=self._seconds_done(), said=said)
                if not self._running:  # the remaining tasks need results of failed ones
                    self._give_up()
                    break
                self._take(*self._ended.get())
        for worker in self._idle:
            worker.end()
        return not self.failed

    def _start_what_can(self) -> None:
        for task in list(self._waiting):
            if not self._idle:
                return
            if all(name in self._done for name in task.after):
                self._waiting.remove(task)
                self._running[task.name] = time.monotonic()
                threading.Thread(target=self._run_one, args=(self._idle.pop(), task), daemon=True).start()

    def _run_one(self, worker: Worker, task: Task) -> None:
        code, seconds = 1, 0.0
        try:
            code, seconds = worker.run(task)
        except OSError as error:  # no memory for a process, or a log that cannot be written
            with contextlib.suppress(OSError):
                _note_lost(task, f"its process could not be started: {error.strerror}")
        finally:  # the schedule waits for every task that it has started
            self._idle.append(worker)
            self._ended.put((task, code, seconds))

    def _take(self, task: Task, code: int, seconds: float) -> None:
        del self._running[task.name]
        if code == 0:
            self._done.append(task.name)
            keep_seconds({task.name: seconds})
        else:
            self.failed.append(task.name)
        if code in (130, -2):
            raise KeyboardInterrupt
        ended = "done" if code == 0 else f"failed (code {code}): {_last_line(Path(str(task.command['log'])))}"
        number = len(self._done) + len(self.failed)
        self._console.print(
            f"[{number}/{self._total}] {task.name}: {ended}, {seconds:.0f} s of a core; {self._left()}", markup=False,
            highlight=False, soft_wrap=True,
        )  # fmt: skip

    def _give_up(self) -> None:
        for task in self._waiting:
            why = f"not run, since {', '.join(name for name in task.after if name not in self._done)} failed"
            self._console.print(f"{task.name}: {why}", markup=False)
            _note_lost(task, why)
            if task.module == "deep_spaces":  # what is there is of models that are gone
                shutil.rmtree(RESULTS / task.module / task.arguments[0], ignore_errors=True)
        self.failed += [task.name for task in self._waiting]
        self._waiting = []

    def _seconds_done(self) -> float:
        begun = time.monotonic()
        now = sum(min(begun - since, self._seconds[name]) for name, since in self._running.items())
        return sum(self._seconds[name] for name in (*self._done, *self.failed)) + now

    def _left(self) -> str:
        """Estimated minutes until the end, by the tasks' earlier CPU seconds and the present speed of the machine."""
        done = self._seconds_done()
        left = (sum(self._seconds.values()) - done) / self._jobs
        longest = max((self._urgency[task.name] for task in self._waiting), default=0.0)
        passed = time.monotonic() - self._begun
        slowness = passed * self._jobs / done if done > passed / 2 > _LONG else 1.0
        return f"some {max(left, longest) * slowness / 60:.0f} min left"


def _note_lost(task: Task, why: str) -> None:
    """Say so where the results would be, and in the log."""
    log = Path(str(task.command["log"]))
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        print(f"error: {why}", file=file)
    if task.module == "experiment":
        experiment.main([*task.arguments, "--died", why])


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.is_file() else []
    return next((line.strip().removeprefix("error: ") for line in reversed(lines) if line.strip()), "no message")


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.all_experiments``."""
    parser = argparse.ArgumentParser(description="run every experiment of params.yaml that is not up to date")
    parser.parse_args(arguments)
    plan = load_plan()
    for folder in (DATA / ENCODED, RESULTS):  # DVC expects these folders, even if they are empty
        folder.mkdir(parents=True, exist_ok=True)
    return 0 if Schedule(tasks_of(plan), plan.jobs).run() else 1


if __name__ == "__main__":
    sys.exit(main())
