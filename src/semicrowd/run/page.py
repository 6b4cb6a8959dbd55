"""``report.html`` and ``questions.csv`` of a run, at its end, and again with ``src/report.py FOLDER``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError, without_traceback
from semicrowd.evaluation.scores import Evaluation, score
from semicrowd.files import MODEL, check_finished, read_metrics, read_object, write_text
from semicrowd.page.build import FILE, Page, pictures, render
from semicrowd.page.questions import QUESTIONS, write_questions
from semicrowd.run.files.config import CONFIG, GIVEN, read_config
from semicrowd.run.files.inputs import PROVENANCE, check_inputs, file_hashes
from semicrowd.tracking.content import run_name

#: What may be in front of a run's folder in an argument.
_PREFIX = "run="


def write_page_of_run(
    run_dir: Path,
    data: Dataset,
    answers: PairAnnotations | None,
    result: Evaluation,
    metrics: Mapping[str, float],
    warnings: Sequence[str],
    settings: Mapping[str, Any],
    given: Mapping[str, Any],
) -> Path:
    """Write the page of a run and its file of questions, and return the page's path.

    provenance.json must be in the run's folder already.

    Parameters
    ----------
    settings : of the run, nested
    given : the settings that the user has given, by dotted name
    """
    origin = read_object(run_dir / PROVENANCE)
    page = Page(
        run_name(settings, given), data, answers, result, metrics, warnings, settings,
        str(origin.get("command") or ""), str(origin.get("started") or "")[:16].replace("T", " "), QUESTIONS,
    )  # fmt: skip
    write_questions(run_dir / QUESTIONS, page.pairs, page.items)
    write_text(run_dir / FILE, render(page, pictures(run_dir / "figures")))
    return run_dir / FILE


def rebuild(run_dir: Path) -> Path:
    """Write the page of a finished run again, from its folder and its data; returns the page's path."""
    check_finished(run_dir)
    # Imported here: importing torch takes seconds, and a wrong folder has been found by now.
    from semicrowd.estimators.persistence import load
    from semicrowd.run.files.provenance import provenance
    from semicrowd.run.inputs import load_inputs

    settings = read_config(run_dir / CONFIG)
    given = settings.pop(GIVEN, None) or {}
    data, answers = load_inputs(settings)
    now = {**provenance(data, answers), "files": file_hashes(given, data.hashes)}
    check_inputs(run_dir, now, "its page can be made again only from what it was started with")
    estimator = load(run_dir / MODEL)
    estimator.number_clusters()  # that of an earlier version has the numbers of its components
    result = score(estimator.result_, data, answers)
    warnings = read_object(run_dir / "warnings.json").get("warnings") or []
    return write_page_of_run(run_dir, data, answers, result, read_metrics(run_dir), warnings, settings, given)


@without_traceback
def main(arguments: Sequence[str]) -> int:
    """Run ``src/report.py FOLDER …``; returns the exit code. ``run=FOLDER`` is the same."""
    for argument in arguments:
        folder = argument.removeprefix(_PREFIX)
        if not folder:
            raise UserError(f"{argument}: expected the folder of a finished run")
        print(rebuild(Path(folder)))
    return 0
