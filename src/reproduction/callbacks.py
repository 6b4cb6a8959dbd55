"""What happens around the jobs of a sweep (Hydra's callback in conf/config.yaml)."""

import atexit
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from semicrowd.errors import UserError

#: A job's row, in Hydra's folder of the job.
_ROW = ".hydra/job.json"
#: Metric, heading and format of the table's columns; a metric that no job has is left out.
_COLUMNS = (
    ("train/acc", "ACC", ".3f"),
    ("train/nmi", "NMI", ".3f"),
    ("annotated/acc", "annotated ACC", ".3f"),
    ("test/acc", "test ACC", ".3f"),
    ("test/nmi", "test NMI", ".3f"),
    ("answers/held_out_gain", "held-out gain", "+.4f"),
    ("clusters/used", "clusters", ".3g"),
    ("elbo/train", "ELBO", ".5g"),
    ("seconds/fit", "fit (s)", ".1f"),
    ("warnings/count", "warnings", ".3g"),
)


class Sweep(Callback):
    """MLflow's parent run of a sweep, its file jobs.csv, and the table that is printed at its end.

    A job that fails is a row of the table: the others go on, and the exit code is 1.
    """

    def __init__(self) -> None:
        self.parent: str | None = None

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Hydra's hook: before all jobs."""
        from reproduction import tracking
        from reproduction.commandline import PROGRAM

        self._folder = Path(config.hydra.sweep.dir).absolute()
        for old in self._folder.glob(f"*/{_ROW}"):
            old.unlink()
        self._tracker = tracking.Tracker()
        atexit.register(self._end, stopped=True)  # unless it gets to its end
        if not config.get("logger"):
            return
        try:
            command = " ".join([*PROGRAM.split(), "-m", *config.hydra.overrides.task])
            tags = {"mlflow.source.type": "LOCAL", "mlflow.source.name": command, "folder": self._folder}
            self._tracker = tracking.open_run(config.logger, f"sweep {self._folder.name}", tags)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            raise SystemExit(2) from None
        self.parent = self._tracker.id

    def __getstate__(self) -> dict[str, Any]:
        return {"parent": self.parent}  # what jobs in other processes need

    def on_job_start(self, config: DictConfig, **_: Any) -> None:  # noqa: ARG002
        """Hydra's hook: before each job, in its process."""
        from reproduction.tracking import PARENT

        if self.parent is not None:
            os.environ[PARENT] = self.parent

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        """Hydra's hook: after each job, in its process."""
        hydra = config.hydra
        if hydra.mode.name != "MULTIRUN":
            return
        title = f"job {hydra.job.num} ({' '.join(hydra.overrides.task)})"
        row = {"job": hydra.job.num, "overrides": list(hydra.overrides.task), "status": "finished", "error": "",
               "folder": Path(hydra.runtime.output_dir).name}  # fmt: skip
        if job_return.status == JobStatus.COMPLETED:
            if job_return.return_value is None:  # another process than the first of those that train together
                return
            row["metrics"] = job_return.return_value
        else:
            import traceback

            error: Any = job_return._return_value
            mistake = isinstance(error, UserError)
            row |= {"status": "failed", "error": str(error) if mistake else f"{type(error).__name__}: {error}"}
            text = f"error: {error}" if mistake else "".join(traceback.format_exception(error))
            print(f"{title}: {text}", file=sys.stderr, flush=True)
            # Hydra would raise the first error after the last job, in place of on_multirun_end.
            job_return.status, job_return.return_value = JobStatus.COMPLETED, None
        path = Path(hydra.runtime.output_dir) / _ROW
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(row), encoding="utf-8")
        if "metrics" in row:
            print(f"{title}: {_brief(row['metrics'])}", flush=True)

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:  # noqa: ARG002
        """Hydra's hook: after all jobs."""
        atexit.unregister(self._end)
        if self._end():
            raise SystemExit(1)

    def _end(self, stopped: bool = False) -> int:
        """Write jobs.csv, print the table, end MLflow's run; the number of jobs that failed."""
        rows = [json.loads(path.read_text(encoding="utf-8")) for path in self._folder.glob(f"*/{_ROW}")]
        failed = sum(row["status"] != "finished" for row in rows)
        if rows:
            rows.sort(key=lambda row: row["job"])
            for row in rows:
                row["swept"] = [one for one in row["overrides"] if any(one not in other["overrides"] for other in rows)]
            _write(rows, self._folder / "jobs.csv")
            _print(rows, self._folder)
            status = "KILLED" if stopped else "FAILED" if failed else "FINISHED"
            self._tracker.end(status, f"{failed} jobs failed" if failed else "", [self._folder / "jobs.csv"])
        else:  # none has begun
            self._tracker.remove()
        return failed


def _brief(metrics: Mapping[str, Any]) -> str:
    return ", ".join(f"{heading} {metrics[name]:{form}}" for name, heading, form in _COLUMNS if name in metrics)


def _write(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    from semicrowd.files import write_csv

    columns = ("job", "overrides", "status", "error", "folder")
    metrics = list(dict.fromkeys(name for row in rows for name in row.get("metrics", {})))
    write_csv(path, [*columns, *metrics], [
        [row["job"], " ".join(row["overrides"]), *(row[name] for name in columns[2:]),
         *(row.get("metrics", {}).get(name) for name in metrics)] for row in rows
    ])  # fmt: skip


def _print(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Print a row for each job, and for jobs that differ in their seeds alone mean and standard deviation."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = [one for one in _COLUMNS if any(one[0] in row.get("metrics", {}) for row in rows)]
    table = Table(title=f"{len(rows)} jobs in {folder}", title_justify="left")
    for heading in ("job", "arguments", "status", *(heading for _, heading, _ in shown)):
        table.add_column(heading, justify="left" if heading in ("arguments", "status") else "right", overflow="fold")
    groups: dict[str, list[Mapping[str, float]]] = {}
    for row in rows:
        metrics = row.get("metrics", {})
        status = Text(row["status"], "green" if row["status"] == "finished" else "red")
        status.append(f": {row['error']}" if row["error"] else "")
        cells = [f"{metrics[name]:{form}}" if name in metrics else "" for name, _, form in shown]
        table.add_row(str(row["job"]), Text(" ".join(row["swept"])), status, *cells)
        if metrics:
            key = " ".join(one for one in row["swept"] if not one.startswith("seed="))
            groups.setdefault(key, []).append(metrics)
    if any(len(group) > 1 for group in groups.values()):
        table.add_section()
        for key, group in groups.items():
            cells = [_mean([metrics[name] for metrics in group if name in metrics], form) for name, _, form in shown]
            table.add_row("", Text(f"{key} mean ± sd".strip()), f"{len(group)} jobs", *cells)
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def _mean(values: Sequence[float], form: str) -> str:
    if not values:
        return ""
    spread = f" ± {statistics.stdev(values):{form.lstrip('+')}}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):{form}}{spread}"
