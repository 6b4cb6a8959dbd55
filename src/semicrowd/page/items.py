"""How an item is shown: by its name, its picture, or cells of its row."""

import base64
import io
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.data import Dataset
from semicrowd.data.columns import DATE, NUMBER, Column, Columns
from semicrowd.errors import UserError

#: Longer side of a small picture, in pixels.
_SIDE = 96
#: Quality of a small picture with colours, of 100.
_QUALITY = 80


class Items:
    """Names, pictures and cells of a data set's items.

    Parameters
    ----------
    pictures : the folder that ``data.files`` lie in, None where the items are no files
    """

    def __init__(self, data: Dataset, pictures: Path | None = None) -> None:
        self.data = data
        self._pictures = pictures if data.files is not None else None
        columns = data.columns
        if columns is None or not columns.named:
            columns = Columns(tuple(Column(f"column {number}", NUMBER) for number in range(data.num_features)))
        self._kinds = {one.name: one.kind for one in columns.columns}
        #: Of every feature: its column, and of a category its value.
        self._columns, self.feature_names = columns.parts, columns.feature_names

    @cached_property
    def _range(self) -> tuple[float, float]:
        low, high = float(np.nanmin(self.data.features)), float(np.nanmax(self.data.features))
        return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)

    @property
    def have_pictures(self) -> bool:
        """Whether an item is a picture."""
        return self.data.image_shape is not None or self._pictures is not None

    @property
    def shares(self) -> np.ndarray:
        """[D] bool: whether a feature is 0 or 1, so that its mean is a share."""
        values = self.data.features
        return np.array([bool(((column == 0) | (column == 1)).all()) for column in values.T])

    def name(self, item: int) -> str:
        """What the user calls an item: its id, its file, or the number of its row."""
        return str(item) if self.data.names is None else self.data.names[item]

    def columns_of(self, features: Sequence[int], most: int) -> list[str]:
        """Columns that some features are of, in their order, each once."""
        return list(dict.fromkeys(self._columns[feature][0] for feature in features))[:most]

    def cell(self, item: int, column: str) -> str:
        """What an item has in a column."""
        row = self.data.features[item]
        of_column = [(d, value, gap) for d, (name, value, gap) in enumerate(self._columns) if name == column]
        if any(gap and row[d] for d, _, gap in of_column):
            return ""
        values = [(d, value) for d, value, gap in of_column if not gap]
        if values[0][1] is None:
            number = float(row[values[0][0]])
            if self._kinds[column] == DATE and not np.isnan(number):
                return f"{pd.Timestamp(number, unit='s'):%Y-%m-%d}"
            return "" if np.isnan(number) else f"{number:.4g}"
        return next((str(value) for d, value in values if row[d]), "")

    def shown(self, most: int) -> dict[str, Callable[[int], str]]:
        """What a person needs to tell items apart: a name → what an item has, of the first columns or of pictures."""
        if self._pictures is not None and self.data.files is not None:
            folder, files = self._pictures, self.data.files
            return {"file": lambda item: str(folder / files[item])}
        if self.data.columns is None or not self.data.columns.named:
            return {}
        columns = dict.fromkeys(name for name, *_ in self._columns)
        return {column: partial(self.cell, column=column) for column in list(columns)[:most]}

    def picture(self, item: int) -> str:
        """A small picture of an item as a ``data:`` address, empty where there is none or it cannot be read."""
        shape = self.data.image_shape
        if shape is None and (self._pictures is None or self.data.files is None):
            return ""
        # Imported here: most items are rows of tables.
        from PIL import Image

        from semicrowd.data.images import read_image

        if shape is not None:
            low, high = self._range
            scaled = (np.nan_to_num(self.data.features[item]) - low) / max(high - low, 1e-12)
            pixels = np.clip(scaled * 255, 0, 255).astype(np.uint8).reshape(shape)
            pixels = pixels[0] if len(shape) == 3 and shape[0] == 1 else pixels
            image = Image.fromarray(pixels.transpose(1, 2, 0) if pixels.ndim == 3 else pixels)
        else:
            assert self._pictures is not None
            assert self.data.files is not None
            try:
                image = read_image(self._pictures / self.data.files[item], _SIDE, "RGB")
            except UserError:
                return ""
            image.thumbnail((_SIDE, _SIDE))
        written, kind = io.BytesIO(), "JPEG" if max(image.size) > _SIDE // 2 else "PNG"
        image.save(written, kind, quality=_QUALITY)
        return f"data:image/{kind.lower()};base64,{base64.b64encode(written.getvalue()).decode()}"
