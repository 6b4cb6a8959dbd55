"""The Python examples of the how-tos run as they are shown, on a small table."""

import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from reproduction.app import main
from semicrowd import read_answers

ROOT = Path(__file__).parents[2]
RECIPES_PAGE = ROOT / "docs" / "howto" / "recipes.md"
EXAMPLES = {
    page.stem: found for page in sorted(RECIPES_PAGE.parent.glob("*.md")) if page != RECIPES_PAGE
    if (found := re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S))
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
    i, j = np.array(names)[[i, j]]
    answers = pd.DataFrame({"i": i, "j": j, "worker": people, "label": same.astype(int)})
    answers.to_csv(folder / "answers.csv", index=False)
    answers[["i", "j", "label"]].head().to_csv(folder / "known.csv", index=False)
    options = ["logger=none", "figures=false", f"hydra.run.dir={folder}/runs/first"]
    with patch.object(sys, "argv", ["train.py"]):
        assert main([f"{folder}/features.csv", f"{folder}/answers.csv", *options]) == 0
    shutil.copytree(folder / "runs" / "first", folder / "runs" / "FOLDER")
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


RECIPES = dict(re.findall(r"^## ([^\n]+)\n.*?^```python\n(.*?)^```", RECIPES_PAGE.read_text("utf-8"), re.M | re.S))

LABEL_STUDIO = """\
annotation_id,annotator,choice,created_at,id,image1,image2,lead_time,updated_at
1,ann@lab.org,same,2026-11-01T10:00:00Z,1,/data/upload/1/3f2a9c1b-W048.jpg,/data/local-files/?d=photos/W159.jpg,3.1,x
2,bo@lab.org,,2026-11-01T10:00:09Z,2,/data/upload/1/00ffee12-W048.jpg,/data/upload/1/3f2a9c1c-W087.jpg,2.0,x
3,bo@lab.org,different,2026-11-01T10:00:19Z,3,/data/local-files/?d=photos/a/W%2087.jpg,/data/upload/1/3f2a9c1d-W.jpg,4,x
4,bo@lab.org,can't tell,2026-11-01T10:00:29Z,3,/data/upload/1/3f2a9c1b-W048.jpg,/data/upload/1/3f2a9c1d-W.jpg,4,x
"""
PRODIGY = """\
{"left":"007","right":"101","_input_hash":-1,"_task_hash":7,"answer":"accept","_annotator_id":"db-ann","_timestamp":1}
{"left":"007","right":"087","_input_hash":-2,"_task_hash":8,"answer":"ignore","_annotator_id":"db-ann","_timestamp":2}
{"left":"087","right":"101","_input_hash":-3,"_task_hash":9,"answer":"reject","_annotator_id":"db-bo","_timestamp":3}
"""
MTURK = """\
"HITId","AssignmentId","WorkerId","AssignmentStatus","WorkTimeInSeconds","Input.left","Input.right","Answer.same"
"3A","A1","A2XYZ","Approved","12","101","102","same"
"3A","A2","A9BAD","Rejected","1","101","102","different"
"3B","A3","A7QRS","Submitted","9","102","103","different"
"""
TOLOKA = (
    "INPUT:left\tINPUT:right\tOUTPUT:result\tGOLDEN:result\tHINT:text\tASSIGNMENT:link\tASSIGNMENT:task_id\t"
    "ASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:started\n"
    "a.jpg\tb.jpg\tyes\t\t\t\tt1\ta1\tw1\tAPPROVED\t2026-11-01T10:00:00\n"
    "a.jpg\tc.jpg\tno\tno\t\t\tt2\ta1\tw1\tAPPROVED\t2026-11-01T10:00:00\n"
    "\t\t\t\t\t\t\t\t\t\t\n"
    "a.jpg\tc.jpg\tyes\t\t\t\tt3\ta2\tw2\tREJECTED\t2026-11-01T10:00:00\n"
    "b.jpg\tc.jpg\tno\t\t\t\tt4\ta3\tw3\tACCEPTED\t2026-11-01T10:00:00\n"
)
WIDE = "item,Ann,Bo\nx,1,red\ny,1,\nz,2,red\n"
#: Recipe → the files of the tool, and the answers: i, j, worker, label.
CASES = {
    "Label Studio": ({"label_studio.csv": LABEL_STUDIO}, [["W048.jpg", "W159.jpg", "ann@lab.org", 1],
                                                          ["a/W 87.jpg", "W.jpg", "bo@lab.org", 0]]),
    "Prodigy": ({"prodigy.jsonl": PRODIGY}, [["007", "101", "db-ann", 1], ["087", "101", "db-bo", 0]]),
    "MTurk": ({"batch_results.csv": MTURK}, [["101", "102", "A2XYZ", 1], ["102", "103", "A7QRS", 0]]),
    "Toloka": ({"assignments.tsv": TOLOKA}, [["a.jpg", "b.jpg", "w1", 1], ["b.jpg", "c.jpg", "w3", 0]]),
    "A table with a column for each person": (
        {"wide.csv": WIDE}, [["x", "y", "Ann", 1], ["x", "z", "Ann", 0], ["y", "z", "Ann", 0], ["x", "z", "Bo", 1]]),
    "Lists of must-links and cannot-links": (
        {"must_link.csv": "i,j\n1,2\n", "cannot_link.csv": "i,j\n2,3\n"},
        [["1", "2", "list", 1], ["2", "3", "list", 0]]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:answers.csv:UserWarning")
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_gives_the_documented_form(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files, expected = CASES[name]
    for path, text in files.items():
        Path(path).write_text(text, encoding="utf-8")
    exec(compile(RECIPES[name], name, "exec"), {})
    found = read_answers("answers.csv")
    assert found[["i", "j", "worker", "label"]].to_numpy().tolist() == expected


def test_the_worked_diff_applies_and_runs(tmp_path: Path) -> None:
    (diff,) = re.findall(r"^```diff\n(.*?)^```", (ROOT / "docs" / "ARCHITECTURE.md").read_text("utf-8"), re.M | re.S)
    run = partial(subprocess.run, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path / "src")}, check=True)
    run(["cp", "-r", "src", "conf", "docs", "tests", "README.md", "Makefile", "pyproject.toml", tmp_path], cwd=ROOT)
    if run(["git", "apply", "--reverse", "--check"], input=diff, text=True, check=False).returncode:
        run(["git", "apply"], input=diff, text=True)  # unless a reader has done so
    options = ["model=bisecting", "annotations=none", "logger=none", "figures=false", "hydra.run.dir=run"]
    run([sys.executable, "src/train.py", *options], stdout=subprocess.DEVNULL)
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["clusters/occupied"] == 5
    tests = ["tests/methods/test_bisecting.py", "tests/docs/test_mentions.py", "tests/estimators/test_every_method.py"]
    run([sys.executable, "-m", "pytest", "-q", *tests, "-k", "bisecting or public_name"])
