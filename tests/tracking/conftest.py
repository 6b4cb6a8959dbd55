"""A store, configurations, and what MLflow says of a run when it is asked anew."""

from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import DictConfig, OmegaConf

from semicrowd.tracking.store import open_store, sqlite_uri

Configure = Callable[..., DictConfig]
PROVENANCE = {
    "git_commit": "c0ffee" + "0" * 34,
    "git_dirty": True,
    "command": "python src/train.py seed=0",
    "data_hashes": {"raw/train-images": "ab" * 32},
    "versions": {"torch": "2.13.0"},
    "annotations": {"source": "tasks (simulated)", "simulated": True},
}


@pytest.fixture(scope="session")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that the tests of a process share: making one takes seconds. Its path needs quoting."""
    uri = sqlite_uri(tmp_path_factory.mktemp("a store 100%") / "mlflow.db")
    open_store(uri, "semicrowd")
    return uri


@pytest.fixture
def configure(uri: str) -> Configure:
    """``configure(resume=True, model__K=3)``: the configuration of a run in the shared store."""

    def make(**changes: object) -> DictConfig:
        cfg = OmegaConf.create(
            {
                "data": {"name": "pinwheel", "data_seed": 0},
                "model": {"name": "bayes", "K": 15, "hidden": [40, 40], "prior": {"kappa": 0.5}},
                "annotations": {"name": "none", "path": None},
                "trainer": {"devices": 1},
                "logger": {"name": "mlflow", "uri": uri, "experiment": "semicrowd"},
                "seed": 0,
                "epochs": 5,
                "resume": False,
            }
        )
        for name, value in changes.items():
            OmegaConf.update(cfg, name.replace("__", "."), value)
        return cfg

    return make


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A run's directory with its configuration, as the caller of ``start_run`` leaves it."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.yaml").write_text("seed: 0\n")
    return folder
