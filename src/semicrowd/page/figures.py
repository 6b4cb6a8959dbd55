"""The pictures of a run as parts of a page."""

import base64
from pathlib import Path

#: File → what it shows. Others are left to the folder.
_CAPTIONS = {
    "clusters": "The items, coloured by cluster",
    "latent": "The items in the plane that sets the clusters apart most, coloured by cluster",
    "likeliest": "The images that each cluster is surest of",
    "samples": "What each cluster generates",
    "curves": "The course of the fit",
    "restarts": "Restarts compared",
}
#: Larger files would make the page slow to open, in bytes.
_LARGEST = 1_000_000


def pictures(folder: Path) -> list[dict[str, str]]:
    """Name, caption and ``data:`` address of the pictures of a folder that the page shows; none without the folder."""
    found = []
    for name, caption in _CAPTIONS.items():
        path = folder / f"{name}.png"
        if path.is_file() and path.stat().st_size <= _LARGEST:
            coded = base64.b64encode(path.read_bytes()).decode()
            found.append({"name": name, "caption": caption, "address": f"data:image/png;base64,{coded}"})
    return found
