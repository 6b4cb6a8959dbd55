"""A sweep: every combination of the given values, one job each. If a job fails, the others still run."""

import itertools
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override

from semicrowd.errors import UserError
from semicrowd.files import RunDirectory, existing_ancestor, read_object, remove_empty, settle, write_csv, write_json
from semicrowd.run.commandline.arguments import folder_name
from semicrowd.run.commandline.mistakes import explain, is_mistake
from semicrowd.run.commandline.show import show_sweep
from semicrowd.run.composition import Given, composed, parsed
from semicrowd.run.files.provenance import command
from semicrowd.run.job import REPORTS, JobCall, Launch, report_path
from semicrowd.run.processes import place
from semicrowd.run.settings import check_given, sources


def launcher(given: Given) -> Launch | None:
    """A function that runs several jobs at once, as ``hydra/launcher`` says; None if they run one after the other."""
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


@dataclass(frozen=True)
class Job:
    """One combination: its number, its arguments, and those of them that are swept over."""

    number: int
    overrides: tuple[str, ...]
    swept: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Name of the job's folder within the sweep's folder, made from the swept arguments."""
        return folder_name(self.swept, all_of_them=True)


def combinations(overrides: Sequence[Override]) -> list[Job]:
    """All combinations of the overrides' values, the last argument varying fastest."""
    choices: dict[str, list[str]] = {}
    swept = set()
    for override in overrides:
        key = override.get_key_element()
        if not override.is_sweep_override():
            choices[key] = [f"{key}={override.get_value_element_as_str()}"]
        elif override.is_discrete_sweep():
            choices[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
            swept.add(key)
        else:
            raise UserError(f"{override.input_line}: expected a list of values, such as {key}=1,2,3")
    jobs = []
    for number, values in enumerate(dict.fromkeys(itertools.product(*choices.values()))):
        pairs = list(zip(choices, values, strict=True))
        jobs.append(Job(number, values, tuple(value for key, value in pairs if key in swept)))
    return jobs


def run_sweep(arguments: Sequence[str]) -> None:
    """Run every combination of the values that the arguments give and print the table of all jobs.

    Raises
    ------
    UserError, HydraException
        If the arguments of every job are wrong, before any job is run, or if a cluster refuses the jobs.
    SystemExit
        With code 1 if any job failed.
    KeyboardInterrupt, BrokenPipeError
        After Ctrl-C, or if the reader of the output has closed it; jobs.csv is written before.
    """
    here = place()
    if here is not None:
        raise UserError(f"-m: {here.starter} has started {here.size} processes, each of which would do the whole "
                        f"sweep; expected a single run, or the sweep without {here.starter}")
    given: dict[Job, Given] = {}
    mistakes: dict[Job, UserError] = {}
    jobs = combinations(parsed(arguments))
    for job in jobs:
        try:
            given[job] = composed(job.overrides)
            check_given(given[job])
        except Exception as error:
            if not is_mistake(error):
                raise
            mistakes[job] = explain(error)
            given.pop(job, None)
    if not given:
        raise next(iter(mistakes.values()))
    first = next(iter(given.values()))
    Sweep(jobs, given, mistakes, Path(first.sweep_dir), launcher(first)).run()


@dataclass(frozen=True)
class Sweep:
    """All jobs of a command, in the sweep's folder.

    Attributes
    ----------
    jobs : all of them
    given : job → its settings, if its arguments are valid
    mistakes : job → what is wrong with its arguments
    folder : folder of the sweep
    launch : function that runs several jobs at once; None to run them one after the other in this process
    """

    jobs: Sequence[Job]
    given: Mapping[Job, Given]
    mistakes: Mapping[Job, UserError]
    folder: Path
    launch: Launch | None

    def run(self) -> None:
        """Run the jobs and print the table of all of them; raises as :func:`run_sweep`."""
        from semicrowd.tracking import open_sweep

        ancestor = existing_ancestor(self.folder)
        settings = sources(next(iter(self.given.values()))).content
        tracked = open_sweep(settings, self.folder, {"command": command()})
        with tracked as tracker:
            RunDirectory(self.folder)
            shutil.rmtree(self.folder / REPORTS, ignore_errors=True)
            for job in self.jobs:
                self._start_report(job, self.mistakes.get(job))
            stopped = None
            try:
                self._launch(list(self.given))
            except (KeyboardInterrupt, UserError, BrokenPipeError) as error:  # a job's own error is in its report
                stopped = error
            reports = self._finish(ancestor)
            if stopped is not None:
                raise stopped
            failed = sum(report["status"] != "finished" for report in reports)
            tracker.keep(self.folder / "jobs.csv")
            tracker.end(f"{failed} jobs failed" if failed else None)
        if failed:
            raise SystemExit(1)

    def _start_report(self, job: Job, mistake: UserError | None) -> None:
        report = {
            "job": job.number,
            "arguments": " ".join(job.swept or job.overrides),
            "status": "not run" if mistake is None else "failed",
            "error": None if mistake is None else str(mistake),
            "folder": job.folder,
            "metrics": {},
        }
        write_json(report_path(self.folder, job.folder), report)
        if mistake is not None:
            print(f"job {job.number} ({report['arguments']}): error: {mistake}", file=sys.stderr, flush=True)

    def _launch(self, jobs: list[Job]) -> None:
        calls = {job: JobCall(self.given[job], self.folder, job.folder) for job in jobs}
        if self.launch is None:
            for call in calls.values():
                call()
            return
        while jobs:
            try:
                self.launch([calls[job] for job in jobs])
            except UserError:
                raise
            except Exception as error:
                # If a worker process dies (for example, if memory runs out), the other workers end, too. The jobs that
                # had not begun are launched again.
                died = f"its process died ({type(error).__name__}); resume=true continues the job"
                if not self._fail(jobs, "running", died):
                    first = (str(error).splitlines() or [type(error).__name__])[0]
                    self._fail(jobs, "not run", f"it could not be started: {first}")
            jobs = [job for job in jobs if self._report(job)["status"] == "not run"]

    def _fail(self, jobs: Sequence[Job], status: str, reason: str) -> int:
        failed = [job for job in jobs if self._report(job)["status"] == status]
        for job in failed:
            write_json(report_path(self.folder, job.folder), self._report(job) | {"status": "failed", "error": reason})
        return len(failed)

    def _report(self, job: Job) -> dict[str, Any]:
        return read_object(report_path(self.folder, job.folder))

    def _finish(self, ancestor: Path) -> list[dict[str, Any]]:
        """Write jobs.csv, print the table, and remove the folders of jobs that never started."""
        reports = [self._report(job) for job in self.jobs]
        for report in reports:
            if report["status"] == "running":
                report["status"] = "interrupted"
            settle(self.folder / report["folder"])
            remove_empty(self.folder / report["folder"], keep=ancestor)
        columns = ("job", "arguments", "status", "error", "folder")
        metrics = list(dict.fromkeys(name for report in reports for name in report["metrics"]))
        rows = [[*(r[c] for c in columns), *(r["metrics"].get(name) for name in metrics)] for r in reports]
        write_csv(self.folder / "jobs.csv", [*columns, *metrics], rows)
        shutil.rmtree(self.folder / REPORTS)
        show_sweep(reports, self.folder)
        return reports
