"""The CMU face images out of UCI's archive, as the table that the loader reads.

The archive (UCI data set 124) holds ``faces.tar.gz`` or the loose tree ``faces/<userid>/``. Each of the 20 people was
taken in 4 poses × 4 expressions × 2 (eyes open, sunglasses), at three scales; files are called
``<userid>_<pose>_<expression>_<eyes>_<scale>.pgm``. The camera spoilt 16 of the 640 images: those end in ``.bad``. Of
the quarter-scale images (``_4``, 32 columns × 30 rows) 624 are left.
"""

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

from semicrowd.files import write_arrays

#: The classes, in the order of the label.
POSES = ("straight", "left", "right", "up")
#: Rows × columns of a quarter-scale image.
FACE_SHAPE = (30, 32)
_NAME = re.compile(r"(?P<person>[a-z0-9]+)_(?P<pose>straight|left|right|up)_"
                   r"(?P<expression>angry|happy|neutral|sad)_(?P<eyes>open|sunglasses)_4\.pgm")
#: The published table begins with the last of these blocks of the sorted images and ends with the first.
_BLOCK_STARTS = (104, 209, 314, 419, 524)


def faces_of_archive(archive: zipfile.ZipFile, names: Sequence[str], folder: Path) -> None:
    """Write the published table of the images, byte by byte, as the file ``names[0]`` of ``folder``.

    Raises
    ------
    ValueError
        If the archive holds no such images.
    """
    table = read_faces(archive)
    order = np.concatenate(np.split(np.arange(len(table["images"])), _BLOCK_STARTS)[::-1])
    write_arrays(folder / names[0], {name: column[order] for name, column in table.items()})


def read_faces(archive: zipfile.ZipFile) -> dict[str, np.ndarray]:
    """All quarter-scale images of an archive that can be read, sorted by person, pose, expression and eyes.

    Returns
    -------
    dict
        images [N, 30, 32] uint8; pose, expression and eyes [N], words; person [N], a number among the archive's user
        ids, alphabetically.

    Raises
    ------
    ValueError
        If there are none.
    """
    image_of: dict[tuple[str, int, str, str], np.ndarray] = {}
    for name, content in _files(archive):
        match = _NAME.fullmatch(name)
        image = read_pgm(content) if match else None
        if match and image is not None:
            image_of[match["person"], POSES.index(match["pose"]), match["expression"], match["eyes"]] = image
    if not image_of:
        raise ValueError("no quarter-scale face images in it")
    keys = sorted(image_of)
    person, pose, expression, eyes = zip(*keys, strict=True)
    return {
        "images": np.stack([image_of[key] for key in keys]),
        "pose": np.array(POSES)[list(pose)],
        "expression": np.array(expression, "<U10"),
        "eyes": np.array(eyes, "<U10"),
        "person": np.unique(person, return_inverse=True)[1].astype(np.int16),
    }


def read_pgm(content: bytes) -> np.ndarray | None:
    """Grey values [30, 32] uint8 of a portable grey map; None where it is damaged or of another size."""
    try:
        with Image.open(io.BytesIO(content), formats=["PPM"]) as image:
            pixels = np.asarray(image)
    # What Pillow raises for a header that is not one, and for missing pixels.
    except (OSError, ValueError):
        return None
    return pixels if pixels.shape == FACE_SHAPE and pixels.dtype == np.uint8 else None


def _files(archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files that may be images, those of tar archives inside included."""
    for member in archive.namelist():
        name = PurePosixPath(member).name
        if name.endswith((".tar.gz", ".tar", ".tgz")):
            with archive.open(member) as stream, tarfile.open(fileobj=stream) as tar:
                for inner in tar:
                    file = tar.extractfile(inner) if inner.isfile() else None
                    if file is not None:
                        yield PurePosixPath(inner.name).name, file.read()
        elif name.endswith(".pgm"):
            yield name, archive.read(member)
