"""How an item is shown: by its name, its picture, or cells of its row."""

import base64
import io
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.data import Dataset
from semicrowd.data.columns import DATE, NUMBER, Column, Columns
from semicrowd.errors import UserError
from semicrowd.files import expanded

#: Longer side of a small picture, in pixels.
_SIDE = 96


class Items:
    """Names, pictures and cells of a data set's items.

    Attributes
    ----------
    columns, feature_names : of every feature its column, its category and whether it marks a gap; and its name
    have_pictures : whether an item is a picture

    Parameters
    ----------
    source : the folder that ``data.files`` lie in; empty for items that are no files
    """

    def __init__(self, data: Dataset, source: str | Path = "") -> None:
        self.data = data
        columns = data.columns
        if columns is None or not columns.named:
            columns = Columns(tuple(Column(f"column {number}", NUMBER) for number in range(data.num_features)))
        self.columns, self.feature_names = columns.parts, columns.feature_names
        self._dates = {one.name for one in columns.columns if one.kind == DATE}
        self._files = [expanded(source) / file for file in data.files] if data.files and source else None
        self.have_pictures = data.image_shape is not None or self._files is not None
        if data.image_shape is not None:
            self._range = min(0.0, float(np.nanmin(data.features))), max(1.0, float(np.nanmax(data.features)))

    def name(self, item: int) -> str:
        """What the user calls an item: its id, its file, or the number of its row."""
        return str(item) if self.data.names is None else self.data.names[item]

    def cell(self, item: int, column: str) -> str:
        """What an item has in a column, empty for a gap."""
        features = [(self.data.features[item, d], category, gap)
                    for d, (name, category, gap) in enumerate(self.columns) if name == column]  # fmt: skip
        value, category, _ = features[0]
        if category is not None:
            return next((str(one) for is_it, one, _ in features if is_it), "")
        if np.isnan(value) or any(gap and marked for marked, _, gap in features):
            return ""
        return f"{pd.Timestamp(float(value), unit='s'):%Y-%m-%d}" if column in self._dates else f"{value:.4g}"

    def shown(self, item: int, most: int) -> dict[str, str]:
        """What a person needs to tell items apart: the file of a picture, or the cells of the first named columns."""
        if self._files is not None:
            return {"file": str(self._files[item])}
        named = self.data.columns is not None and self.data.columns.named
        names = list(dict.fromkeys(name for name, *_ in self.columns))[: most * named]
        return {name: self.cell(item, name) for name in names}

    def picture(self, item: int) -> str:
        """A small picture of an item as a ``data:`` address, empty where there is none or it cannot be read."""
        if not self.have_pictures:
            return ""
        # Imported here: most items are rows of tables.
        from PIL import Image

        from semicrowd.data.images import read_image

        if self.data.image_shape is not None:
            low, high = self._range
            pixels = (np.nan_to_num(self.data.features[item]) - low) / (high - low) * 255
            pixels = pixels.astype(np.uint8).reshape(-1, *self.data.image_shape[-2:])  # colours, height, width
            image = Image.fromarray(pixels[0] if len(pixels) == 1 else np.moveaxis(pixels, 0, -1))
        else:
            assert self._files is not None
            try:
                image = read_image(self._files[item], _SIDE, "RGB")
            except UserError:
                return ""
            image.thumbnail((_SIDE, _SIDE))
        written, kind = io.BytesIO(), "JPEG" if max(image.size) > _SIDE // 2 else "PNG"
        image.save(written, kind, quality=80)
        return f"data:image/{kind.lower()};base64,{base64.b64encode(written.getvalue()).decode()}"
