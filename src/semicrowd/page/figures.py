"""The figures of a run, embedded in its page."""

import base64
from pathlib import Path

#: File name → caption, of the figures that are embedded; other figures are only in the run's folder.
_CAPTIONS = {
    "clusters": "The items, coloured by cluster",
    "latent": "The items in the plane that sets the clusters apart most, coloured by cluster",
    "likeliest": "The images that each cluster is surest of",
    "samples": "What each cluster generates",
    "curves": "The course of the fit",
    "restarts": "Restarts compared",
}
#: Figures with larger files, in bytes, are left out, because the page would open slowly.
_LARGEST = 1_000_000


def pictures(folder: Path) -> list[dict[str, str]]:
    """Name, caption and ``data:`` URL of the figures in a folder that the page shows; empty without the folder."""
    shown = []
    for name, caption in _CAPTIONS.items():
        path = folder / f"{name}.png"
        if path.is_file() and path.stat().st_size <= _LARGEST:
            coded = base64.b64encode(path.read_bytes()).decode()
            shown.append({"name": name, "caption": caption, "address": f"data:image/png;base64,{coded}"})
    return shown
