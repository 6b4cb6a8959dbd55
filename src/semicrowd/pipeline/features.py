"""Stage ``features``: principal components of the faces and of CIFAR-10, once for all runs."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from semicrowd.data import cifar10, faces
from semicrowd.data.cifar10 import PIXEL_COMPONENTS
from semicrowd.data.components import SCALINGS, axes_place, keep, place, principal_axes, principal_components
from semicrowd.errors import without_traceback
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.fetch import why_missing

#: The paper's number of components of the faces (SCDC, section 5.2).
COMPONENTS = 20


def make_face_features(root: Path) -> None:
    """Write the components with every scaling."""
    pixels, folder = faces.read_faces(root)[0], root / faces.FEATURES
    for scaling in SCALINGS:
        scores = principal_components(pixels, COMPONENTS, scaling)
        keep(place(folder, COMPONENTS, scaling), pixels, {"scores": scores})


def make_cifar10_features(root: Path) -> None:
    """Write the components' axes."""
    pixels = cifar10.read_training_pixels(root)
    axes = principal_axes(pixels, PIXEL_COMPONENTS)
    keep(axes_place(root / cifar10.FEATURES, PIXEL_COMPONENTS), pixels, axes._asdict())


#: Folder below the data folder → what it needs, and the function that fills it.
MAKERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    faces.FEATURES: ("face", make_face_features),
    cifar10.FEATURES: ("cifar10", make_cifar10_features),
}


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m semicrowd.pipeline.features <folder>``; the folder stays empty if what it needs is missing."""
    parser = argparse.ArgumentParser(description="make features of images in a folder below data/")
    parser.add_argument("folder", choices=MAKERS)
    folder = parser.parse_args(arguments).folder
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    name, make = MAKERS[folder]
    if message := why_missing(name):
        print(f"{name} is not available here: {message}")
        return 0
    make(DATA)
    print(DATA / folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
