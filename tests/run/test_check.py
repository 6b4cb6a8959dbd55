"""``src/check.py``: what it says of data and answers, before a fit."""

import contextlib
import io
import re
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.odd_answers import odd_answers, people
from semicrowd.crowd.simulate import two_coin
from semicrowd.data import Dataset
from semicrowd.data.columns import Columns
from semicrowd.data.odd_items import odd_items
from semicrowd.errors import UserError
from semicrowd.random import stream
from semicrowd.run.check import forecast, main, tell
from semicrowd.run.commandline.arguments import completed
from semicrowd.run.settings import Resolved
from semicrowd.settings.rule import Facts

from .conftest import Command

KINDS = np.repeat([0, 1, 2], 20)


def check(*arguments: str) -> "CompletedProcess[str]":
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return CompletedProcess([], code, out.getvalue(), err.getvalue())


def answers_of(sensitivity: list[float], specificity: list[float], pairs: int = 120) -> PairAnnotations:
    return two_coin(KINDS, stream(0, "annotations"), num_annotators=len(sensitivity), pairs_per_annotator=pairs,
                    num_annotated=20, sensitivity=sensitivity, specificity=specificity)  # fmt: skip


def test_nothing_is_odd_about_a_healthy_crowd() -> None:
    assert odd_answers(answers_of([0.9] * 6, [0.9] * 6)) == []


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "said"),
    [(1.0, 0.0, "answered 'same' 120 times and nothing else"), (0.98, 0.01, "of 120 times: this gives hardly any"),
     (0.5, 0.5, "little more than by chance"), (0.0, 0.0, "less than by chance")],
)  # fmt: skip
def test_who_answers_one_way_at_random_or_the_other_way_round_is_named(
    sensitivity: float, specificity: float, said: str
) -> None:
    lines = odd_answers(answers_of([0.95] * 6 + [sensitivity], [0.95] * 6 + [specificity]))
    assert [line for line in lines if said in line and line.startswith("6 ")], lines
    assert all(line.startswith("6 ") for line in lines if "agrees" in line or "nothing else" in line)


def test_a_column_that_answers_as_people_do_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "width": rng.normal(size=60), "code": np.array(["E7", "E9", "E12"])[KINDS], "size": rng.integers(5, size=60),
        "shift": np.array(["day", "night"])[rng.integers(2, size=60)],
    })  # fmt: skip
    frame.to_csv(tmp_path / "items.csv", index=False)
    i, j = rng.integers(60, size=200), rng.integers(60, size=200)
    label = (KINDS[i] == KINDS[j]) ^ (rng.random(200) < 0.05)
    pairs = pd.DataFrame({"i": i, "j": j, "worker": "w", "label": label})
    pairs[i != j].to_csv(tmp_path / "answers.csv", index=False)
    out = check(f"data.path={tmp_path}/items.csv", f"annotations.path={tmp_path}/answers.csv").stdout
    (line,) = [line for line in out.splitlines() if "have the same value" in line]
    assert line.startswith("check: column code: items have the same value in 9")
    assert line.endswith("'data.label=code' uses it for the scores alone")
    out = check(f"data.path={tmp_path}/items.csv", f"annotations.path={tmp_path}/answers.csv", "data.label=code").stdout
    assert "have the same value" not in out


