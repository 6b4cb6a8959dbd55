import pytest

from semicrowd.errors import UserError
from semicrowd.run.arguments import expand_seeds, folder_name, place_output


def test_seed_ranges_become_lists() -> None:
    assert expand_seeds(["-m", "model=scdc,bayes", "seed=0-9"])[2] == "seed=0,1,2,3,4,5,6,7,8,9"
    assert expand_seeds(["-m", "seed=0-2,7"]) == ["-m", "seed=0,1,2,7"]
    assert expand_seeds(["--multirun", "seed=5,3-4,4"]) == ["--multirun", "seed=5,3,4"]


@pytest.mark.parametrize(
    "argument", ["seed=3", "seed=1,2", "seed=-1", "model.K=0-9", "name=seed=0-2", "seed=range(0,3)"]
)
def test_other_arguments_are_left_alone(argument: str) -> None:
    assert expand_seeds(["-m", argument]) == ["-m", argument]


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(UserError, match=r"seed=9-0: the range 9-0 runs backwards"):
        expand_seeds(["-m", "seed=9-0"])


def test_a_range_needs_a_sweep() -> None:
    with pytest.raises(UserError, match=r"seed=0-9: several seeds need -m"):
        expand_seeds(["seed=0-9"])


def test_folders_tell_their_arguments_and_leave_out_how_to_run() -> None:
    assert folder_name(["data=mnist", "seed=0", "resume=true", "hydra/launcher=joblib"]) == "data-mnist_seed-0"
    assert folder_name(["resume=true"]) == folder_name([]) == "default"
    assert folder_name(["+note=a", "seed=0"]) == "note-a_seed-0"
    assert folder_name(["model=scdc,bayes", "seed=0-9"]) == "model-scdc+bayes_seed-0-9"


def test_folders_of_different_arguments_differ() -> None:
    paths = ["annotations.path=a/b.csv", "annotations.path=a_b.csv", "annotations.path=a b.csv"]
    long = [f"model.hidden=[{'1,' * 100}{end}]" for end in (1, 2)]
    names = [folder_name([o]) for o in paths + long]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 120 and "/" not in name and " " not in name for name in names)


def test_output_goes_where_the_user_says_or_is_named_after_the_arguments() -> None:
    assert place_output(["seed=1"], ["seed=1"]) == ["seed=1", "hydra.run.dir='runs/seed-1'"]
    assert place_output(["hydra.run.dir=x"], ["hydra.run.dir=x"]) == ["hydra.run.dir=x"]
    assert place_output(["-m", "seed=0,1"], ["seed=0-1"]) == ["-m", "seed=0,1", "hydra.sweep.dir='multirun/seed-0-1'"]
    assert place_output(["-m", "seed=0", "hydra.run.dir=x"], [])[2] == "hydra.sweep.dir=x"
