"""The Python examples of the how-tos run as they are shown, on a small table."""

import inspect
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import yaml

import semicrowd.methods
from reproduction.app import main
from semicrowd import read_answers

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


ANSWERS_PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "answers.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### ([^\n]+)\n.*?^```python\n(.*?)^```", ANSWERS_PAGE, re.M | re.S))

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


ARCHITECTURE = (Path(__file__).parents[2] / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
WORKED = dict(re.findall(r"^`([\w/.]+)`[^`]*(?:`[^`\n]+`[^`]*)*:\n\n```\w+\n(.*?)^```", ARCHITECTURE, re.M | re.S))


def test_the_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    method, listed, configuration, test = WORKED.values()
    ((name, place),) = re.findall(r'^\+ +"(\w+)": "([\w.]+)",$', listed, re.M)
    module = ModuleType(f"semicrowd.methods.{name}")
    exec(compile(method, "docs/ARCHITECTURE.md", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(semicrowd.methods.METHODS, name, place)
    kind = semicrowd.methods.method(name)
    content = yaml.safe_load(configuration)
    assert content.pop("_target_") == f"semicrowd.{kind.__name__}"
    assert list(content) == list(inspect.signature(kind).parameters)
    tests: dict[str, Any] = {}
    exec(compile(test, "docs/ARCHITECTURE.md", "exec"), tests)
    for function in (one for key, one in tests.items() if key.startswith("test_")):
        function()
    assert list(WORKED) == [f"src/semicrowd/methods/{name}.py", "src/semicrowd/methods/__init__.py",
                            f"conf/model/{name}.yaml", f"tests/methods/test_{name}.py"]  # fmt: skip
