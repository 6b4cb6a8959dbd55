"""Stage ``face_features``: the principal components of the faces, once for all runs."""

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from semicrowd.data.components import SCALINGS, kept_components, place
from semicrowd.data.faces import FEATURES, read_faces
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.fetch import why_missing
from semicrowd.run.files import write_atomic

#: The paper's number of components (SCDC, section 5.2).
COMPONENTS = 20


def make_features(root: Path) -> list[Path]:
    """Write the components with every scaling into ``root/face_features``; nothing where the faces cannot be had."""
    folder = root / FEATURES
    folder.mkdir(parents=True, exist_ok=True)
    if why_missing("face"):
        return []
    pixels, _ = read_faces(root)
    paths = []
    for standardize in SCALINGS:
        content = kept_components(pixels, COMPONENTS, standardize)
        paths.append(place(folder, COMPONENTS, standardize))
        write_atomic(paths[-1], partial(_write, content=content))
    return paths


def _write(temporary: Path, content: dict[str, np.ndarray]) -> None:
    with temporary.open("wb") as file:
        np.savez(file, **content)  # type: ignore[arg-type]


def main(arguments: list[str] | None = None) -> None:
    """``python -m semicrowd.pipeline.features``."""
    argparse.ArgumentParser(description="write the principal components of the faces").parse_args(arguments)
    for path in make_features(DATA):
        print(path)


if __name__ == "__main__":
    main()
