"""A sweep: every combination of the values given, one job each; a job that fails leaves the others alone."""

import itertools
import json
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

from semicrowd.errors import UserError
from semicrowd.run.arguments import folder_name
from semicrowd.run.cli import CONF
from semicrowd.files import existing_ancestor, remove_empty, write_csv, write_json
from semicrowd.run.mistakes import explain, is_mistake, known_keys
from semicrowd.run.provenance import command
from semicrowd.run.show import brief, show_sweep

_REPORTS = ".jobs"


@dataclass(frozen=True)
class Job:
    """One combination: its number, its arguments, and those of them that are swept over."""

    number: int
    overrides: tuple[str, ...]
    swept: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Folder within the sweep's: the swept arguments."""
        return folder_name(self.swept)

    @property
    def arguments(self) -> list[str]:
        """What Hydra composes the job's configuration from."""
        return [*self.overrides, f"hydra.sweep.subdir='{self.folder}'"]


def combinations(overrides: Sequence[Override]) -> list[Job]:
    """All combinations of the overrides' values, the last argument varying fastest.

    Raises
    ------
    UserError
        For a sweep without an end, such as ``interval(0, 1)``.
    """
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


# ------------------------------------------------------------------ in the job's process


def run_job(cfg: DictConfig, run_dir: Path, sweep_dir: Path, name: str) -> None:
    """Run one job and leave a report of it in the sweep's folder, whatever happens.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, so that no other job is started.
    """
    from semicrowd.run.execute import execute

    path = _report_path(sweep_dir, name)
    report = _read_report(path) | {"status": "running"}
    write_json(path, report)
    title = f"job {report['job']} ({report['arguments']})"
    ended: dict[str, Any] = {"status": "interrupted"}
    try:
        metrics = execute(cfg, run_dir)
        ended = {"status": "finished", "metrics": metrics}
        print(f"{title}: {brief(metrics)}", flush=True)
    except UserError as error:
        ended = {"status": "failed", "error": str(error)}
        print(f"{title}: error: {error}", file=sys.stderr, flush=True)
    except Exception as error:
        ended = {"status": "failed", "error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(f"{title}: failed\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    finally:
        write_json(path, report | ended)


def _report_path(sweep_dir: Path, name: str) -> Path:
    return sweep_dir / _REPORTS / f"{name}.json"


def _read_report(path: Path) -> dict[str, Any]:
    report = json.loads(path.read_text())
    assert isinstance(report, dict)
    return report


# ------------------------------------------------------------------ in the sweep's process


class Sweep:
    """All jobs of a command, in the sweep's folder.

    Parameters
    ----------
    jobs : what to run
    folder : of the sweep
    compose : a job's configuration; raises what is wrong with its arguments
    launch : runs jobs, given the arguments of each, and the number of the first
    serial : whether ``launch`` runs one job after the other
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        folder: Path,
        compose: Callable[[list[str]], DictConfig],
        launch: Callable[[list[list[str]], int], object],
        serial: bool,
    ) -> None:
        self.jobs, self.folder, self.compose, self.launch, self.serial = jobs, folder, compose, launch, serial

    def run(self) -> None:
        """Run the jobs and print the table of all of them.

        Raises
        ------
        UserError
            If no job's arguments can be read; nothing has been run then.
        SystemExit
            With code 1 if any job failed.
        KeyboardInterrupt
            After Ctrl-C and the table.
        """
        from semicrowd.tracking import open_sweep

        ancestor = existing_ancestor(self.folder)
        composed = {job: self._compose(job) for job in self.jobs}
        mistakes = {job: result for job, result in composed.items() if isinstance(result, UserError)}
        configurations = [result for result in composed.values() if not isinstance(result, UserError)]
        if not configurations:
            raise next(iter(mistakes.values()))
        with open_sweep(configurations[0], self.folder, {"command": command()}) as tracker:
            shutil.rmtree(self.folder / _REPORTS, ignore_errors=True)
            for job in self.jobs:
                self._start_report(job, mistakes.get(job))
            stopped = None
            try:
                self._launch([job for job in self.jobs if job not in mistakes])
            except KeyboardInterrupt as error:
                stopped = error
            reports = self._finish(ancestor)
            if stopped is not None:
                raise stopped
            failed = sum(report["status"] != "finished" for report in reports)
            tracker.finish(failed, [self.folder / "jobs.csv"])
        if failed:
            raise SystemExit(1)

    def _compose(self, job: Job) -> DictConfig | UserError:
        try:
            return self.compose(job.arguments)
        except Exception as error:
            if not is_mistake(error):
                raise
            return explain(error, known_keys(CONF), job.overrides)

    def _start_report(self, job: Job, mistake: UserError | None) -> None:
        report = {
            "job": job.number,
            "arguments": " ".join(job.swept or job.overrides),
            "status": "not run" if mistake is None else "failed",
            "error": None if mistake is None else str(mistake),
            "folder": job.folder,
            "metrics": {},
        }
        write_json(_report_path(self.folder, job.folder), report)

    def _launch(self, jobs: list[Job]) -> None:
        if self.serial:
            for job in jobs:
                self.launch([job.arguments], job.number)
            return
        while jobs:
            try:
                self.launch([job.arguments for job in jobs], jobs[0].number)
            except Exception as error:
                # A worker process that dies, say for want of memory, takes the others with it: the jobs that had
                # not begun are launched again.
                if not self._fail_running(jobs, error):
                    raise
            jobs = [job for job in jobs if self._report(job)["status"] == "not run"]

    def _fail_running(self, jobs: Sequence[Job], error: Exception) -> int:
        running = [job for job in jobs if self._report(job)["status"] == "running"]
        for job in running:
            reason = f"its process died ({type(error).__name__}); resume=true goes on"
            write_json(_report_path(self.folder, job.folder), self._report(job) | {"status": "failed", "error": reason})
        return len(running)

    def _report(self, job: Job) -> dict[str, Any]:
        return _read_report(_report_path(self.folder, job.folder))

    def _finish(self, ancestor: Path) -> list[dict[str, Any]]:
        """Table, jobs.csv, and no folder of a job that never started."""
        reports = [self._report(job) for job in self.jobs]
        for report in reports:
            if report["status"] == "running":
                report["status"] = "interrupted"
            remove_empty(self.folder / report["folder"], keep=ancestor)
        columns = ("job", "arguments", "status", "error", "folder")
        metrics = list(dict.fromkeys(name for report in reports for name in report["metrics"]))
        rows = [[*(r[c] for c in columns), *(r["metrics"].get(name) for name in metrics)] for r in reports]
        write_csv(self.folder / "jobs.csv", [*columns, *metrics], rows)
        shutil.rmtree(self.folder / _REPORTS)
        show_sweep(reports, self.folder)
        return reports
