"""Settings of data sets and of answers: what they refuse, and that the configuration has them as they are."""

import re
from typing import Any

import pytest

from semicrowd.errors import UserError
from semicrowd.settings.data import PIXEL_COMPONENTS, CIFAR10Settings
from semicrowd.settings.sources import FaceSettings, source_settings


def test_none_is_a_value_of_optional_settings_alone() -> None:
    assert source_settings("data", "face", {"pca": None}) == FaceSettings(pca=None)
    assert source_settings("data", "face", {"standardize": None}) == FaceSettings()


def test_principal_components_are_those_of_pixels() -> None:
    assert CIFAR10Settings().components == PIXEL_COMPONENTS
    assert CIFAR10Settings(pca=7).components == 7
    assert CIFAR10Settings(pca=None).components is None
    assert CIFAR10Settings(features="efficientnet_lite0").components is None


@pytest.mark.parametrize(
    ("group", "name", "options", "setting"),
    [
        ("data", "mnst", {}, "data=mnst"),
        ("annotations", "people", {}, "annotations=people"),
        ("data", "table", {"pth": "x"}, "data.pth"),
        ("data", "table", {"path": 3}, "data.path=3"),
        ("data", "pinwheel", {"points_per_class": True}, "data.points_per_class=true"),
        ("data", "cifar10", {"pca": 3073}, "data.pca=3073"),
        ("annotations", "two_coin", {"sensitivity": []}, "annotations.sensitivity=[]"),
        ("annotations", "two_coin", {"sensitivity": [0.9, None]}, "annotations.sensitivity=[0.9, null]"),
        ("annotations", "two_coin", {"specificity": float("nan")}, "annotations.specificity=nan"),
        ("annotations", "two_coin", {"specificity": [1, 1]}, "annotations.specificity"),
        ("annotations", "quota", {"sensitivity": [0.5] * 3}, "annotations.sensitivity"),
        ("annotations", "tasks", {"sensitivity": [0.0] + [0.9] * 47}, "annotations=tasks"),
        ("annotations", "tasks", {"num_annotators": 92}, "annotations.num_tasks=91"),
        ("annotations", "crowd", {"num_tasks": 92}, "annotations.num_tasks=92"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(group: str, name: str, options: dict[str, Any], setting: str) -> None:
    with pytest.raises(UserError, match=f"^{re.escape(setting)}:"):
        source_settings(group, name, options)
