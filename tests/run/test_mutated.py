"""Every setting with values of every wrong kind: one clear line, or a meaning; nothing is read, made or started."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from semicrowd.errors import UserError
from semicrowd.run.composition import Given
from semicrowd.run.settings import check_given, resolved
from semicrowd.settings.fields import described, shown
from semicrowd.settings.groups import CHOSEN, FIXED, TOP
from semicrowd.settings.rule import Facts

from .conftest import Command, composed_once, rows_of

MUTATIONS = {
    "wrong type": "abc", "null": "null", "nan": "nan", "-1": "-1", "0": "0", "huge": "1" + "0" * 30, "empty": "",
    "string": "'a b'", "list": "[1,x]",
}  # fmt: skip
#: Data of which nothing is known that a rule would look at.
FACTS = Facts(10**7, 3, (1, 3), True, 100, 50, 10, "table", 3)


def settings_of_every_choice() -> Iterator[tuple[str, str, type]]:
    """Argument that makes the choice, group, settings."""
    yield from (("", "", kind) for kind in TOP)
    yield from (("", group, kind) for group, kind in FIXED.items())
    for group, kinds in CHOSEN.items():
        yield from ((f"{group}={name}", group, kind) for name, kind in kinds.items())


def _origin(kind: type, field: str) -> type:
    """The class that defines a field."""
    return next(base for base in kind.__mro__ if field in vars(base).get("__annotations__", {}))


#: A field that several methods inherit is one case.
CASES = {
    (_origin(kind, one.name), one.name): (choice, f"{group}.{one.spelled}" if group else one.spelled)
    for choice, group, kind in settings_of_every_choice() for one in described(kind)
}  # fmt: skip


def given(choice: str, name: str, typed: str) -> Given:
    """As a run with these arguments has it; the choice is composed once."""
    override = OverridesParser.create().parse_override(f"{name}={typed}")
    value = OmegaConf.create({"value": override.value()})["value"]
    value = OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
    optional = any(one.optional for c, g, kind in settings_of_every_choice() if c == choice for one in described(kind)
                   if name == (f"{g}.{one.spelled}" if g else one.spelled))  # fmt: skip
    values = {} if value is None and not optional else {name: value}
    whole = composed_once(*([choice] if choice else []))
    return replace(whole, values=values)


@pytest.mark.parametrize(("choice", "name"), CASES.values(), ids=lambda value: value or "-")
def test_a_mutated_setting_is_refused_in_one_line_or_means_something(choice: str, name: str) -> None:
    outcomes = Counter[str]()
    for kind, typed in MUTATIONS.items():
        mutated = given(choice, name, typed)
        message = ""
        try:
            check_given(mutated)
            found = resolved(mutated, FACTS)
        except UserError as error:
            message = str(error)
        if message:
            outcomes["refused"] += 1
            assert "\n" not in message
            assert name.rpartition(".")[2] in message, f"{kind}: {message}"
            continue
        outcomes["accepted"] += 1
        if kind == "null":
            continue  # not given, or a value of an optional setting
        # What is accepted is what the run has, and would be accepted again as it is shown.
        assert shown(found.values[name]) == shown(mutated.values[name])
        assert kind in _accepted(mutated.values[name]), f"{name}={typed} is accepted"
    assert outcomes["refused"] >= 1


def _accepted(value: Any) -> set[str]:
    """Mutations that may be a value: numbers where numbers are expected, texts where a text is."""
    if isinstance(value, str):
        return {"wrong type", "string"}
    if isinstance(value, tuple | list) and any(isinstance(one, str) for one in value):
        return {"list"}  # names of classes, which the data know when they are loaded
    return {"0", "-1", "huge"} if isinstance(value, int | float) else set()


def test_the_table_is_of_every_setting() -> None:
    assert len(CASES) * len(MUTATIONS) > 1000
    assert {"seed", "restarts", "model.hidden", "start.cells", "views.shift", "trainer.progress", "logger.uri",
            "data.pca", "annotations.num_tasks", "model.n_held"} <= {name for _, name in CASES.values()}  # fmt: skip


#: Values that take all memory or never end.
HUGE = ["data=pinwheel data.num_classes", "annotations=two_coin annotations.num_annotators",
        "model=bayes start.learning_rate", "model=scdc model.initial_variance",
        "model=dpm model.splits", "model=deep_dpm model.splits"]  # fmt: skip


@pytest.mark.parametrize("arguments", [
    *(f"{name}=1000000000" for name in HUGE), "model.hidden=40", "model.hidden=[0]", "start=nowhere", "hydra.run.dir=",
    "trainer.devices=99 trainer=ddp trainer.accelerator=cpu", "model=mcvc annotations=none", "trainer.devices=2",
])  # fmt: skip
def test_a_finished_run_outlives_a_mistake_in_its_folder(train: Command, tmp_path: Path, arguments: str) -> None:
    run = tmp_path / "run"
    run.mkdir()
    kept = {"metrics.json": "{}", "assignments.csv": "item\n", "config.yaml": "seed: 0\n",
            "status.json": '{"status": "finished"}\n'}  # fmt: skip
    for name, text in kept.items():
        (run / name).write_text(text)
    where = [] if "hydra.run.dir" in arguments else ["hydra.run.dir=run"]
    done = train(*arguments.split(), *where)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert {path.name: path.read_text() for path in run.iterdir()} == kept
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.usefixtures("table")
def test_a_mistake_of_one_job_of_a_sweep_is_its_own(train: Command, tmp_path: Path) -> None:
    kmeans = ("model=kmeans", "data=table", "data.path=items.csv", "model.n_init=1,-1,abc")
    done = train("-m", *kmeans, "hydra.run.dir=all")
    assert done.returncode == 1, done.stderr
    jobs = rows_of(tmp_path / "all" / "jobs.csv")
    assert [job["status"] for job in jobs] == ["finished", "failed", "failed"]
    assert "model.n_init=abc" in jobs[2]["error"]
    assert sorted(path.name for path in (tmp_path / "all").iterdir() if path.is_dir()) == ["model.n_init-1"]
