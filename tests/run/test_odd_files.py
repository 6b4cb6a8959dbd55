"""Odd files of items and answers through the whole command: a run, or one clear line with nothing left behind."""

from pathlib import Path

import numpy as np
import pytest
from tests.data.test_fuzz import ANSWERS, DAMAGE, TABLE

from .conftest import Command


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(36))
def test_a_run_on_an_odd_file_succeeds_or_leaves_nothing(train: Command, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    damaged = ("items", "pairs")[seed % 2]
    for name, table in (("items", TABLE), ("pairs", ANSWERS)):
        content = table.to_csv(index=False).encode()
        if name == damaged:
            for damage in rng.choice(np.array(DAMAGE, object), rng.integers(1, 3)):
                content = damage(rng, content or b",")
        (tmp_path / f"{name}.csv").write_bytes(content)
    method = ("kmeans", "crowd_logistic")[seed % 2]
    before = {path.name for path in tmp_path.iterdir()}
    done = train("data=table", "data.path=items.csv", "annotations=file", "annotations.path=pairs.csv",
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
