"""Profiles: which experiments with how many seeds and epochs; conf/profile/<name>.yaml."""

from pathlib import Path

from semicrowd.errors import UserError
from semicrowd.files import write_atomic
from semicrowd.pipeline.experiments import PARAMS, load_plan

PROFILES = Path("conf/profile")


def select_profile(name: str, params: Path = PARAMS, profiles: Path = PROFILES) -> bool:
    """Make ``params`` a copy of the profile called ``name``; True if that changed it.

    Raises
    ------
    UserError
        If there is no such profile.
    """
    source = profiles / f"{name}.yaml"
    if not source.is_file():
        known = ", ".join(sorted(path.stem for path in profiles.glob("*.yaml")))
        raise UserError(f"unknown profile {name!r}: expected one of {known}")
    content = source.read_bytes()
    if params.is_file() and params.read_bytes() == content:
        return False
    write_atomic(params, lambda temporary: temporary.write_bytes(content))
    return True


def drift(params: Path = PARAMS, profiles: Path = PROFILES) -> str:
    """One line if ``params`` is no longer what its profile says (one of the two was edited), else empty."""
    profile = load_plan(params).profile
    source = profiles / f"{profile}.yaml"
    if not source.is_file() or source.read_bytes() == params.read_bytes():
        return ""
    return f"{params} is used as it stands; it differs from {source} (make reproduce PROFILE={profile} takes that one)"
