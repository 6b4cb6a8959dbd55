"""The docstring of a method's class as ``help`` shows it: what it is, parameters, attributes, an example.

Parameters are written once, as settings, and attributes in the class that sets them; here both are put together, in
numpydoc's order.
"""

import inspect
import re
import textwrap

from semicrowd.settings.fields import Description, described

_SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.M)
_SEED = "random_state : a whole number, a RandomState or None, default=0\n    the seed; None: a new one at every fit"
_VERBOSE = (
    "verbose : bool, default=False\n    progress and the time left on standard error: a bar, or lines where that is no "
    "terminal"
)
#: Characters of a line.
_WIDTH = 110


def sections(cls: type) -> dict[str, str]:
    """What stands under each heading of a class's docstring; under "" what stands above the first."""
    what, *others = _SECTION.split(inspect.cleandoc(cls.__doc__ or ""))
    found = {"": what} | dict(zip(others[::2], others[1::2], strict=True))
    return {name: text.rstrip() for name, text in found.items()}


def whole(cls: type) -> str:
    """The docstring of a class of methods, with its parameters and the attributes of the classes that it inherits from.

    Other sections of its own come last, as they are. ``_attributes`` of a class has those of its own docstring.
    """
    found = sections(cls)
    what = found.pop("")
    found.pop("Attributes", None)
    own = found.pop("Parameters", "")  # those that are no settings
    attributes = [vars(one).get("_attributes") for one in cls.__mro__]
    parameters = [_parameter(one) for one in described(cls)]
    parameters += [own, _SEED, _VERBOSE]
    parts = {"Parameters": "\n".join(filter(None, parameters)), "Attributes": "\n".join(filter(None, attributes))}
    texts = (f"{name}\n{'-' * len(name)}\n{text}" for name, text in (parts | found).items())
    return "\n\n".join([what, *texts]) + "\n"


def _parameter(one: Description) -> str:
    """What a parameter takes, its default, and below what it is."""
    takes = (one.rule(object()) or "anything") + (" or None" if one.optional else "")
    indent = "    "
    what = textwrap.fill(
        one.help, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return f"{one.name} : {takes}, default={one.default!r}\n{what}"
