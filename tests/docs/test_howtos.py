"""The Python examples of the how-tos run as they are shown, on a small table."""

import re
import shutil
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from reproduction.app import main

PAGES = sorted((Path(__file__).parents[2] / "docs" / "howto").glob("*.md"))
EXAMPLES = {
    page.stem: found for page in PAGES  # recipes for other tools: test_recipes.py
    if (found := re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8").split("## Recipes")[0], re.M | re.S))
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples read: a table, answers, and two finished runs."""
    folder = tmp_path_factory.mktemp("howto")
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], 20)
    names = [f"W{number:02}" for number in range(60)]
    pd.DataFrame(rng.normal(kind[:, None] * 4, 1, (60, 3)), columns=list("abc")).assign(id=names).to_csv(
        folder / "features.csv", index=False
    )
    i, j = np.array([rng.choice(60, 2, replace=False) for _ in range(150)]).T
    same, people = kind[i] == kind[j], [f"person {number % 3}" for number in range(150)]
    asked = {"i": np.array(names)[i], "j": np.array(names)[j]}
    answers = pd.DataFrame({**asked, "worker": people, "label": same.astype(int)})
    answers.to_csv(folder / "answers.csv", index=False)
    answers[["i", "j", "label"]].head().to_csv(folder / "known.csv", index=False)
    first = folder / "runs" / "first"
    files = [str(folder / name) for name in ("features.csv", "answers.csv")]
    with patch.object(sys, "argv", ["train.py"]):
        assert main([*files, "logger=none", "figures=false", f"hydra.run.dir={first}"]) == 0
    shutil.copytree(first, folder / "runs" / "FOLDER")
    return folder


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X. column id is taken for the items' ids:UserWarning")
@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_run(page: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    table = pd.read_csv("features.csv")
    features = table.drop(columns="id")
    answers = pd.read_csv("answers.csv").replace(dict(zip(table["id"], table.index, strict=True)))
    given = {"features": features, "new_features": table.head(5), "X": table, "answers": answers,
            "all_answers": "answers.csv", "table": table}  # fmt: skip
    for example in EXAMPLES[page]:
        exec(compile(example, page, "exec"), dict(given))
