"""Images in a folder of the user: which files are read, in which order; each becomes 8-bit grey or colour.

Pillow decodes them. Other formats of pixels are converted, and a note says how many images were. A file that cannot be
read is an error, because answers refer to images by their position in the folder.
"""

import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from jaxtyping import Int
from PIL import Image, ImageOps, UnidentifiedImageError

from semicrowd.errors import UserError, listed
from semicrowd.files import STATUS, check_exists, sha256_of

#: Files that are taken for pictures, and what Pillow may take them for.
SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".gif", ".webp")
EXPECTED = "a folder of images, or of a folder of images for each class"
_FORMATS = ("JPEG", "PNG", "BMP", "TIFF", "PPM", "GIF", "WEBP")
#: Folder in which the tracking store keeps the figures of runs.
_TRACKED = "mlartifacts"
#: EXIF tag of the orientation.
_ORIENTATION = 0x0112
#: Its values for images that are not upright; a value that the standard does not have means nothing.
_TURNED = range(2, 9)
#: Pillow's modes of grey images.
_GREY = ("1", "L", "LA", "La")
#: Largest value of a pixel of 16 bits.
_SIXTEEN_BITS = 65_535
#: Number of values of a pixel of 12 bits.
_TWELVE_BITS = 4096
#: Files that a note names.
_NAMED = 3
#: Broken files that a message names beside the first, so that all can be mended at once.
_NAMED_BROKEN = 20

Made = TypeVar("Made")
#: What can be wrong with a file: path and reason.
_Wrong = tuple[Path, str]


@dataclass(frozen=True)
class ImageFiles:
    """The pictures below a folder.

    Attributes
    ----------
    folder : where they are
    paths : of each picture, sorted: folder by folder, names by their characters (``img10`` before ``img2``)
    longest : the longer side of each in pixels
    notes : which files are no pictures, a line
    """

    folder: Path
    paths: tuple[Path, ...]
    longest: Int[np.ndarray, "pictures"]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Paths within the folder, with ``/``; bytes that are no UTF-8 are replaced."""
        return tuple(printable(path.relative_to(self.folder).as_posix()) for path in self.paths)


def printable(name: str) -> str:
    """The name of a file or folder; bytes that are no UTF-8 are replaced."""
    return os.fsencode(name).decode(errors="replace")


@dataclass(frozen=True)
class Pictures(Generic[Made]):
    """What has been made of each picture.

    Attributes
    ----------
    made : of each picture, in the order of the paths
    digest : sha256 of the sha256 of each file
    notes : what had to be converted, a line each
    """

    made: list[Made]
    digest: str
    notes: tuple[str, ...]


def find_images(folder: Path, skip_unreadable: bool = False) -> ImageFiles:
    """All pictures below a folder, whose headers are read.

    Files of another suffix, hidden ones (a name of the path begins with a dot) and those in folders of runs, such as
    figures, are left out and counted.

    Parameters
    ----------
    skip_unreadable : leave out the files that cannot be read, too, for which each is decoded; a note names them

    Raises
    ------
    UserError
        Where there are none, and for files that are no pictures inside or have more pixels than Pillow takes for
        harmless (89 million): one line that names them.
    """
    check_exists(folder)
    files = sorted(_files_below(folder))
    runs = {path.parent.relative_to(folder) for path in files if path.name == STATUS} - {Path()}
    own = {path for path in files if not runs.isdisjoint(path.relative_to(folder).parents)}
    paths = [path for path in files if path not in own and _is_taken(path.relative_to(folder))]
    if not paths:
        raise UserError(f"{folder}: no images ({', '.join(SUFFIXES)}); expected {EXPECTED}")
    longest: list[int] = []
    wrong: list[_Wrong] = []
    for path in paths:
        with _refusing(path, wrong), Image.open(path, formats=_FORMATS) as image:
            size = max(image.size)
            if skip_unreadable:
                converted(image, size)
            longest.append(size)
    rest = sorted(set(files) - set(paths))
    notes = [f"{folder}: {_left_out(len(rest), 'other')}: {_listed(rest, folder)}"] if rest else []
    if wrong and skip_unreadable and longest:
        broken = [path for path, _ in wrong]
        named = _listed(broken, folder, _NAMED_BROKEN)
        notes.append(f"{folder}: {_left_out(len(wrong), 'unreadable')}, and rows are counted without: {named}")
        paths = sorted(set(paths) - set(broken))
    elif wrong:  # decoded, too, so that all that have to be mended are named at once
        for path in sorted(set(paths) - {path for path, _ in wrong}):
            with _refusing(path, wrong), Image.open(path, formats=_FORMATS) as image:
                converted(image, max(image.size))
        _refuse(sorted(wrong), folder)
    return ImageFiles(folder, tuple(paths), np.array(longest), tuple(notes))


def _files_below(folder: Path) -> Iterator[Path]:
    """All files, those behind links too; a link to nothing is one, so that the rows after it stay as they are."""

    def refuse(error: OSError) -> None:
        if error.filename != str(folder):  # a folder that is not there has no images
            raise UserError(f"{error.filename}: cannot be read: {error.strerror}; expected {EXPECTED}")

    seen = set()
    for place, folders, names in os.walk(folder, onerror=refuse, followlinks=True):
        folders.sort()
        if (real := os.path.realpath(place)) in seen:  # links in a circle
            folders.clear()
            continue
        seen.add(real)
        paths = (Path(place) / name for name in names)
        yield from (path for path in paths if path.is_file() or (path.is_symlink() and not path.exists()))


def read_images(
    files: ImageFiles, make: Callable[[Image.Image], Made], least: int, progress: Callable[[], None] = lambda: None
) -> Pictures[Made]:
    """Decode one picture after the other and keep what ``make`` makes of it.

    Parameters
    ----------
    make : takes a picture, upright, of 8 bits: mode ``L`` where it is grey (stored as colour or not), else ``RGB``
    least : pixels a side that ``make`` needs at least; a large JPEG is decoded at a fraction of its size
    progress : is called after each picture

    Raises
    ------
    UserError
        For files that cannot be read to their end: one line that names the first of them.
    """
    digest = hashlib.sha256()
    made: list[Made] = []
    wrong: list[_Wrong] = []
    done: dict[str, list[Path]] = {}
    for path in files.paths:
        with _refusing(path, wrong):
            content = path.read_bytes()
            digest.update(hashlib.sha256(content).digest())
            with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
                upright, changes = converted(image, least)
                made.append(make(upright))
            for change in changes:
                done.setdefault(change, []).append(path)
        progress()
    _refuse(wrong, files.folder)
    notes = [said(files, len(paths), f"{change} ({_listed(paths, files.folder)})") for change, paths in done.items()]
    return Pictures(made, digest.hexdigest(), tuple(notes))


def digest_of(files: ImageFiles) -> str:
    """The ``digest`` that :func:`read_images` has of the same pictures, none of which is decoded for it."""
    return hashlib.sha256(b"".join(bytes.fromhex(sha256_of(path)) for path in files.paths)).hexdigest()


def said(files: ImageFiles, number: int, what: str) -> str:
    """A note about some of the pictures."""
    return f"{files.folder}: {number} of {len(files.paths)} images: {what}"


def _is_taken(relative: Path) -> bool:
    names = relative.parts
    return relative.suffix.lower() in SUFFIXES and _TRACKED not in names and not any(n.startswith(".") for n in names)


def _left_out(number: int, which: str) -> str:
    return f"1 {which} file is left out" if number == 1 else f"{number} {which} files are left out"


def _listed(paths: list[Path], folder: Path, most: int = _NAMED) -> str:
    """The first of some files below the folder, by their paths within it."""
    return listed([printable(path.relative_to(folder).as_posix()) for path in paths], most)


@contextmanager
def _refusing(path: Path, wrong: list[_Wrong]) -> Iterator[None]:
    """Note what is wrong with a file, to tell of all files at once; odd metadata are no reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    except (UserError, ImportError):  # what was made of the picture has failed, or a package is missing
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        wrong.append((path, f"more than {(Image.MAX_IMAGE_PIXELS or 0) // 10**6} million pixels; make it smaller"))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}" if error.strerror else _unreadable(error)
        wrong.append((path, reason))
    except Exception as error:  # what a broken file makes Pillow raise depends on where it is broken
        wrong.append((path, _unreadable(error)))


