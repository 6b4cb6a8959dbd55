"""Codes of a stacked autoencoder in place of the items, made by the stage ``autoencoder`` of dvc.yaml."""

from dataclasses import replace
from numbers import Integral
from pathlib import Path

import numpy as np
from sklearn.utils._param_validation import Options, StrOptions, validate_params

from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.dataset import SEED, SUBSET, Dataset, drawn
from semicrowd.data.fetch import data_root
from semicrowd.data.frames import read_npz
from semicrowd.data.mnist import load_mnist
from semicrowd.errors import UserError
from semicrowd.files import sha256_of, write_arrays

#: Name → the data that the autoencoder encodes.
ENCODED = {
    "mnist": "60,000 training and 10,000 test images, as data=mnist has them",
    "activities": "data=benchmark data.which=activities",
    "texts": "the four largest subjects of data=benchmark data.which=texts",
    "har": "data=benchmark data.which=har",
    "stl10": "data=benchmark data.which=stl10",
    "reuters10k": "data=benchmark data.which=reuters10k",
}
#: Percentages of the autoencoder's training after which codes are stored.
TRAINED = (25, 50, 75, 100)
#: Folder below the data root, with one for each data set.
FOLDER = "encoded"
#: Classes of R8 that are used: the largest four, as many as Reuters-10K has.
_SUBJECTS = ("acq", "crude", "earn", "trade")


@validate_params(
    {
        "which": [StrOptions(set(ENCODED))], "trained": [Options(Integral, set(TRAINED))], "subset": SUBSET,
        "data_seed": SEED,
    },
    prefer_skip_nested_validation=False,
)  # fmt: skip
def load_encoded(
    *, which: str = "mnist", trained: int = 100, subset: int | None = None, data_seed: int = 0,
    root: Path | None = None,
) -> Dataset:  # fmt: skip
    """Load codes, each of the 10 with mean 0 and variance 1 over the training items.

    Parameters
    ----------
    which : name in :data:`ENCODED`
    trained : completed percentage of the autoencoder's training
    subset : number of items, drawn at random; None: all
    data_seed : of this draw, apart from the run's seed
    root : data root, None: that of the environment

    Returns
    -------
    Dataset
        ``features`` [N, 10], in the order of the items that were encoded, whose name and labels it has.
    """
    root = root or data_root()
    data = to_encode(which, root)
    path = place(root, which, trained)
    make = "`dvc repro autoencoder` makes it"
    if not path.exists():
        raise UserError(f"{path}: not there; {make}")
    try:
        content = read_npz(path)
        features, test, made_of = (content[name] for name in ("features", "test_features", "made_of"))
    except (UserError, KeyError) as error:
        raise UserError(f"{path}: damaged, or not the codes that were kept here; {make} anew") from error
    if str(made_of) != _made_of(data):
        raise UserError(f"{path}: codes of other items than those of {which}; {make} anew")
    assert data.labels is not None
    features, labels = drawn(subset, data_seed, features, data.labels)
    hashes = {**data.hashes, path.name: sha256_of(path)}
    return replace(
        data, features=features, labels=labels, test_features=test if data.test_features is not None else None,
        image_shape=None, hashes=hashes,
    )  # fmt: skip


def to_encode(which: str, root: Path) -> Dataset:
    """The items that ``data.which`` stands for, as they are loaded."""
    if which == "mnist":
        return load_mnist(root=root)
    return load_benchmark(which=which, classes=_SUBJECTS if which == "texts" else None, root=root)


def to_train(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Shift and scale [D] of what an autoencoder is trained on, (features − shift) / scale.

    Images stay as they are, in [0, 1]. Columns in units of their own (the activities) get mean 0 and variance 1. Other
    tables have one unit: a mean square of 1 (Xie et al. 2016).
    """
    shift, scale = np.zeros(data.num_features, np.float32), np.ones(data.num_features, np.float32)
    if data.image_shape is not None:
        return shift, scale
    if data.name == "activities":
        spread = data.features.std(0)
        return data.features.mean(0), np.where(spread > 0, spread, 1).astype(np.float32)
    return shift, scale * np.sqrt(np.square(data.features, dtype=np.float64).mean()).astype(np.float32)


def place(root: Path, which: str, trained: int) -> Path:
    """Where codes after a share of the training are kept."""
    return root / FOLDER / which / f"codes-{trained}.npz"


def keep_codes(root: Path, which: str, trained: int, data: Dataset, codes: np.ndarray, test: np.ndarray | None) -> None:
    """Write codes [N, 10] of the items and of the test split, as :func:`load_encoded` reads them."""
    mean, spread = codes.mean(0), np.where(codes.std(0) > 0, codes.std(0), 1)
    found = {"features": (codes - mean) / spread, "mean": mean, "scale": spread, "made_of": np.array(_made_of(data))}
    found["test_features"] = (np.zeros((0, codes.shape[1]), np.float32) if test is None else (test - mean) / spread)
    write_arrays(place(root, which, trained), found)


def _made_of(data: Dataset) -> str:
    return " ".join(f"{name} {data.hashes[name]}" for name in sorted(data.hashes))
