"""One job of a sweep, in any process, and the report that it writes into the sweep's folder."""

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semicrowd.errors import UserError
from semicrowd.files import read_object, write_json
from semicrowd.run.commandline.show import brief
from semicrowd.run.composition import Given
from semicrowd.run.processes import place

#: Folder of the reports, within the sweep's folder.
REPORTS = ".jobs"


def report_path(sweep_dir: Path, name: str) -> Path:
    """Path of the report of the job whose folder is called ``name``.

    It has number, arguments, status (not run, running, finished, failed, interrupted), error, folder and metrics.
    """
    return sweep_dir / REPORTS / f"{name}.json"


@dataclass(frozen=True)
class JobCall:
    """What a launcher calls, in this or another process. It runs the job and writes a report, even if the job fails.

    Attributes
    ----------
    given : the job's settings
    sweep_dir : folder of the sweep
    name : name of the job's folder within the folder of the sweep
    """

    given: Given
    sweep_dir: Path
    name: str

    def __call__(self) -> None:
        """Run the job.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, so that no other job is started.
        """
        from semicrowd.run.execute import execute

        run_dir = (self.sweep_dir / self.name).absolute()
        here = place()
        if here is not None and here.rank:  # the first of the job's processes reports for all of them
            execute(self.given, run_dir)
            return
        path = report_path(self.sweep_dir, self.name)
        report = read_object(path) | {"status": "running"}
        write_json(path, report)
        title = f"job {report['job']} ({report['arguments']})"
        ended: dict[str, Any] = {"status": "interrupted"}
        try:
            metrics = execute(self.given, run_dir)
            ended = {"status": "finished", "metrics": metrics}
        except UserError as error:
            ended = {"status": "failed", "error": str(error)}
            print(f"{title}: error: {error}", file=sys.stderr, flush=True)
        except Exception as error:
            ended = {"status": "failed", "error": f"{type(error).__name__}: {error}".splitlines()[0]}
            print(f"{title}: failed\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        else:
            print(f"{title}: {brief(metrics)}", flush=True)
        finally:
            write_json(path, report | ended)


#: Runs jobs and returns when all have ended.
Launch = Callable[[Sequence[JobCall]], object]
