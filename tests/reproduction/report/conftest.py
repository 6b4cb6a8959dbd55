"""Run folders as src/train.py leaves them, without having run anything."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from reproduction.report import engine, runs, tables

Make = Callable[..., Path]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


@pytest.fixture
def make(results: Path) -> Make:
    """Writes a run folder: config.yaml, provenance.json, and metrics.json unless it has not finished."""

    def write(
        place: str, data: str, model: str, annotations: str = "none", seed: int = 0, *, config: Mapping[str, Any] = {},
        metrics: Mapping[str, float] | None = {"final/nmi": 0.5}, answers: Mapping[str, Any] | None = None,
    ) -> Path:  # fmt: skip
        folder = results / place
        folder.mkdir(parents=True)
        content: dict[str, Any] = {"seed": seed, "protocol": "default", "data": {}, "model": {}, "annotations": {}}
        for name, value in config.items():
            group, _, key = name.partition(".")
            if key:
                content.setdefault(group, {})[key] = value
            else:
                content[name] = value
        content["choices"] = {"data": data, "model": model, "annotations": annotations}
        (folder / "config.yaml").write_text(yaml.safe_dump(content))
        given = [f"data={data}", f"model={model}", f"annotations={annotations}", f"seed={seed}", "figures=false"]
        origin = {"git_commit": "c0ffee0000cafe", "overrides": given, "annotations": answers}
        (folder / "provenance.json").write_text(json.dumps(origin))
        if metrics is not None:
            (folder / "metrics.json").write_text(json.dumps(metrics))
        return folder

    return write


@pytest.fixture(scope="session")
def recorded() -> pd.DataFrame:
    """The recorded runs of the repository."""
    return runs.read_runs(Path("/nowhere"))


def exhibit(key: str, paper: str = "scdc") -> dict[str, Any]:
    """A table or figure of printed.yaml."""
    found: dict[str, Any] = next(one for one in engine.read_papers()[paper]["exhibits"] if one["key"] == key)
    return found


def row(rows: list[tables.Row], key: str, *at: Any) -> tables.Row:
    """The row of a key, at some values of what it varies."""
    return next(one for one in rows if one.key == key and one.at == at)