def _unreadable(error: Exception) -> str:
    lines = str(error).splitlines()
    known = lines and not isinstance(error, UnidentifiedImageError)  # whose text is the path alone
    return "not an image that can be read" + (f" ({lines[0]})" if known else "")


def _refuse(wrong: list[_Wrong], folder: Path) -> None:
    if not wrong:
        return
    path, reason = wrong[0]
    others = [other for other, _ in wrong[1:]]
    more = f"; and {len(others)} more: {_listed(others, folder, _NAMED_BROKEN)}" if others else ""
    raise UserError(f"{path}: {reason}{more}; mend or remove, or leave out with data.skip_unreadable=true: answers "
                    "count the images that are there")


def converted(image: Image.Image, least: int) -> tuple[Image.Image, list[str]]:
    """The picture upright, mode ``L`` or ``RGB``, and what had to be done for it."""
    changes = []
    if getattr(image, "n_frames", 1) > 1:
        changes.append("several frames, the first is taken")
    # Pillow says in how many bits a colour is stored before it decodes, and there alone.
    deep = image.mode.startswith("I") or any(";16" in str(tile[3]) for tile in getattr(image, "tile", []))
    image.draft(None, (least, least))
    if image.getexif().get(_ORIENTATION) in _TURNED:
        changes.append("turned upright, as their EXIF data say")
        image = ImageOps.exif_transpose(image)
    if image.mode == "F":
        raise ValueError("fractions; expected whole numbers of 8 or 16 bits")
    if deep:
        changes.append("16 bits a colour, taken as 8")
    if image.mode.startswith("I"):
        values = np.asarray(image).astype(np.int64)
        if values.min() < 0 or values.max() > _SIXTEEN_BITS:
            raise ValueError("more than 16 bits a colour")
        if values.max() < _TWELVE_BITS:
            changes.append("16 bits a colour of which 12 or fewer are used: nearly black as 8 bits; stretch them first")
        return Image.fromarray((values // 257).astype(np.uint8)), changes
    grey = image.mode in _GREY
    if image.has_transparency_data:
        image = image.convert("RGBA")
        if np.asarray(image)[..., 3].min() < 255:
            changes.append("transparent parts, taken as white")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    elif image.mode not in (*_GREY, "P", "RGB", "RGBX"):
        changes.append(f"the colour model {image.mode}, taken as RGB")
    colour = image.convert("RGB")
    channels = np.asarray(colour)
    grey = grey or bool((channels == channels[..., :1]).all())
    return (colour.getchannel(0) if grey else colour), changes
