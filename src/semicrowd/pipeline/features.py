"""Stages ``face_features`` and ``cifar10_features``: principal components of images, once for all runs."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from semicrowd.data import cifar10, faces
from semicrowd.data.components import SCALINGS, axes_place, kept_axes, kept_components, place
from semicrowd.errors import without_traceback
from semicrowd.files import write_arrays
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.fetch import why_missing
from semicrowd.run.interrupts import end_with_dvc
from semicrowd.settings.data import PIXEL_COMPONENTS

#: The paper's number of components of the faces (SCDC, section 5.2).
COMPONENTS = 20


def make_face_features(root: Path) -> list[Path]:
    """Write the components with every scaling into ``root/face_features``; nothing if the faces are missing."""
    folder = root / faces.FEATURES
    folder.mkdir(parents=True, exist_ok=True)
    if why_missing("face"):
        return []
    pixels = faces.read_faces(root)[0]
    content = {place(folder, COMPONENTS, scaling): kept_components(pixels, COMPONENTS, scaling) for scaling in SCALINGS}
    for path, arrays in content.items():
        write_arrays(path, arrays)
    return list(content)


def make_cifar10_features(root: Path) -> list[Path]:
    """Write the components' axes into ``root/cifar10_features``; nothing if CIFAR-10 is missing."""
    folder = root / cifar10.FEATURES
    folder.mkdir(parents=True, exist_ok=True)
    if why_missing("cifar10"):
        return []
    path = axes_place(folder, PIXEL_COMPONENTS)
    write_arrays(path, kept_axes(cifar10.read_training_pixels(root), PIXEL_COMPONENTS))
    return [path]


#: Data set → function that writes its components.
MAKERS: dict[str, Callable[[Path], list[Path]]] = {"face": make_face_features, "cifar10": make_cifar10_features}


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.features <data set>``."""
    parser = argparse.ArgumentParser(description="write the principal components of a data set's images")
    parser.add_argument("data", choices=MAKERS)
    data = parser.parse_args(arguments).data
    end_with_dvc()
    for path in MAKERS[data](DATA):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
