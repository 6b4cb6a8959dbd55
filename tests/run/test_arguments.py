"""The command line before Hydra sees it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semicrowd.errors import UserError
from semicrowd.run.commandline.arguments import completed, expand_seeds, folder_name, parse

#: Overrides as a user might type them.
OVERRIDES = st.lists(
    st.builds("{}={}".format, st.from_regex(r"\+?[a-z_]{1,9}(\.[a-zK_]{1,9})?", fullmatch=True), st.text(max_size=60)),
    max_size=5,
)


def test_seed_ranges_become_lists() -> None:
    assert parse(["-m", "model=scdc,bayes", "seed=0-9"]).overrides[1] == "seed=0,1,2,3,4,5,6,7,8,9"
    assert expand_seeds("seed=0-2,7", True) == "seed=0,1,2,7"
    assert expand_seeds("seed=5,3-4,4", True) == "seed=5,3,4"
    for other in ("seed=3", "seed=1,2", "seed=-1", "model.K=0-9", "name=seed=0-2", "seed=range(0,3)"):
        assert parse(["-m", other]).overrides[0] == other


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20)), min_size=1, max_size=4))
def test_a_range_of_seeds_is_all_of_them_once_in_their_order(ranges: list[tuple[int, int]]) -> None:
    typed = "seed=" + ",".join(f"{first}-{first + more}" for first, more in ranges)
    expected = [seed for first, more in ranges for seed in range(first, first + more + 1)]
    expanded = expand_seeds(typed, True)
    assert [int(seed) for seed in expanded.removeprefix("seed=").split(",")] == list(dict.fromkeys(expected))


def test_folders_tell_their_arguments_and_leave_out_how_to_run() -> None:
    assert folder_name(["data=mnist", "seed=0", "resume=true", "hydra/launcher=joblib"]) == "data-mnist_seed-0"
    assert folder_name(["resume=true"]) == folder_name([]) == "default"
    assert folder_name(["+note=a", "seed=0"]) == "note-a_seed-0"
    assert folder_name(["model=scdc,bayes", "seed=0-9"]) == "model-scdc+bayes_seed-0-9"


def test_folders_have_the_names_of_the_files_without_their_folders_and_what_they_imply() -> None:
    files = ["data.path=a.csv", "annotations=file", "annotations.path=b.csv", "seed=0"]
    assert folder_name(files) == folder_name(["data=table", *files]) == "a.csv_b.csv_seed-0"
    assert folder_name(["data=table", "seed=0"]) == "data-table_seed-0", "nothing implies the table"
    elsewhere = [folder_name([f"data.path={folder}/a.csv"]) for folder in ("/x", "/y", "x")]
    assert len(set(elsewhere)) == 3
    assert {name.rpartition("-")[0] for name in elsewhere} == {"a"}
    assert all(folder_name([f"data.path={here}"]).strip("./") for here in (".", "..", "/", "../.."))


@given(OVERRIDES)
def test_a_folders_name_is_one_short_name_of_plain_characters(overrides: list[str]) -> None:
    name = folder_name(overrides)
    assert 0 < len(name) <= 120
    assert not set(name) & set("/\\ '\"\n\0,=")
    assert name == folder_name([*overrides, "resume=true"])


def test_output_goes_where_the_user_says_or_is_named_after_the_arguments() -> None:
    assert parse(["seed=1"]).overrides == ("seed=1", "hydra.run.dir='runs/seed-1'")
    assert parse(["hydra.run.dir=x"]).overrides == ("hydra.run.dir=x",)
    assert parse(["-m", "seed=0-1"]).overrides == ("seed=0,1", "hydra.sweep.dir='multirun/seed-0-1'")
    assert parse(["-m", "seed=0", "hydra.run.dir=x"]).overrides[1] == "hydra.sweep.dir=x"


def test_flags_stand_anywhere() -> None:
    assert parse(["seed=0-1", "-m"]) == parse(["-m", "seed=0-1"]) == parse(["seed=0-1", "hydra.mode=MULTIRUN"])
    assert parse(["seed=3", "--cfg", "job"]).showing == parse(["--cfg", "job", "seed=3"]).showing == ("--cfg", "job")
    assert parse(["--info", "seed=3"]).showing == ("--info",)
    assert parse(["model=mcvc", "--help"]).help
    assert [one for one in parse(["++hydra.run.dir=mine"]).overrides if "run.dir" in one] == ["++hydra.run.dir=mine"]


@pytest.mark.parametrize(("typed", "named"), [(["--seed", "3"], "--seed"), (["seed=0-9"], "seed=0-9"),
                                              (["-m", "seed=9-0"], "seed=9-0")])
def test_what_is_refused_is_named(typed: list[str], named: str) -> None:
    with pytest.raises(UserError, match=named):
        parse(typed)


def test_paths_may_stand_alone_and_imply_choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("items.csv", "a.csv", "my answers (1).csv", "job"):
        (tmp_path / name).touch()
    (tmp_path / "photos").mkdir()
    assert completed(["items.csv", "seed=1", "a.csv", "-m"]) == (
        ["seed=1", "-m"], ["data.path=items.csv", "annotations.path=a.csv", "data=table", "annotations=file"],
    )  # fmt: skip
    assert completed(["photos", "a.csv", "my answers (1).csv"])[1] == [
        "data.path=photos", 'annotations.path=[a.csv,"my answers (1).csv"]', "data=images", "annotations=file",
    ]  # fmt: skip
    assert completed(["data.path=a.csv", "data=npz"])[1] == completed(["experiment=mine", "data.path=a.csv"])[1] == []
    assert completed(["--cfg", "job", "nothing"]) == (["--cfg", "job", "nothing"], [])
    for wrong in (["itms.csv"], ["items.csv", "a.csv", "annotations.path=a.csv"]):
        with pytest.raises(UserError, match=wrong[0] if len(wrong) == 1 else "a.csv"):
            completed(wrong)
