"""printed.yaml of each paper: its numbers as counted in the papers, names that exist, and a place for every run."""

import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from reproduction.app import CONF, arguments
from reproduction.report.engine import read_papers
from reproduction.report.runs import read_runs
from reproduction.report.tables import COLUMNS, conclusions, fill

from .conftest import Make

PAPERS = read_papers()
EXHIBITS = [
    pytest.param(paper, one, id=f"{paper}-{one['key']}") for paper in PAPERS for one in PAPERS[paper]["exhibits"]
]
#: Printed numbers of each table and figure, counted in the papers: tables, and figures with captions of their panels.
COUNTS = {
    "scdc": {"figure-2": 8, "table-1": 12, "figure-4b": 4, "figure-5": 2},
    "deep_dpm": {"table-2": 36, "table-3": 24},
    "discriminative_bnp": {"figure-2": 2, "table-1": 66, "figure-3": 2, "table-2": 36},
    "slpd": {"table-1": 18, "table-2": 24, "table-3": 12, "figure-2": 3},
}


def test_every_printed_number_is_there_once() -> None:
    for paper, content in PAPERS.items():
        counts = {one["key"]: sum(len(row.get("paper", {})) for row in one.get("rows", ()))
                  for one in content["exhibits"]}  # fmt: skip
        assert {key: count for key, count in counts.items() if count} == COUNTS[paper]


def parameters(folder: str) -> dict[str, set[str]]:
    """The keys of each choice of a group of conf/."""
    paths = (Path(CONF) / folder).glob("*.yaml")
    return {path.stem: set(yaml.safe_load(path.read_text()) or {}) for path in paths}


@pytest.mark.parametrize(("paper", "exhibit"), EXHIBITS)
def test_names_of_settings_models_and_figures_exist(paper: str, exhibit: dict[str, Any]) -> None:
    """A renamed setting would otherwise select no run, or pass for one that does not differ."""
    known = {group: parameters(group) for group in ("data", "annotations", "model")}
    own = {"spaces", "embedding", "digits", "training", "trials", "sizes", "curve"}  # rows of other stages

    def of(group: str, choice: Any) -> set[str]:
        choices = choice if isinstance(choice, list) else [choice] if choice else list(known[group])
        return set.union(*(known[group][one] for one in choices if one is not None))

    for row in exhibit.get("rows", ()):
        for column in (row[name] for name in COLUMNS if name in row):
            where = {**exhibit.get("where", {}), **row.get("where", {}), **column, **row.get("each", {})}
            if where.get("data") in own:
                continue
            for name, wanted in where.items():
                group, _, key = name.replace("params.", "model.").partition(".")
                may_lack = wanted is None or (isinstance(wanted, list) and None in wanted)
                assert not key or key in of(group, None if may_lack else where.get(group)), name
        for name in {**exhibit.get("settings", {}), **row.get("settings", {})}:
            group, _, key = name.rpartition(".")
            assert name == "answers.simulated" or key in of(group or "model", None), name
    module = import_module(f"reproduction.report.{paper}.figures")
    assert all(callable(getattr(module, name)) for name in exhibit.get("figures", ()))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_conclusion_names_rows_and_quantities(paper: str) -> None:
    none = read_runs(Path("/nowhere"), Path("/nowhere"))
    tables = {one["key"]: fill({**one, "differences": ()}, none) for one in PAPERS[paper]["exhibits"]}
    for one in conclusions(PAPERS[paper], tables):
        assert one["cells"] == {}
        assert any(one["quantity"] in row.cells for row in tables[one["exhibit"]])


def shown(runs: pd.DataFrame, results: Path) -> Iterator[pd.DataFrame]:
    """The runs behind every cell of the report, those of differences left out."""
    for paper, content in PAPERS.items():
        own = import_module(f"reproduction.report.{paper}.figures").prepare(runs, results)
        for one in content["exhibits"]:
            for row in fill({**one, "differences": ()}, own):
                for columns in row.cells.values():
                    yield from (summary.runs for summaries in columns.values() for summary in summaries)


def test_every_recorded_run_is_in_some_cell(recorded: pd.DataFrame, tmp_path: Path) -> None:
    finished = recorded[recorded["status"] == "finished"]
    there = {(run["experiment"], run["seed"], str(run["arguments"])) for runs in shown(recorded, tmp_path)
             for run in runs.to_dict("records")}  # fmt: skip
    mine = {(run["experiment"], run["seed"], str(run["arguments"])) for run in finished.to_dict("records")}
    assert mine <= there


def jobs(line: str) -> Iterator[list[str]]:
    """Jobs of an exhibit that have every value of what is swept, but one seed."""
    parsed = OverridesParser.create().parse_overrides(arguments(shlex.split(line)))
    swept = [[f"{one.get_key_element()}={value}" for value in one.sweep_string_iterator()] if one.is_sweep_override()
             else [str(one.input_line)] for one in parsed]  # fmt: skip
    for number in range(max(len(values) for values in swept if not values[0].startswith("seed="))):
        yield [values[number % len(values) if not values[0].startswith("seed=") else 0] for values in swept]


def test_every_exhibit_of_the_pipeline_has_a_place(make: Make, results: Path) -> None:
    profile = yaml.safe_load((Path(CONF) / "profile/laptop.yaml").read_text())
    groups = ("generated", "mnist", "face", "cifar10", "counts", "sequence", "codes", "crowd")
    metrics = {name: 0.5 for one in PAPERS.values() for exhibit in one["exhibits"] for row in exhibit.get("rows", ())
               for names in {**exhibit["metrics"], **row.get("metrics", {})}.values()
               for name in ([names] if isinstance(names, str) else names)
               if not name.startswith("samples/")}  # fmt: skip
    made: dict[str, list[str]] = {}
    with initialize_config_dir(CONF, version_base=None):
        for group in groups:
            for exhibit, line in profile[group].items():
                for number, job in enumerate(jobs(line)):
                    config = compose("config", job, return_hydra_config=True)
                    choices = config.hydra.runtime.choices
                    content = {name: OmegaConf.to_container(config[name]) for name in ("data", "annotations", "model")}
                    make(f"{exhibit}/{number}", choices["data"], choices["model"], choices["annotations"],
                         config={**content, "protocol": config.protocol}, metrics=metrics)  # fmt: skip
                    made[(results / exhibit / str(number)).as_posix()] = job
    there = {folder for runs in shown(read_runs(results, Path("/nowhere")), results) for folder in runs["folder"]}
    absent = [job for folder, job in made.items() if folder not in there]
    assert [job for job in absent if not {"data=mnist", "annotations=none", "model=cotrain"} <= set(job)] == []
