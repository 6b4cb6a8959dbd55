"""Profiles (conf/profile/<name>.yaml): which experiments are run, with how many seeds and epochs."""

import re
from pathlib import Path

from semicrowd.errors import UserError
from semicrowd.files import write_text
from semicrowd.pipeline.experiments import PARAMS

PROFILES = Path("conf/profile")
#: Experiments of ``make record``: those of the profile ``laptop``, and some that take longer than any profile allows.
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
    """Make the profile called ``name`` the base of params.yaml; the rest of params.yaml is not changed.

    Raises
    ------
    UserError
        If there is no such profile, or params.yaml has no line ``base: …``.
    """
    chosen = f"base: {profile_path(name, profiles).with_suffix('').as_posix()}"
    text = params.read_text(encoding="utf-8") if params.is_file() else f"{chosen}\n"
    if not _BASE.search(text):
        raise UserError(f"{params}: has no line base: …, which names a profile; expected {chosen}")
    write_text(params, _BASE.sub(chosen, text, count=1))
