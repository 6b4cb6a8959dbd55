"""``report.html`` at the end of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.evaluation.scores import Evaluation
from semicrowd.files import read_object, write_text
from semicrowd.page.build import FILE, Page, pictures, render
from semicrowd.run.files.inputs import PROVENANCE
from semicrowd.tracking.content import run_name


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
    """Write the page of a run, and return the page's path. provenance.json must be in the run's folder already.

    Parameters
    ----------
    settings : of the run, nested
    given : the settings that the user has given, by dotted name
    """
    origin = read_object(run_dir / PROVENANCE)
    page = Page(
        run_name(settings, given), data, answers, result, metrics, warnings, settings, given,
        str(origin.get("command") or ""), str(origin.get("started") or "")[:16].replace("T", " "),
    )  # fmt: skip
    write_text(run_dir / FILE, render(page, pictures(run_dir / "figures")))
    return run_dir / FILE
