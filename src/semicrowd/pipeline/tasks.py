"""The tasks of the stage ``experiments``: which must be done before others, and how long each took the last time."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from semicrowd.files import read_object, write_json
from semicrowd.pipeline.experiments import RESULTS, Experiment, Plan
from semicrowd.settings.sources import EncodedSettings

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
    for experiment in plan.experiments.values():
        names = together.get(experiment.name, (experiment.name,))
        if experiment.name != names[0]:  # a part of the task of the first
            continue
        parts = [plan.experiments[name] for name in names]
        after = tuple(made[data] for part in parts for data in encoded_by(part) if data in made)
        seeds = [()] if experiment.sweep is not None else [("--seed", str(seed)) for seed in experiment.seeds]
        own = [Task("experiment", (*names, *seed), after) for seed in seeds]
        tasks += own
        for name in names:
            if name in plan.spaces:
                tasks.append(Task("deep_spaces", (name,), tuple(task.name for task in own)))
    tasks += [Task("slpd.tables", (data,)) for data in plan.slpd.get("data", ())]
    return tasks + ([Task("slpd.curve", ())] if "curve" in plan.slpd else [])


def encoded_by(experiment: Experiment) -> Iterable[str]:
    """Data sets whose codes an experiment clusters."""
    if experiment.settings.get("data") != "encoded":
        return ()
    swept = (experiment.sweep or {}).get("data.which", ())
    return [*swept] or [experiment.settings.get("data.which", EncodedSettings.which)]


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
