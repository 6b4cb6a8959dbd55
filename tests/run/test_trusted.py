"""What a run says of its own result: warnings, what else was tried, the score by held-out answers."""

import json
from pathlib import Path

import pytest

from .conftest import Command, metrics_of, rows_of

#: It does not matter here in how many parts a candidate is fitted again.
pytestmark = pytest.mark.usefixtures("quick_cotraining")

OWN = ("data=table", "data.path=items.csv", "annotations=file", "hydra.run.dir=run", "logger=none")


@pytest.mark.usefixtures("table", "answers")
@pytest.mark.parametrize(
    "model",
    [("model=cotrain",), ("model=scdc", "start=portfolio", "model.K=4", "epochs=1", "start.teach_epochs=5")],
)
def test_a_healthy_run_has_no_warning_and_keeps_what_was_tried(
    train: Command, tmp_path: Path, model: tuple[str, ...]
) -> None:
    done = train(*OWN, "annotations.path=answers.csv", *model)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    run = tmp_path / "run"
    assert json.loads((run / "warnings.json").read_text()) == {"warnings": []}
    metrics = metrics_of(run)
    assert metrics["warnings/count"] == 0
    assert metrics["answers/cross_validated_gain"] > metrics["answers/cross_validated_gain_error"] > 0
    assert "answers/held_out_gain" not in metrics
    rows = rows_of(run / "candidates.csv")
    assert [float(row["score"]) for row in rows] == sorted((float(row["score"]) for row in rows), reverse=True)
    assert sum(row["winner"] == "1" for row in rows) == 1
    assert {"candidate", "clusters", "behind", "standard_error", "answer_power", "agreement"} <= rows[0].keys()


@pytest.mark.usefixtures("table", "answers")
def test_held_out_answers_score_any_method_and_a_bad_one_is_warned_of(train: Command, tmp_path: Path) -> None:
    (tmp_path / "flat.csv").write_text("x\n" + "\n".join(["0"] * 39 + ["1"]) + "\n")
    bad = ("data=table", "data.path=flat.csv", "annotations=file", "annotations.path=answers.csv", "logger=none")
    done = train(*bad, "model=kmeans", "model.K=2", "held_out=true", "hydra.run.dir=bad")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(lines) == 2
    assert "one cluster has 97.5 % of the items" in lines[0]
    assert "the answers carry no information about these clusters" in lines[1]
    told = json.loads((tmp_path / "bad" / "warnings.json").read_text())["warnings"]
    assert [f"warning: {line}" for line in told] == lines
    assert metrics_of(tmp_path / "bad")["warnings/count"] == 2

    good = train(*OWN, "annotations.path=answers.csv", "model=kmeans", "model.K=2", "held_out=true")
    assert good.returncode == 0, good.stderr
    assert good.stderr == ""
    scores = [metrics_of(tmp_path / name)["answers/held_out_gain"] for name in ("run", "bad")]
    assert scores[0] > 0.2 > abs(scores[1])
    assert not (tmp_path / "run" / "candidates.csv").exists()


@pytest.mark.usefixtures("table")
def test_what_cannot_be_held_out_is_said(train: Command, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("i,j,worker,label\n0,1,ann,1\n0,20,ann,0\n")
    done = train(*OWN, "annotations.path=few.csv", "model=kmeans", "model.K=2", "held_out=true")
    assert done.returncode == 0, done.stderr
    note = "note: held_out=true: too few answers to hold out a tenth of them; answers/held_out_gain is left out"
    assert note in done.stderr
    assert "answers/held_out_gain" not in metrics_of(tmp_path / "run")
    refused = train(*OWN, "annotations.path=few.csv", "held_out=true", "trainer=ddp")
    assert refused.returncode == 2
    assert "held_out=true: fits twice in one process; expected trainer=single" in refused.stderr


@pytest.mark.usefixtures("answers")
def test_without_labels_workers_have_no_observed_rates(train: Command, tmp_path: Path) -> None:
    rows = [f"{10 * (row < 20)}.{row}" for row in range(40)]
    (tmp_path / "bare.csv").write_text("x\n" + "\n".join(rows) + "\n")
    done = train("data=table", "data.path=bare.csv", "annotations=file", "annotations.path=answers.csv", "logger=none",
                 "model=crowd_only", "model.K=2", "hydra.run.dir=run")  # fmt: skip
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "run" / "workers.csv").read_text().splitlines()[0]
    assert "sensitivity_low" in header
    assert "observed" not in header
    assert not any("observed" in name for name in metrics_of(tmp_path / "run"))
