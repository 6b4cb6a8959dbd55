"""What parameters of all methods have in common, as scikit-learn has them: mutable, and checked by a fit.

An estimator inherits its class of parameters (both in :mod:`semicrowd.methods`), which thus are written once:
signature, defaults, lines of help, checks. On the command line they are ``model.NAME``, ``n_clusters`` is ``model.K``
and ``random_state`` is ``seed``; there is no ``verbose``, ``trainer.progress`` shows a bar.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from semicrowd.settings.fields import (
    check,
    described,
    each,
    names,
    setting,
    whole,
)

#: Beta prior of sensitivity and specificity where annotators are trusted until their answers speak against it: right in
#: ten of eleven answers. MCVC's (Chang et al. 2017).
QUALITY_PRIOR = (10.0, 1.0)

#: Rule of the widths of hidden layers.
WIDTHS = each(whole(1, 100_000), "[40, 40]")
#: Help of a number of starts.
STARTS = "starts; the one with the best objective is kept"
#: Help of ``standardize``.
STANDARDIZE = "features to mean 0 and variance 1"


@dataclass(eq=False, repr=False, kw_only=True)
class Parameters:
    """What all methods have."""

    #: Parameter → its name on the command line, where that is another.
    spelling: ClassVar[dict[str, str]] = {"n_clusters": "K"}

    random_state: Any = 0
    verbose: Any = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Parameters by their names on the command line; what is left out keeps its default.

        Raises
        ------
        UserError
            For values that do not fit, alone or together.
        """
        names_of = {one.spelled: one.name for one in described(cls)}
        given = {names_of.get(name, name): tuple(value) if isinstance(value, list) else value
                 for name, value in values.items()}
        check(cls, given, "model")
        made = cls(**given)
        made.check_parameters("model")
        return made

    def check_parameters(self, group: str = "") -> None:
        """Refuse values that do not fit, alone or together.

        Parameters
        ----------
        group : of the command line, which a message names them by

        Raises
        ------
        UserError
            Naming the parameter, its value and what was expected.
        """
        check(type(self), {name: self.plain(name) for name in names(type(self))}, group)

    def plain(self, name: str) -> Any:
        """A parameter's value, a number or a list where it is NumPy's."""
        value = getattr(self, name)
        return value.tolist() if hasattr(value, "tolist") else value


@dataclass(eq=False, repr=False)
class CountedParameters(Parameters):
    """Parameters of all methods that need the number of clusters."""

    n_clusters: int = setting(4, "number of clusters", whole(2, 100_000))
