"""Stages ``fetch`` and ``features``: data files, and principal components of images, once for all runs."""

import argparse
import sys
from pathlib import Path

from reproduction.commandline import without_traceback
from semicrowd.data import cifar10, faces
from semicrowd.data.components import SCALINGS, axes_place, keep, place, principal_axes, principal_components
from semicrowd.data.fetch import PUBLIC, data_root, fetch

#: The SCDC paper's number of components of the faces (section 5.2).
FACE_COMPONENTS = 20


def face(root: Path) -> Path:
    """Keep the components of the faces with every scaling, where ``data=face`` looks for them."""
    pixels, folder = faces.read_faces(root)[0], root / faces.FEATURES
    for scaling in SCALINGS:
        scores = principal_components(pixels, FACE_COMPONENTS, scaling)
        keep(place(folder, FACE_COMPONENTS, scaling), pixels, {"scores": scores})
    return folder


def photographs(root: Path) -> Path:
    """Keep the axes of the components of CIFAR-10, where ``data=cifar10`` looks for them."""
    pixels, folder = cifar10.read_training_pixels(root), root / cifar10.FEATURES
    axes = principal_axes(pixels, cifar10.PIXEL_COMPONENTS)
    keep(axes_place(folder, cifar10.PIXEL_COMPONENTS), pixels, axes._asdict())
    return folder


FEATURES = {"face": face, "cifar10": photographs}


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m reproduction.stages.data fetch mnist …`` or ``features face``."""
    parser = argparse.ArgumentParser(description="fetch data files, or make features of images, in the data folder")
    stages = parser.add_subparsers(dest="stage", required=True)
    stages.add_parser("fetch").add_argument("names", nargs="+", choices=PUBLIC)
    stages.add_parser("features").add_argument("names", nargs=1, choices=FEATURES)
    options = parser.parse_args(arguments)
    root = data_root()
    for name in options.names:
        if options.stage == "features":
            print(f"{name}: {FEATURES[name](root)}")
        else:
            faces.fetch_faces(root) if name == "face" else fetch(name, root)
            print(f"{name}: {root / PUBLIC[name].folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
