"""Hydra's exceptions about arguments, as one line."""

from hydra.errors import HydraException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from semicrowd.errors import UserError


def explain(error: Exception) -> UserError:
    """The user's mistake behind an exception that Hydra raised while it read the arguments, in Hydra's words."""
    if isinstance(error, UserError):
        return error
    text = str(error)
    if isinstance(error, OverrideParseException):
        text = f"{error.override}: {text}"
    return UserError(" ".join(text.split()) or type(error).__name__)


def is_mistake(error: BaseException) -> bool:
    """Whether an exception comes from reading the arguments."""
    if isinstance(error, ValueError) and "Config group override must be" in str(error):
        return True  # Hydra's answer to model=null
    return isinstance(error, UserError | HydraException | OmegaConfBaseException)
