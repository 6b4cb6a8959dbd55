"""Profiles: which experiments with how many seeds and epochs; conf/profile/<name>.yaml.

A profile with a ``base`` (a path beside it, without .yaml) says only what differs from that one: a value of its own
replaces the base's, null removes it, and ``<name>+`` adds to a list.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from semicrowd.errors import UserError
from semicrowd.files import write_text
from semicrowd.pipeline.experiments import PARAMS, Plan, load_plan, plan_of

PROFILES = Path("conf/profile")
#: What ``make record`` runs: the laptop's experiments, and those that take longer than any profile here allows.
RECORDED = Path("recorded/experiments.yaml")


class _Plain(yaml.SafeDumper):
    """Writes every value out, also one that stands in several places."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def select_profile(name: str, params: Path = PARAMS, profiles: Path = PROFILES) -> bool:
    """Make ``params`` the profile called ``name``, its base filled in; True if that changed it.

    Raises
    ------
    UserError
        If there is no such profile.
    """
    source = _file_of(name, profiles)
    text = source.read_text(encoding="utf-8")
    if "base" in yaml.safe_load(text):
        whole = yaml.dump(read_profile(source), Dumper=_Plain, sort_keys=False, default_flow_style=None, width=120)
        text = f"# Profile {name!r}: {source} with its base filled in. The pipeline reads this file.\n{whole}"
    if params.is_file() and params.read_text(encoding="utf-8") == text:
        return False
    write_text(params, text)
    return True


def profile_plan(name: str, profiles: Path = PROFILES) -> Plan:
    """The experiments of a profile that is not the selected one; errors as :func:`select_profile`."""
    source = _file_of(name, profiles)
    return plan_of(read_profile(source), source)


def recorded_plan(path: Path = RECORDED) -> Plan:
    """The experiments of ``make record``; no profile, as the pipeline has no stages for all of them."""
    return plan_of(read_profile(path), path)


def _file_of(name: str, profiles: Path) -> Path:
    source = profiles / f"{name}.yaml"
    if not source.is_file():
        known = ", ".join(sorted(path.stem for path in profiles.glob("*.yaml")))
        raise UserError(f"unknown profile {name!r}: expected one of {known}")
    return source


def read_profile(path: Path) -> dict[str, Any]:
    """A profile with its base filled in."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    base = content.pop("base", None)
    return content if base is None else _merged(read_profile(path.parent / f"{base}.yaml"), content)


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in own.items():
        if key.endswith("+"):
            merged[key[:-1]] = [*merged[key[:-1]], *value]
        elif value is None:
            merged.pop(key)
        else:
            below = merged.get(key)
            nested = isinstance(value, Mapping) and isinstance(below, Mapping)
            merged[key] = _merged(below or {}, value) if nested else value
    return merged


def drift(params: Path = PARAMS, profiles: Path = PROFILES) -> str:
    """One line if ``params`` is no longer what its profile says (one of the two was edited), else empty."""
    profile = load_plan(params).profile
    source = profiles / f"{profile}.yaml"
    if not source.is_file() or read_profile(source) == yaml.safe_load(params.read_text(encoding="utf-8")):
        return ""
    return f"{params} is used as it stands; it differs from {source} (make reproduce PROFILE={profile} takes that one)"
