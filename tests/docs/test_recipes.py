"""Each recipe of the page on answers runs on an export in the tool's own format, and its file is read."""

import re
from pathlib import Path

import pytest

from semicrowd import read_answers

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "answers.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### ([^\n]+)\n.*?^```python\n(.*?)^```", PAGE, re.M | re.S))

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


def test_every_recipe_has_a_case_and_is_short() -> None:
    assert RECIPES.keys() == CASES.keys()
    assert all(len(code.strip().splitlines()) <= 10 for code in RECIPES.values())


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
