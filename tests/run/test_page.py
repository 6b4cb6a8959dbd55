"""report.html at the end of a run, and made anew from the run's folder."""

from pathlib import Path
from typing import Any

import pytest

from .conftest import Command, _called


def report(folder: Path, *arguments: str) -> Any:
    from semicrowd.run.page import main

    return _called(main, folder, list(arguments), {})


@pytest.mark.usefixtures("table", "answers")
def test_a_run_has_a_page_and_it_can_be_made_anew(train: Command, tmp_path: Path) -> None:
    done = train("data=table", "data.path=items.csv", "model=kmeans", "model.K=2", "hydra.run.dir=run",
                 "annotations=file", "annotations.path=answers.csv")  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = tmp_path / "run" / "report.html"
    text = page.read_text()
    assert "items.csv" in text
    assert "hydra.run.dir=run" in text
    page.unlink()
    again = report(tmp_path, "run=run")
    assert again.returncode == 0, again.stderr
    assert page.read_text() == text

    assert "not the directory of a finished run" in report(tmp_path, "run=nowhere").stderr
    with (tmp_path / "items.csv").open("a") as file:
        file.write((tmp_path / "items.csv").read_text().splitlines()[1] + "\n")
    changed = report(tmp_path, "run=run")
    assert changed.returncode == 2
    assert "items.csv has changed since the run was started" in changed.stderr
    assert page.read_text() == text
