"""Save fitted estimators as tensors and plain values; loading unpickles nothing else.

Arrays become tensors. Objects of the classes below are stored as class name and attributes, and are made again from
them; a file cannot make an object of another class. Torch is imported in the functions, because the import takes
seconds and most estimators do not need it.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
import pandas as pd

from semicrowd.errors import UserError
from semicrowd.files import write_atomic
from semicrowd.settings.fields import Settings
from semicrowd.settings.methods import METHODS, NAMES
from semicrowd.settings.parameters import Parameters

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
    "semicrowd.fitting.result": ("Assignment", "Restarts", "Result", "Samples"),
    "semicrowd.settings.model": ("BayesSettings", "NetSettings", "SCDCSettings"),
    "semicrowd.settings.parameters": ("Recipe",),
    "semicrowd.settings.training": ("StartSettings", "TrainerSettings", "TrainingSettings", "ViewSettings"),
    "semicrowd.starts.patches": ("PatchFeatures",),
    "semicrowd.starts.selection": ("Verdict",),
}
#: Attributes that every fitted estimator has; any other may be None.
_ALWAYS = {"labels_", "n_clusters_", "n_features_in_", "result_"}
#: Type → the attributes of a fitted estimator that have it; one in several rows may have either. A class may instead
#: annotate an attribute of its own (``edges_: np.ndarray``).
_ATTRIBUTES: dict[str, str] = {
    "ndarray": "_mean _root _unit annotated_ beginning_ bounds_ cluster_ cluster_centers_ completed_ "
    "components_ concentration_ emissions_ expert_view_ feature_names_in_ hyperplanes_ items_ labels_ means_ "
    "memberships_ metric_ metrics_ parts_ plane_center_ plane_scale_ precisions_ sensitivity_ sensitivity_shape_ "
    "sizes_ specificity_ specificity_shape_ transitions_ variances_ view_labels_",
    "float": "_unit bound_ evidence_ gamma_ held_out_gain_ held_out_gain_error_ log_likelihood_ objective_ penalty_ "
    "preference_",
    "float64": "_smallest _unit",
    "int": "n_clusters_ n_features_in_ n_iter_ random_state seed_ verbose",
    "int64": "random_state",
    "NoneType": "random_state",
    "RandomState": "random_state",
    "str": "_digest winner_",
    "bool": "_had_answers mixed_ verbose",
    "list": "epochs_ flows_ objective_history_",
    "tuple": "worker_names_",
    "dict": "_weights clusters_ ess_ preparations_ rhat_ shares_ weights_",
    "DataFrame": "candidates_ chains_ workers_",
    "Result": "result_",
    "Recipe": "recipe_",
    "Columns": "columns_",
    "ColumnScaler": "scaler_",
    "Pipeline": "classifier_ preparation_",
    "SignedSpectral": "crowd_",
    "KMeans": "_kmeans model_",
    "GaussianMixture": "model_",
    "BayesianGaussianMixture": "model_",
    "SCDC": "model_",
    "BayesSCDC": "model_",
    "Metric": "_metric",
}
#: Name of a class → its module.
_PLACE_OF = {name: place for place, names in _PLACES.items() for name in names}
#: Classes of this package that are added where they are defined: estimators, and classes used only in their attributes.
CLASSES: dict[str, type] = {}
#: Name and version of the format.
FORMAT = "semicrowd estimator 1"


def _class(name: str) -> type:
    if name not in CLASSES:
        CLASSES[name] = getattr(import_module(_PLACE_OF[name]), name)
    return CLASSES[name]


def encode(value: Any) -> Any:
    """A value as nested lists of tensors and plain values, for :func:`decode`."""
    import torch

    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic):  # first: float64 is a float, too
        return ["number", torch.from_numpy(np.array(value))]
    if value is None or isinstance(value, bool | int | float | str | torch.Tensor):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":  # names of columns, of annotators
        return ["text", value.tolist()]
    if isinstance(value, np.ndarray):
        return ["array", torch.from_numpy(np.array(value))]
    if type(value) in (list, tuple):
        return [type(value).__name__, [encode(one) for one in value]]
    if isinstance(value, dict):
        return ["dict", [[encode(key), encode(one)] for key, one in value.items()]]
    if isinstance(value, pd.DataFrame):
        return ["frame", [[str(name), encode(column.to_numpy())] for name, column in value.items()]]
    if isinstance(value, np.random.RandomState):
        return ["RandomState", encode(value.get_state(legacy=False))]
    description = getattr(value, "description", None)
    if isinstance(value, torch.nn.Module) and callable(description):  # a GenerativeModel
        return ["model", description()]
    name = type(value).__name__
    if not (name in CLASSES or name in _PLACE_OF) or _class(name) is not type(value):
        raise TypeError(f"{type(value)}: no place for it in a file")
    state: Any = value.__getstate__()
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
        "frame": lambda columns: pd.DataFrame({name: decode(column) for name, column in columns}),
        "RandomState": _random_state,
        "model": _model,
    }
    if kind in simple:
        return simple[kind](content)
    made: Any = object.__new__(_class(kind))
    state = decode(content)
    _check_state(type(made), state)
    # That of scikit-learn compares the versions of the library.
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    if isinstance(made, Settings):
        made.__post_init__()  # checks the values
    return made


def _check_state(kind: Any, state: dict[str, Any]) -> None:
    """Refuse attributes that objects of a class do not have, or that have another type."""
    hints = {one: hint for base in kind.__mro__ for one, hint in vars(base).get("__annotations__", {}).items()}
    for name, value in state.items():
        if hasattr(kind, "requires_answers"):  # an estimator, whose parameters are checked as a whole
            checked = {*kind._get_param_names()} - {"random_state", "verbose"}
            allowed = name in checked or name in _ATTRIBUTES.get(type(value).__name__, "").split()
            if name.endswith("_") and (hint := hints.get(name, Any)) is not Any:  # the class itself says of which type
                allowed = allowed or _fits(value, hint)
            if value is None and name not in _ALWAYS:
                allowed = allowed or any(name in names.split() for names in _ATTRIBUTES.values())
        elif is_dataclass(kind):
            allowed = any(one.name == name and _fits(value, one.type) for one in fields(kind))
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


def _model(description: Any) -> Any:
    from semicrowd.models.state import load_model

    return load_model(description)


def _random_state(content: Any) -> np.random.RandomState:
    found = np.random.RandomState()
    found.set_state(decode(content))
    return found


def save(estimator: Any, path: Path | str) -> None:
    """Write a fitted estimator to a file, which is there as a whole or not at all.

    Raises
    ------
    UserError
        Where the file cannot be written.
    """
    import torch

    content = {"format": FORMAT, "estimator": encode(estimator)}
    write_atomic(Path(path), partial(torch.save, content))


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
        if content["format"] != FORMAT:
            raise ValueError("another format")
        kind = METHODS[NAMES[content["estimator"][0]]].estimator
        found = decode(content["estimator"])
        if type(found) is not kind or not vars(found).keys() >= _ALWAYS:
            raise ValueError("not a fitted estimator")
        if isinstance(found, Parameters):
            found.check_parameters()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from error
    except Exception as error:  # torch raises whatever the damaged bytes lead to
        raise UserError(f"{path}: damaged, or not a model that this version of semicrowd saved") from error
    return found
