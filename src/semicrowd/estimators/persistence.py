"""Save fitted estimators as tensors and plain values; loading unpickles nothing else.

Arrays become tensors. Objects of the classes below are stored as class name and attributes, and are made again from
them; a file cannot make an object of another class. Torch is imported in the functions, because the import takes
seconds and most estimators do not need it.
"""

from collections.abc import Callable
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from semicrowd.errors import UserError
from semicrowd.files import write_atomic

#: Module → its classes of which a fitted estimator may hold objects; imported when one is saved or read.
_PLACES = {
    "sklearn.cluster": ("KMeans",),
    "sklearn.decomposition": ("PCA",),
    "sklearn.dummy": ("DummyClassifier",),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.linear_model": ("LogisticRegression", "LogisticRegressionCV"),
    "sklearn.mixture": ("BayesianGaussianMixture", "GaussianMixture"),
    "sklearn.model_selection": ("StratifiedKFold",),
    "sklearn.neural_network": ("MLPClassifier",),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing": ("LabelBinarizer", "Normalizer", "StandardScaler"),
    "semicrowd.crowd.workers": ("WorkerPosterior",),
    "semicrowd.data.columns": ("Column", "Columns"),
    "semicrowd.data.preparation": ("ColumnScaler",),
    "semicrowd.methods.cotraining.preparations": ("PatchFeatures",),
    "semicrowd.result": ("Assignment", "Restarts", "Result", "Samples", "Verdict"),
}
#: Attributes that every fitted estimator has.
_ALWAYS = {"labels_", "n_clusters_", "n_features_in_", "params_", "result_"}
#: Parameters that are of the machine and have no place in a file.
_LEFT_OUT = ("memory", "trainer")
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}
#: Name and version of the format.
FORMAT = "semicrowd estimator 2"


def _class(name: str) -> type:
    methods = import_module("semicrowd.methods")  # looked up, not imported: the registry is above this module
    known = methods.NAMES.get(name)
    found: type = getattr(import_module(_PLACE_OF[name]), name) if known is None else methods.method(known)
    return found


def encode(value: Any) -> Any:
    """A value as nested lists of tensors and plain values, for :func:`decode`."""
    import torch

    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic):  # first: float64 is a float, too
        return ["number", torch.from_numpy(np.array(value))]
    if value is None or isinstance(value, bool | int | float | str | torch.Tensor):
        return value
    if isinstance(value, np.ndarray):  # of objects or texts: names of columns, of annotators
        texts = value.dtype.kind in "OU"
        return ["text", value.tolist()] if texts else ["array", torch.from_numpy(np.array(value))]
    if type(value) in (list, tuple):
        return [type(value).__name__, [encode(one) for one in value]]
    if isinstance(value, dict):
        kind = "Bunch" if isinstance(value, Bunch) else "dict"
        return [kind, [[encode(key), encode(one)] for key, one in value.items()]]
    if isinstance(value, pd.DataFrame):
        return ["frame", [[str(name), encode(column.to_numpy())] for name, column in value.items()]]
    if isinstance(value, np.random.RandomState):
        return ["RandomState", encode(value.get_state(legacy=False))]
    description: Any = getattr(value, "description", None)
    if isinstance(value, torch.nn.Module) and callable(description):  # a GenerativeModel
        return ["model", description()]
    name = type(value).__name__
    if name not in {*import_module("semicrowd.methods").NAMES, *_PLACE_OF} or _class(name) is not type(value):
        raise TypeError(f"{type(value)}: no place for it in a file")
    state: Any = value.__getstate__()
    if hasattr(value, "requires_answers"):
        state = {name: None if name in _LEFT_OUT else one for name, one in state.items()}
    _check_state(type(value), state)
    return [name, encode(state)]


def decode(coded: Any) -> Any:
    """The encoded value; ``KeyError``, ``ValueError`` or similar for content that :func:`encode` did not write."""
    if not isinstance(coded, list):
        return coded
    kind, content = coded
    simple: dict[str, Callable[[Any], Any]] = {
        "text": lambda names: np.array(names, object),
        "array": lambda tensor: tensor.numpy(),
        "number": lambda tensor: tensor.numpy()[()],
        "list": lambda values: [decode(one) for one in values],
        "tuple": lambda values: tuple(decode(one) for one in values),
        "dict": lambda items: {decode(key): decode(one) for key, one in items},
        "Bunch": lambda items: Bunch(**{decode(key): decode(one) for key, one in items}),
        "frame": lambda columns: pd.DataFrame({name: decode(column) for name, column in columns}),
        "model": lambda description: import_module("semicrowd.models.state").load_model(description),
    }
    if kind in simple:
        return simple[kind](content)
    state = decode(content)
    if kind == "RandomState":
        made: Any = np.random.RandomState()
        made.set_state(state)
        return made
    made = object.__new__(_class(kind))
    _check_state(type(made), state)
    if hasattr(made, "__setstate__"):  # that of scikit-learn compares the versions of the library
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    return made


def _check_state(kind: Any, state: dict[str, Any]) -> None:
    """Refuse attributes that objects of a class do not have, or that have another type."""
    hints = {name: hint for base in kind.__mro__[::-1] for name, hint in vars(base).get("__annotations__", {}).items()}
    estimator = hasattr(kind, "requires_answers")
    for name, value in state.items():
        if estimator and name in kind._get_param_names():  # checked as a whole, when all are there
            continue
        if estimator or is_dataclass(kind):  # the class itself says what there is, and of which type
            allowed = name in hints and _fits(value, hints[name])
        else:  # of scikit-learn: nothing that its class has
            allowed = name.isidentifier() and not name.startswith("__") and not hasattr(kind, name)
        if not allowed:
            raise TypeError(f"{kind.__name__}.{name}: no place in a file for {type(value)}")


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value has the type of a dataclass's field; what is in lists and mappings is not looked at."""
    if isinstance(hint, str):
        return type(value).__name__ in hint or (value is None and "None" in hint)
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    numbers = {int: (int, np.integer), float: (int, float, np.number)}
    return any(one is Any or isinstance(value, numbers.get(one, get_origin(one) or one)) for one in options)


def save(estimator: Any, path: Path | str) -> None:
    """Write a fitted estimator to a file, which is there as a whole or not at all."""
    import torch

    write_atomic(Path(path), partial(torch.save, {"format": FORMAT, "estimator": encode(estimator)}))


def load(path: Path | str) -> Any:
    """The fitted estimator of a file that ``save`` wrote; it needs no data.

    Raises
    ------
    UserError
        Where there is no such file, it is damaged or something else.
    """
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        found = decode(content["estimator"])
        fitted = hasattr(found, "requires_answers") and vars(found).keys() >= _ALWAYS
        if content["format"] != FORMAT or not fitted:
            raise ValueError("another format, or no fitted estimator")
        found._validate_params()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    except Exception as error:  # torch raises whatever the damaged bytes lead to
        raise UserError(f"{path}: damaged, or not a model that this version of semicrowd saved") from error
    return found