def test_nobody_is_blamed_for_those_who_were_asked_the_same() -> None:
    """5 and 6 guess; 4 is right as often as 0 to 3, and was asked beside these two more often than they were."""
    rng = stream(0, "annotations")
    rows = []
    for pair in range(1000):
        asked = rng.choice(7, 2, replace=False) if pair % 3 else [4, 5 + pair // 2 % 2]
        for who in asked:
            right = rng.random() < (0.95 if who < 5 else 0.5)
            rows.append((2 * pair, 2 * pair + 1, who, int(right == (pair % 2 == 0))))
    i, j, worker, label = np.array(rows).T
    lines = odd_answers(PairAnnotations.from_arrays(i, j, worker, label, num_items=2000))
    assert {line.split()[0] for line in lines if "agrees" in line} == {"5", "6"}


def test_answers_of_one_who_mixed_the_words_up_are_no_disagreement_of_all() -> None:
    lines = odd_answers(answers_of([0.97, 0.97, 0.02], [0.97, 0.97, 0.02], 190))
    assert [line.split()[0] for line in lines if "mixed up" in line] == ["2"]
    assert "have both answers" not in " ".join(lines)


def test_people_who_see_different_things_are_said_to() -> None:
    """Half of the crowd answers the opposite of the other half: nobody can say which half is wrong."""
    answers = answers_of([0.95] * 3 + [0.05] * 3, [0.95] * 3 + [0.05] * 3)
    assert "people disagree" in " ".join(odd_answers(answers))


def test_the_table_of_people_counts() -> None:
    answers = PairAnnotations.from_arrays(
        [0, 0, 0, 1, 2], [1, 1, 2, 2, 1], [0, 1, 0, 1, 0], [1, 1, 0, 0, 1], num_items=3, worker_names=["ann", "bob"]
    )
    table = people(answers).set_index("worker")
    assert table[["answers", "same", "different", "compared"]].to_numpy().tolist() == [[3, 2, 1, 2], [2, 1, 1, 2]]
    assert table["agree"].tolist() == [0.5, 0.5]


def test_answers_that_cannot_all_be_right_are_counted() -> None:
    triangle = PairAnnotations.from_arrays([0, 1, 0], [1, 2, 2], [0] * 3, [1, 1, 0], num_items=3)
    (line,) = [line for line in odd_answers(triangle) if "contradict" in line]
    assert line.startswith(
        "1 answer 'different' contradicts answers 'same' of the same person (0): 0 said that row 0 and row 1 are the "
        "same and that row 1 and row 2 are the same, but that row 0 and row 2 are different; "
        "some of these must be wrong"
    )
    others = PairAnnotations.from_arrays([0, 1, 0], [1, 2, 2], [0, 1, 2], [1, 1, 0], num_items=3)
    assert "contradict" not in " ".join(odd_answers(others))


def test_an_example_of_contradictory_answers_is_the_shortest_and_has_the_items_names() -> None:
    names = [f"vase {letter}" for letter in "ABCDEFGHIJ"]
    i, j = [0, 1, 2, 3, 0, 6, 7, 6], [1, 2, 3, 4, 4, 7, 8, 8]
    both = PairAnnotations.from_arrays(i, j, [0] * 5 + [1] * 3, [1, 1, 1, 1, 0, 1, 1, 0], num_items=10,
                                       worker_names=["Ann", "Zoe"])  # fmt: skip
    alone = replace(both.some(np.arange(5)), worker_names=("Ann",))
    assert (
        "Ann said that vase A and vase B are the same, that vase B and vase C are the same, that … and that vase D and "
        "vase E are the same, but that vase A and vase E are different; "
    ) in " ".join(odd_answers(alone, names))
    merged = replace(both, worker=np.zeros(8, np.int64), worker_names=("Zoe",))
    assert (
        "2 answers 'different' contradict answers 'same' of the same person (Zoe): for example, Zoe said that vase G "
        "and vase H are the same and that vase H and vase I are the same, but that vase G and vase I are different; "
    ) in " ".join(odd_answers(merged, names))
    twice = PairAnnotations.from_arrays([0, 0], [1, 1], [0, 0], [1, 0], num_items=2)
    said = "0 said once that a and b are the same, and once that they are different"
    assert said in " ".join(odd_answers(twice, ["a", "b"]))


def test_groups_without_an_answer_between_them_are_counted() -> None:
    """All pairs of nine items and of six items; and a single pair, which is no group."""
    nine, six = np.triu_indices(9, 1), np.triu_indices(6, 1)
    i, j = (np.concatenate([nine[end], six[end] + 20, [50 + end]]) for end in (0, 1))
    apart = PairAnnotations.from_arrays(i, j, i * 0, i * 0 + 1, num_items=60)
    said = " ".join(odd_answers(apart))
    assert "2 groups of items, each with many answers within and none about items of two groups" in said
    assert "the largest has 9 of the 17 items with answers" in said
    joined = PairAnnotations.from_arrays([*i, 0], [*j, 22], [0] * 53, [1] * 53, num_items=60)
    assert "groups of items" not in " ".join(odd_answers(joined))


@pytest.mark.parametrize("items", [50, 150, 400, 1000])
def test_random_pairs_are_no_groups(items: int) -> None:
    """The pairs that the documentation advises to begin with."""
    draws = np.random.default_rng(0)
    for _ in range(20):
        i, j = np.array([draws.choice(items, 2, replace=False) for _ in range(200)]).T.repeat(3, axis=1)
        answers = PairAnnotations.from_arrays(i, j, [0, 1, 2] * 200, [1] * 600, num_items=items)
        assert "groups of items" not in " ".join(odd_answers(answers))


def test_columns_that_say_nothing_or_too_much_and_copies_are_named() -> None:
    frame = pd.DataFrame({"x": [0.5, 1.5, *range(10)], "same": 1, "nr": range(12), "species": [1, 2] * 6})
    frame.loc[11] = frame.loc[10]
    columns = Columns.of(frame, "mine.csv")[0]
    data = Dataset("table", frame.to_numpy(np.float32), columns=columns)
    lines = " ".join(odd_items(data))
    assert "column same: the same in every row" in lines
    assert "data.label=species" in lines
    assert "1 of 12 items are copies of an earlier one (row 11)" in lines
    assert "counts the rows" not in lines


def test_categories_and_people_that_are_written_in_two_ways_are_named() -> None:
    frame = pd.DataFrame({"frame": ["Steel", "steel", "alu", "", " ", "steel"] * 4, "x": range(24)})
    data = Dataset("table", np.zeros((24, 1), np.float32), columns=Columns.of(frame, "mine.csv")[0])
    lines = [line for line in odd_items(data) if "written differently" in line]
    assert lines == ["column frame: Steel and steel are 2 categories, since they are written differently; if they mean "
                     "the same, write one word in the table"]  # fmt: skip
    answers = replace(answers_of([0.9] * 3, [0.9] * 3), worker_names=("MIA", "Bo", "Mia"))
    assert odd_answers(answers) == ["MIA and Mia count as 2 people, since the names are written differently; if they "
                                    "are one person, write one name in the answers"]  # fmt: skip


def test_files_that_have_changed_places_are_told(train: Command, tmp_path: Path) -> None:
    pairs, items = tmp_path / "pairs.csv", tmp_path / "items.csv"
    pairs.write_text("\ufeffi;j;worker;label\na;b;Mia;same\nb;c;Mia;same\n", encoding="utf-8")
    items.write_text("id,x\na,1\nb,2\nc,4\n")
    said = f"error: {pairs} looks like a file of answers: are data.path and annotations.path swapped?\n"
    done = check(f"data.path={pairs}", f"annotations.path={items}")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    done = train("data=table", f"data.path={pairs}", "annotations=file", f"annotations.path={items}")
    assert (done.returncode, done.stderr) == (2, said)
    pairs.write_text("item,label,x\na,1,2\nb,1,3\nc,0,7\n")  # items with classes
    assert "swapped" not in check(f"data.path={pairs}", f"annotations.path={items}").stderr


def test_it_says_all_of_a_table_and_its_answers(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("id,x,where\n" + "".join(f"u{k},{k * k},{'ab'[k % 2]}\n" for k in range(12)))
    rows = [f"t,ann,u{k},{k % 2}" for k in range(6)]
    (tmp_path / "answers.csv").write_text("\n".join(["task,worker,item,group", *rows]) + "\n")
    paths = f"data.path={tmp_path}/items.csv", f"annotations.path={tmp_path}/answers.csv"
    done = check(*paths)
    assert (done.returncode, done.stderr) == (0, "")
    for said in ("12 items, 3 features", "2 categories", "name the items", "by 1 person",
                 "the other 6 items are clustered by their features alone", "ann", "15 answers in total",
                 "15 about pairs in 1 task,", "a fit by model=cotrain"):  # fmt: skip
        assert said in done.stdout
    (tmp_path / "pairs.csv").write_text("i,j,worker,label\nu1,u9,ann,1\nu2,u9,ann,1\n")
    both = check(paths[0], f"annotations.path=[{tmp_path}/answers.csv,{tmp_path}/pairs.csv]")
    assert "17 about pairs, 15 of them in 1 task," in both.stdout
    (tmp_path / "answers.csv").write_text("i,j,worker,label\nu1,u99,ann,1\n")
    done = check(*paths)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "u99" in done.stderr
    assert "12 items" in done.stdout


def test_the_table_of_columns_is_there_if_all_are_numbers_too(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("mass,height\n" + "".join(f"{k / 4},{k * k}\n" for k in range(12)))
    done = check(f"data.path={tmp_path}/items.csv")
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["column", "what", "it", "is", "what", "was", "done"] in rows
    assert ["mass", "…", "height", "2", "numbers", "unchanged"] in rows


def test_the_choices_that_paths_imply() -> None:
    assert completed(["data.path=/", "annotations.path=b.csv"])[1] == ["data=images", "annotations=file"]
    assert completed(["data.path=a.csv", "data=npz"])[1] == completed(["experiment=mine", "data.path=a.csv"])[1] == []
    assert completed(["annotations.num_tasks=3"])[1] == []


def test_paths_may_stand_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("items.csv", "a.csv", "my answers (1).csv", "job"):
        (tmp_path / name).touch()
    (tmp_path / "photos").mkdir()
    given, more = completed(["items.csv", "seed=1", "a.csv", "-m"])
    assert given == ["seed=1", "-m"]
    assert more == ["data.path=items.csv", "annotations.path=a.csv", "data=table", "annotations=file"]
    assert completed(["photos", "a.csv", "my answers (1).csv"])[1] == [
        "data.path=photos", 'annotations.path=[a.csv,"my answers (1).csv"]', "data=images", "annotations=file",
    ]  # fmt: skip
    assert completed(["data.path=items.csv", "a.csv"])[1][0] == "annotations.path=a.csv"
    assert completed(["--cfg", "job", "nothing"]) == (["--cfg", "job", "nothing"], [])
    with pytest.raises(UserError, match=r"itms.csv: cannot be read: No such file .*; the nearest is items.csv"):
        completed(["itms.csv", "a.csv"])
    with pytest.raises(UserError, match=r"a.csv: one path too many"):
        completed(["items.csv", "a.csv", "annotations.path=a.csv"])


def test_a_mistake_is_one_line_and_help_is_help() -> None:
    done = check("data.path=nowhere.csv")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "nowhere.csv" in done.stderr
    assert "usage" in check("--help").stdout


def test_a_run_and_explain_say_it_too(train: Command, tmp_path: Path) -> None:
    rows = "".join(f"u{k},{k * k},{'ab'[k % 2]},{'' if k == 3 else k}\n" for k in range(12))
    (tmp_path / "items.csv").write_text("id,x,species,y\n" + rows)
    done = train("data=table", "data.path=items.csv", "model=kmeans", "model.K=2", "--explain")
    assert done.returncode == 0, done.stderr
    assert "1 empty cells replaced by the median, 6," in done.stderr
    assert "check: column species is a feature" in done.stderr


def test_a_forecast_grows_with_items_answers_and_columns() -> None:
    small, large = (forecast("cotrain", Facts(n, 64, num_answers=1000, num_annotated=n // 2)) for n in (500, 50_000))
    assert small is not None
    assert large is not None
    assert small.most < large.most
    assert small.gib < large.gib
    assert forecast("kmeans", Facts(10, 2)) is None
    assert "minutes" in str(large)
    pairs, groups = (
        forecast("cotrain", Facts(500, 64, num_answers=1000, num_annotated=250, num_tasks=number)) for number in (0, 20)
    )
    assert pairs
    assert groups
    assert groups.most > pairs.most, "answers of groupings are counted in two ways"


@pytest.mark.parametrize("items", [50, 200_000])
def test_a_large_fit_is_announced_with_its_time(items: int, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(0).normal(size=(items, 2)).astype(np.float32)
    data = Dataset("own", x, None, x, None)
    tell(Resolved({"data": "own", "model": "cotrain", "annotations": "none"}, {}, {}, {}), data, None)
    said = capsys.readouterr()
    assert said.out == ""
    if items < 100:
        assert said.err == ""
    else:
        time = r"\d+ s to \d+ minutes of one core, \d\.\d GiB of memory"
        assert re.fullmatch(rf"note: a fit of this size takes {time}\n", said.err)


@pytest.mark.parametrize("name", ["epochs", "protocol", "start.epochs", "nets.kind"])
def test_settings_that_decide_the_time_leave_no_forecast(name: str) -> None:
    facts = Facts(60_000, 784, image_shape=(28, 28), unit_interval=True)
    assert forecast("bayes", facts, ["seed", "model.K"]) is not None
    assert forecast("bayes", facts, [name]) is None


def test_known_links_are_not_suspected() -> None:
    i = np.arange(25)
    known = PairAnnotations.from_arrays(i, i + 1, np.zeros(25, int), np.ones(25, int), num_items=30)
    assert any("nothing else" in line for line in odd_answers(known))
    assumed = replace(known, worker_names=("known",))
    assert not any("nothing else" in line for line in odd_answers(assumed))


@pytest.mark.usefixtures("table", "answers")
def test_a_run_takes_the_choices_that_its_paths_imply(train: Command) -> None:
    done = train("data.path=items.csv", "annotations.path=answers.csv", "model=kmeans", "model.K=2")
    assert done.returncode == 0, done.stderr
    assert "note: data=table and annotations=file, as the paths imply" in done.stderr


@pytest.mark.usefixtures("table", "named_answers")
def test_nobodys_name_is_kept_of_a_run_that_is_anonymous(train: Command, tmp_path: Path) -> None:
    own = ("data=table", "data.path=items.csv", "annotations=file", "annotations.path=answers.csv")
    done = train(*own, "annotations.anonymise=true", "model=crowd_only", "model.K=2", "hydra.run.dir=run")
    assert done.returncode == 0, done.stderr
    workers = pd.read_csv(tmp_path / "run" / "workers.csv")["annotator"]
    assert all(name.startswith("person-") for name in workers)
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert [path for path in kept if b"Annegret" in path.read_bytes() or b"Bartholomew" in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("data=table annotations.skip_unknown=true", "annotations=file, which has it"),
        ("model=dpm model.K=5", "model=dpm has no setting K and finds the number of clusters by itself"),
        ("K=5", "perhaps model.K is meant"),
        ("annotations.leave_out=[Björn,Ann]", """'annotations.leave_out=["Björn",Ann]'"""),
        ("output_dir=here", "perhaps hydra.run.dir is meant"),
        ("annotations=items.csv", "write annotations=file annotations.path=items.csv"),
        ("data=items.csv", "write data=table data.path=items.csv"),
    ],
)
@pytest.mark.usefixtures("table")
def test_a_setting_of_another_choice_says_the_way_on(train: Command, arguments: str, said: str) -> None:
    done = train(*arguments.split())
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr
