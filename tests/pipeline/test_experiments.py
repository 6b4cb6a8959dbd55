"""params.yaml and profiles."""

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from semicrowd.errors import UserError
from semicrowd.pipeline.configurations import settings_of
from semicrowd.pipeline.experiments import Answers, Job, Plan, format_ranges, load_plan, select_profile
from semicrowd.report.papers import deep_dpm, discriminative_bnp
from semicrowd.report.papers.scdc import cifar, face, mnist, pinwheel
from semicrowd.report.papers.slpd import tables

PROFILES = Path(__file__).parents[2] / "conf" / "profile"
NAMES = sorted(path.stem for path in PROFILES.glob("*.yaml"))
#: A profile with one experiment of each kind.
TINY = """\
profile: tiny
jobs: 2
groups:
  both: {seeds: [0, 2], needs: [mnist], experiments: [one, other]}
  last: {seeds: [7], experiments: [alone]}
experiments:
  one: {settings: {data: mnist}, answers: {kind: crowd, num_tasks: 5, fallback: {kind: tasks, sensitivity: 0.7}}}
  other: {settings: {data: mnist, snapshots: [0, 1]}}
  alone: {settings: {data: pinwheel, annotations: none}, seeds: [3]}
  spare: {settings: {data: mnist}}
"""
#: Two experiments that share two sets of answers, at three points.
SWEEP = """\
profile: tiny
groups:
  face:
    seeds: [0, 4]
    sweep: {num_annotated: [7, 9, 30]}
    experiments: [few_one, many_one, few_other, many_other, alone]
answers:
  few: {kind: quota}
  many: {kind: quota, pairs_per_annotator: 60}
experiments:
  one: {settings: {data: pinwheel, model: mcvc}}
  other: {settings: {data: pinwheel, model: itml}}
  alone: {settings: {data: pinwheel, model: kmeans, annotations: none}, seeds: [0, 1], sweep: {}}
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "params.yaml"
    path.write_text(TINY)
    return path


def plan_of(profile: str, folder: Path) -> Plan:
    """A profile as the pipeline reads it."""
    (folder / "params.yaml").write_text(f"base: {PROFILES / profile}\n")
    return load_plan(folder / "params.yaml")


@pytest.mark.parametrize(
    ("seeds", "text"), [([0], "0"), ([0, 1, 2], "0-2"), ([7, 0, 1, 2], "0-2,7"), ([3, 5], "3,5"), ([4, 5], "4-5")]
)
def test_seeds_as_the_command_line_takes_them(seeds: list[int], text: str) -> None:
    assert format_ranges(seeds) == text


@pytest.mark.parametrize("profile", NAMES)
def test_every_profile_is_selected_and_read(profile: str, tmp_path: Path) -> None:
    plan = plan_of(profile, tmp_path)
    assert plan.profile == profile
    left_out = {*mnist.OPTIONAL, *deep_dpm.tables.OPTIONAL} if profile == "laptop" else set()
    shown = {*mnist.EXPERIMENTS, *mnist.TASKS.values(), *mnist.SNAPSHOTS.values()} - left_out
    sets = (face.ALL, face.SOME)
    of_face = {f"{answers}_{model}" for answers in sets for model in face.shown(answers)}
    # A profile may leave out the paper's protocol.
    of_face -= {f"{one}_{model}" for one in sets for model in face.OPTIONAL} - plan.experiments.keys()
    others = {
        *face.ALONE, pinwheel.WITHOUT, pinwheel.WITH, pinwheel.CLASSIFIERS, cifar.DEEP_MCVC, *cifar.EXPERIMENTS
    }  # fmt: skip
    bnp = {*discriminative_bnp.tables.EXPERIMENTS, *discriminative_bnp.tables.SEQUENCE_EXPERIMENTS,
           *discriminative_bnp.figures.CHAINS, *discriminative_bnp.figures.WIDTH_EXPERIMENTS,
           discriminative_bnp.figures.REFERENCE}  # fmt: skip
    of_crowds = {f"crowd_{data}_{method}" for data, method in product(tables.CROWD_DATA, tables.CROWD_METHODS)}
    names = {one for one in plan.experiments if not one.startswith("deep_")}
    assert names == shown | of_face | others | bnp | of_crowds
    codes = {f"deep_{data}{method}" for data in ("mnist", "trained", "standins", "har", "stl10", "reuters10k")
             for method in ("", "_dpm", "_gmeans")} - {"deep_trained_gmeans"}  # fmt: skip
    drawn = {pattern.format(kind) for pattern, kind in product(deep_dpm.figures.EXPERIMENTS, deep_dpm.figures.SETS)}
    linked = {experiment for experiment, _ in deep_dpm.tables.CROWD_ROWS.values()} - names - left_out
    assert set(plan.experiments) - names == codes | drawn | linked
    assert set(plan.spaces) <= set(plan.experiments)


def test_a_profile_is_selected_and_what_params_say_besides_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").symlink_to(PROFILES.parent)
    params = tmp_path / "params.yaml"
    text = (PROFILES.parents[1] / "params.yaml").read_text()
    params.write_text(f"{text}groups: {{pinwheel_none: {{seeds: [0, 9]}}}}\n")
    select_profile("paper")
    plan = load_plan(params)
    assert (plan.profile, plan.experiments["pinwheel_none"].seeds) == ("paper", (0, 9))
    select_profile("laptop")
    assert (load_plan(params).profile, load_plan(params).experiments["pinwheel_none"].seeds) == ("laptop", (0, 9))
    with pytest.raises(UserError, match="laptob"):
        select_profile("laptob")
    params.write_text("profile: own\n")
    with pytest.raises(UserError, match=r"params\.yaml: .*base"):
        select_profile("laptop")


def test_a_profile_says_what_differs_from_its_base(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    (tmp_path / "more.yaml").write_text(
        "base: tiny\nprofile: more\n"
        "groups: {both: {seeds: [1], experiments+: [spare]}}\n"
        "experiments: {other: {settings: {epochs: 3, snapshots: null}}, alone: {seeds: null}}\n"
    )
    plan = load_plan(tmp_path / "more.yaml")
    assert list(plan.experiments) == ["one", "other", "spare", "alone"]
    assert plan.experiment("other").overrides == ["data=mnist", "epochs=3"]
    assert plan.experiment("one") == replace(load_plan(tmp_path / "tiny.yaml").experiment("one"), seeds=(1,))
    assert plan.experiment("alone").seeds == (7,)


def test_what_is_recorded_is_the_laptop_s_experiments_and_longer_ones() -> None:
    laptop = load_plan(PROFILES.parents[1] / "params.yaml").experiments
    recorded = load_plan(PROFILES.parents[1] / "recorded" / "experiments.yaml").experiments
    assert {name: recorded[name] for name in laptop} == laptop
    of_face = (f"{one}_{model}" for one in (face.ALL, face.SOME) for model in face.OPTIONAL)
    shown = {*(row.experiment for row in mnist.RECORDED_ROWS), *(row.experiment for row in pinwheel.RECORDED_ROWS),
             *mnist.OPTIONAL, *deep_dpm.tables.OPTIONAL, *deep_dpm.tables.RECORDED_ROWS,
             *discriminative_bnp.tables.RECORDED_ROWS, *(row.experiment for row in cifar.RECORDED_ROWS),
             *discriminative_bnp.tables.DRAWS.values(), *of_face}  # fmt: skip
    assert recorded.keys() - laptop.keys() == shown


def test_an_experiment_of_a_group_has_what_the_group_says_and_one_that_nobody_names_is_off(tiny: Path) -> None:
    plan = load_plan(tiny)
    assert (plan.profile, plan.jobs, list(plan.experiments)) == ("tiny", 2, ["one", "other", "alone"])
    for name in ("one", "other"):
        one = plan.experiment(name)
        assert (one.seeds, one.needs) == ((0, 2), ("mnist",))
    assert (plan.experiment("alone").seeds, plan.experiment("alone").needs) == ((3,), ())
    assert plan.experiment("one").settings["data"] == "mnist"
    with pytest.raises(UserError, match="two"):
        plan.experiment("two")


def test_answers_have_their_options_and_those_of_their_fallback(tiny: Path) -> None:
    answers = load_plan(tiny).experiment("one").answers
    assert answers == Answers("crowd", {"num_tasks": 5}, Answers("tasks", {"sensitivity": 0.7}))
    assert answers.overrides() == ["annotations=crowd", "annotations.num_tasks=5"]
    assert answers.fallback is not None
    assert settings_of(["data=mnist", *answers.fallback.overrides()])["annotations"]["sensitivity"] == 0.7


def test_a_sweep_has_a_run_for_each_seed_at_each_point_with_each_set_of_answers(tiny: Path) -> None:
    tiny.write_text(SWEEP)
    plan = load_plan(tiny)
    assert list(plan.experiments) == ["few_one", "many_one", "few_other", "many_other", "alone"]
    assert plan.experiment("alone").jobs == [Job(0), Job(1)]
    many = plan.experiment("many_one")
    assert many.jobs == [Job(seed, {"num_annotated": number}) for number in (7, 9, 30) for seed in (0, 4)]
    assert many.annotation_dir(many.jobs[1]) == Path("annotations/many/num_annotated-7_seed-4")
    assert many.run_dir(many.jobs[1]) == Path("results/many_one/num_annotated-7_seed-4")
    assert many.annotation_dir(many.jobs[1]) == plan.experiment("many_other").annotation_dir(many.jobs[1])
    assert [experiment.name for experiment in plan.with_answers("many")] == ["many_one", "many_other"]
    assert plan.with_answers("alone") == [plan.experiment("alone")]
    with pytest.raises(UserError, match="none"):
        plan.with_answers("none")
    assert many.answers is not None
    point = settings_of(["data=pinwheel", *many.answers.overrides(many.jobs[1].point)])["annotations"]
    assert (point["num_annotated"], point["pairs_per_annotator"]) == (7, 60)
    assert many.command() == (
        "python src/train.py -m data=pinwheel model=mcvc annotations=quota annotations.pairs_per_annotator=60 "
        "annotations.num_annotated=7,9,30 seed=0,4"
    )


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (None, "params.yaml"),
        ("experiments: [", "params.yaml"),
        ("profile: x\n", "groups"),
        ("- x\n", "params.yaml"),
        ("base: nowhere\n", "nowhere.yaml"),
        (f"base: {PROFILES / 'laptop'}\njobz: null\n", "jobz"),
        (f"base: {PROFILES / 'laptop'}\ngrups+: [x]\n", "grups"),
        ("profile: x\ngroups: {g: {seeds: [0], experiments: [a]}}\nexperiments: {a: {}}\n", "settings"),
        (
            "profile: x\ngroups: {g: {seeds: [0], experiments: [[a, b]]}}\n"
            "experiments: {a: {settings: {}}, b: {settings: {}, seeds: [5]}}\n", "a and b",
        ),
    ],
)
def test_bad_params_are_one_clear_line(content: str | None, name: str, tmp_path: Path) -> None:
    path = tmp_path / "params.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UserError, match=name) as error:
        load_plan(path)
    assert "\n" not in str(error.value)


@cache
def composed_once(*overrides: str) -> dict[str, Any]:
    """What most experiments have in both profiles is composed once: Hydra takes a tenth of a second."""
    return settings_of([*overrides])


@pytest.mark.parametrize("profile", NAMES)
def test_every_experiment_is_a_configuration(profile: str, tmp_path: Path) -> None:
    for name, experiment in plan_of(profile, tmp_path).experiments.items():
        answers = experiment.answers.overrides() if experiment.answers else []
        settings = composed_once(*experiment.overrides, *answers)
        assert settings["data"]["name"] == experiment.settings["data"]
        unanswered = experiment.answers is None and experiment.settings.get("annotations", "none") == "none"
        assert (settings["annotations"]["name"] == "none") == unanswered
        as_the_paper = name in (pinwheel.WITHOUT, pinwheel.WITH, *cifar.ROWS.values())
        of_the_paper = "_paper" in name or "_whole" in name or (profile == "paper" and as_the_paper)
        assert (settings["protocol"] == "paper") == of_the_paper
        assert all(0 <= epoch <= settings.get("epochs", epoch) for epoch in settings["snapshots"])
        given = settings["data"]
        data = given.get("path") or given.get("which") or given["name"]
        needs = {"pinwheel": (), "chains": (), "moons": (), "gaussians": (), "walk": ("wifi", "homes"),
                 "iris": (), "wine": (), "activities": ("activities", "texts"),
                 "data/fifteen_scenes/table.csv": ("fifteen_scenes",),
                 "data/nus_animals/table.csv": ("nus_animals",)}  # fmt: skip
        # Real answers that nothing stands in for are data too.
        crowd = ("mnist_crowd",) if experiment.settings.get("annotations") == "crowd" else ()
        people = ("cifar10h",) if name in cifar.EXPERIMENTS else ()
        assert experiment.needs == (*needs.get(data, (data,)), *crowd, *people)
        if experiment.answers and experiment.answers.fallback:
            instead = composed_once(*experiment.overrides, *experiment.answers.fallback.overrides())["annotations"]
            options = experiment.answers.options
            assert {name: instead[name] for name in options} == dict(options)
