"""``make record`` keeps what runs have found, ``make verify`` compares it with what they find now."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from reproduction import recorded
from semicrowd.errors import UserError
from semicrowd.files import write_json, write_text

COMMIT = "0123456789abcdef"


def write_run(folder: Path, seed: int, *, finished: bool = True, commit: str = COMMIT) -> None:
    origin = {
        "git_commit": commit, "git_dirty": False, "overrides": ["model=kmeans", f"seed={seed}", "figures=false"],
        "annotations": None, "started": "2026-01-01", "versions": {"numpy": "2"}, "data_hashes": {},
    }  # fmt: skip
    write_json(folder / "provenance.json", origin)
    write_text(folder / "config.yaml", f"seed: {seed}\n")
    write_text(folder / "restarts.csv", "restart,elbo,oracle_acc\n0,-1.5,\n1,-inf,\n")
    if finished:
        write_json(folder / "metrics.json", {"train/acc": 0.5 + seed, "seconds/fit": 1.0})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(recorded, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(recorded, "RECORDED", tmp_path / "recorded")
    monkeypatch.setattr(recorded, "_commit", lambda: COMMIT)
    return tmp_path / "runs" / COMMIT[:10] / "name"


def test_runs_are_kept_with_what_they_have_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(arguments: Sequence[str]) -> int:
        assert arguments[:3] == ["-m", "model=kmeans", "seed=0-2"]
        write_run(place / "0", 0)
        write_run(place / "1", 1, finished=False)
        write_run(place / "2", 2, finished=False)
        write_text(place / "jobs.csv", "job,status,error,folder\n0,finished,,0\n1,failed,diverged,1\n")
        return 1

    monkeypatch.setattr(recorded, "train", train)
    path = recorded.record("name", ["model=kmeans", "seed=0-2"])
    first, second = json.loads(path.read_text())["runs"]  # the third was stopped
    assert first["status"] == "finished"
    assert first["arguments"] == ["model=kmeans", "seed=0"]
    assert first["metrics"] == {"train/acc": 0.5, "seconds/fit": 1.0}
    assert first["restarts"] == {"restart": [0, 1], "elbo": [-1.5, None]}
    assert (second["status"], second["message"], second["metrics"]) == ("failed", "diverged", {})
    # Again: a run takes the place of that with the same arguments.
    recorded.record("name", ["model=kmeans", "seed=0-2"])
    assert recorded.read("name") == [first, second]


def test_runs_of_another_commit_are_refused(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "train", lambda _: 0)
    with pytest.raises(UserError, match="ARGS"):
        recorded.record("name", [])
    write_run(place / "0", 0, commit="other")
    with pytest.raises(UserError, match="name/0"):
        recorded.record("name", ["model=kmeans"])


def test_the_cheapest_run_is_repeated_and_compared(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = {"train/acc": 0.5, "train/nmi": 0.25, "seconds/fit": 9.0}

    def train(arguments: Sequence[str], *, quiet: bool = False) -> int:
        folder = Path(arguments[-1].partition("=")[2])
        assert "seed=1" in arguments
        write_json(folder / "metrics.json", now)
        write_json(folder / "provenance.json", {"versions": {"numpy": "2"}})
        return 0

    monkeypatch.setattr(recorded, "train", train)
    about = {"status": "finished", "commit": COMMIT, "processor": recorded.processor(), "versions": {"numpy": "2"}}
    metrics = {"train/acc": 0.5, "train/nmi": 0.25, "seconds/fit": 2.0}
    runs = [about | {"seed": seed, "arguments": [f"seed={seed}"], "metrics": metrics | {"seconds/fit": seconds}}
            for seed, seconds in ((0, 3.0), (1, 2.0))]  # fmt: skip
    write_json(place.parents[2] / "recorded" / "runs" / "name.json", {"runs": runs})
    assert recorded.main(["verify", "name"]) == 0
    now["train/acc"] = 0.501
    assert recorded.main(["verify", "name"]) == 1
    assert "train/acc" in capsys.readouterr().err
    assert recorded.main(["verify", "other"]) != 0


def test_scores_may_differ_a_little_on_another_machine() -> None:
    before = {"train/nmi": 0.9, "elbo/train": -10.0, "seconds/fit": 1.0}
    assert not recorded.differences(before, {"train/nmi": 0.88, "elbo/train": -12.0}, same_machine=False)
    assert len(recorded.differences(before, {"train/nmi": 0.86}, same_machine=False)) == 1
    assert len(recorded.differences(before, {"train/nmi": 0.9}, same_machine=True)) == 1  # no ELBO
