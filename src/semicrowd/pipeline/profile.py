"""Profiles: which experiments with how many seeds and epochs; conf/profile/<name>.yaml."""

import re
from pathlib import Path

from semicrowd.errors import UserError
from semicrowd.files import write_text
from semicrowd.pipeline.experiments import PARAMS

PROFILES = Path("conf/profile")
#: What ``make record`` runs: the laptop's experiments, and those that take longer than any profile here allows.
RECORDED = Path("recorded/experiments.yaml")
_BASE = re.compile(r"^base: .*$", re.MULTILINE)


def profile_path(name: str, profiles: Path = PROFILES) -> Path:
    """File of a profile.

    Raises
    ------
    UserError
        If there is no such profile.
    """
    path = profiles / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(path.stem for path in profiles.glob("*.yaml")))
        raise UserError(f"unknown profile {name!r}: expected one of {known}")
    return path


def select_profile(name: str, params: Path = PARAMS, profiles: Path = PROFILES) -> None:
    """Let params.yaml begin from the profile called ``name``; what it says besides stays.

    Raises
    ------
    UserError
        If there is no such profile, or params.yaml begins from none.
    """
    chosen = f"base: {profile_path(name, profiles).with_suffix('').as_posix()}"
    text = params.read_text(encoding="utf-8") if params.is_file() else f"{chosen}\n"
    if not _BASE.search(text):
        raise UserError(f"{params}: has no line base: …, which names a profile; expected {chosen}")
    write_text(params, _BASE.sub(chosen, text, count=1))
