"""Odd files of items and answers through the whole command: a run, or one clear line with nothing left behind."""

from pathlib import Path

import numpy as np
import pytest
from tests.data.test_fuzz import ANSWERS, DAMAGE, GROUPS, OF_TEXT, SPELLINGS, TABLE

from .conftest import Command

#: Good files, by name.
GOOD = {"items": TABLE, "pairs": ANSWERS, "groups": GROUPS}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(36))
def test_a_run_on_an_odd_file_succeeds_or_leaves_nothing(train: Command, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    damaged = list(GOOD)[seed % 3]
    answers = ["pairs", "groups"][seed % 2] if damaged == "items" else damaged
    for name in ("items", answers):
        content = SPELLINGS["as it is"](GOOD[name])
        if name == damaged:
            if seed % 4:  # of each four files one is damaged as bytes alone, one as text alone, two as both
                content = OF_TEXT[rng.integers(len(OF_TEXT))](rng, content)
            if seed % 4 != 1:
                content = DAMAGE[rng.integers(len(DAMAGE))](rng, content)
        (tmp_path / f"{name}.csv").write_bytes(content)
    method = "crowd_logistic" if damaged != "items" or seed % 2 else "kmeans"
    before = {path.name for path in tmp_path.iterdir()}
    done = train("data=table", "data.path=items.csv", "annotations=file", f"annotations.path={answers}.csv",
                 f"model={method}", "model.K=2", "hydra.run.dir=run")  # fmt: skip
    assert "Traceback" not in done.stdout + done.stderr
    after = {path.name for path in tmp_path.iterdir()} - {"data"}
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    if done.returncode == 0:
        assert errors == []
        assert after == before | {"run"}
        assert (tmp_path / "run" / "assignments.csv").is_file()
    else:
        assert done.returncode == 2, done.stderr
        assert len(errors) == 1, done.stderr
        assert after == before
