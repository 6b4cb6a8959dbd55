"""Every whole run of conf/experiment: it has a header, it composes, and its first step works."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from semicrowd.run.composition import CONF
from semicrowd.run.settings import check_given

from .conftest import Command, composed_once

FILES = sorted((CONF / "experiment").glob("*.yaml"))
FITTED = ("model.n_steps=1", "model.n_restarts=1")
SAMPLED = ("model.n_sweeps=2", "model.n_chains=1", "model.n_warm=1", "model.n_kept=1")
#: One step where a run would take long: few items without answers in it, no start, one draw.
SHORT = ("epochs=1", "batch_size=6000", "start=cold", "restarts=1")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_composes_and_its_header_has_result_hardware_and_cost(path: Path) -> None:
    header = [line for line in path.read_text().splitlines() if line.startswith("# ")]
    for what in ("Result: ", "Hardware: ", "Cost: "):
        assert what in " ".join(header[1:])
    given = composed_once(f"experiment={path.stem}")
    check_given(given)
    data, model, *_ = path.stem.split("_")
    assert given.choices["data"] == data
    assert given.choices["model"] in path.stem or given.values.get("nets.kind") == model


#: Experiments whose first step takes long.
SLOW = ("mnist", "cifar10_scdc")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow, pytest.mark.needs_data] if path.stem.startswith(SLOW) else [])
     for path in FILES], ids=lambda path: path.stem,
)  # fmt: skip
def test_its_first_step_works(
    train: Command, tmp_path: Path, public_data: Callable[[str], Path], path: Path
) -> None:
    given = composed_once(f"experiment={path.stem}")
    data = given.choices["data"]
    public = {"sequence": "homes"}.get(data, data)
    variables = {} if data in ("pinwheel", "benchmark", "shapes") else {"SEMICROWD_DATA": str(public_data(public))}
    short = {"bayes": SHORT, "scdc": SHORT, "dih_s": SAMPLED, "ddpm_l": SAMPLED}.get(given.choices["model"], FITTED)
    if given.choices["model"] == "slpd":
        short = ("model.n_iter=1", "model.n_restarts=1")
    if given.choices["model"] == "deep_dpm":
        short = ("model.n_epochs=1", "model.n_steps=1")
    if data == "mnist" and given.choices["annotations"] == "crowd":
        public_data("mnist_crowd")
    if path.stem.startswith("cifar10_scdc"):  # a batch of all images would take more memory than there is
        short = (*short, "batch_size=100", "data.subset=300")
    if given.values.get("annotations.confused"):
        public_data("cifar10h")
        short = (*short, "annotations.num_annotated=100", "annotations.num_tasks=10")
    done = train(f"experiment={path.stem}", *short, "hydra.run.dir=run", **variables)
    assert done.returncode == 0, done.stderr
    assert 0 <= json.loads((tmp_path / "run" / "metrics.json").read_text())["train/acc"] <= 1
