"""Settings of data sets and of answers: what they refuse, and that the configuration has them as they are."""

import re
import subprocess
import sys
from typing import Any

import pytest

from semicrowd.errors import UserError
from semicrowd.settings.data import PIXEL_COMPONENTS, CIFAR10Settings
from semicrowd.settings.sources import FaceSettings, TasksSettings, source_settings


def test_none_is_a_value_of_optional_settings_alone() -> None:
    assert source_settings("data", "face", {"pca": None}) == FaceSettings(pca=None)
    assert source_settings("data", "face", {"standardize": None}) == FaceSettings()


def test_principal_components_are_those_of_pixels() -> None:
    assert CIFAR10Settings().components == PIXEL_COMPONENTS
    assert CIFAR10Settings(pca=7).components == 7
    assert CIFAR10Settings(pca=None).components is None
    assert CIFAR10Settings(features="efficientnet_lite0").components is None


def test_lists_and_single_numbers_are_rates() -> None:
    found = source_settings("annotations", "tasks", {"sensitivity": [0.9] * 48, "specificity": 1})
    assert found == TasksSettings(sensitivity=(0.9,) * 48, specificity=1)


@pytest.mark.parametrize(
    ("group", "name", "options", "message"),
    [
        (
            "data", "mnst", {},
            "data=mnst: no such data; the nearest is mnist; there are pinwheel, shapes, mnist, face, cifar10",
        ),
        ("annotations", "people", {}, "annotations=people: no such annotations; there are none, two_coin"),
        ("data", "table", {"pth": "x"}, "data.pth: no such setting; the nearest is data.path"),
        ("data", "table", {"path": 3}, "data.path=3: expected the path of a file"),
        ("data", "pinwheel", {"points_per_class": True}, "data.points_per_class=true: expected a whole number >= 1"),
        ("data", "cifar10", {"pca": 3073}, "data.pca=3073: expected auto, a whole number from 1 to 3072, or null"),
        ("annotations", "two_coin", {"sensitivity": []}, "annotations.sensitivity=[]: expected probabilities"),
        ("annotations", "two_coin", {"sensitivity": [0.9, None]}, "annotations.sensitivity=[0.9, null]: expected prob"),
        ("annotations", "two_coin", {"specificity": float("nan")}, "annotations.specificity=nan: expected probabil"),
        ("annotations", "two_coin", {"specificity": [1, 1]}, "annotations.specificity: 2 numbers; expected one, or"),
        ("annotations", "quota", {"sensitivity": [0.5] * 3}, "annotations.sensitivity: 3 numbers; expected one, or"),
        ("annotations", "tasks", {"sensitivity": [0.0] + [0.9] * 47}, "annotations=tasks: expected sensitivity > 0"),
        ("annotations", "tasks", {"num_annotators": 92}, "annotations.num_tasks=91: expected one or more for each"),
        ("annotations", "crowd", {"num_tasks": 92}, "annotations.num_tasks=92: expected a whole number from 1 to 91"),
        ("annotations", "crowd", {"flipped": 2}, "annotations.flipped=2: expected a fraction of the annotators"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(group: str, name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match="^" + re.escape(message)):
        source_settings(group, name, options)


def test_settings_load_without_numbers_or_networks() -> None:
    code = "import sys, semicrowd.settings.sources; print({'torch', 'numpy', 'sklearn', 'pandas'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
