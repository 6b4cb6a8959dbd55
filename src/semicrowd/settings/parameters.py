"""Parameters of all methods, mutable and checked by ``fit`` as in scikit-learn; and the settings of a fit.

Each estimator inherits from a class of parameters (both in :mod:`semicrowd.methods`), which defines its signature,
defaults, help texts and checks. On the command line parameters are ``model.NAME``; ``n_clusters`` is
``model.K`` and ``random_state`` is ``seed``. There is no ``verbose``: ``trainer.progress`` shows a bar.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from semicrowd.crowd.two_coin import QUALITY_PRIOR as QUALITY_PRIOR
from semicrowd.settings.fields import check, described, each, names, setting, whole

#: Rule for the widths of hidden layers.
WIDTHS = each(whole(1, 100_000), "[40, 40]")
#: Help text for a number of random starts.
STARTS = "number of random starts, of which the one with the best objective is kept"
#: Help text of ``standardize``.
STANDARDIZE = "scale features to mean 0 and variance 1"


@dataclass(eq=False, repr=False, kw_only=True)
class Parameters:
    """The parameters of all methods."""

    #: Parameter → its name on the command line, if different.
    spelling: ClassVar[dict[str, str]] = {"n_clusters": "K"}

    random_state: Any = 0
    verbose: Any = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Make parameters from values by their names on the command line; the others have their defaults."""
        names_of = {one.spelled: one.name for one in described(cls)}
        given = {names_of.get(name, name): tuple(value) if isinstance(value, list) else value
                 for name, value in values.items()}
        check(cls, given, "model")
        made = cls(**given)
        made.check_parameters("model")
        return made

    def check_parameters(self, group: str = "") -> None:
        """Check all values and their combination.

        Parameters
        ----------
        group : group of the command line, which is prepended to names in messages
        """
        check(type(self), {name: self.plain(name) for name in names(type(self))}, group)

    def plain(self, name: str) -> Any:
        """The value of a parameter, with NumPy scalars and arrays converted to numbers and lists."""
        value = getattr(self, name)
        return value.tolist() if hasattr(value, "tolist") else value


@dataclass(eq=False, repr=False)
class CountedParameters(Parameters):
    """Parameters of all methods that need the number of clusters."""

    n_clusters: int = setting(4, "number of clusters", whole(2, 100_000))
