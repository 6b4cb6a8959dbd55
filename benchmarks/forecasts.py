"""How far check's forecasts are from default fits of data of many shapes.

Gaussian kinds in tables from 150 × 4 to 20,000 × 100 with 200 to 50,000 answers, and pictures of handwritten digits as
pixels (8 × 8, and enlarged to 32 × 32). Half of the tables have kinds that overlap, and people who are often wrong: a
winner in doubt is fitted again, which takes longest. Seconds are those of the processor.
"""

import time
from typing import NamedTuple

import numpy as np
from scipy.ndimage import zoom
from sklearn.datasets import load_digits, make_blobs

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.methods.cotraining import CoTraining
from semicrowd.random import stream
from semicrowd.run.check import seconds_of_cotraining
from semicrowd.settings.rule import Facts
from table import print_table


class Shape(NamedTuple):
    """Size of a data set; ``columns`` is negative for pictures with so many pixels a side."""

    items: int
    columns: int
    annotated: int
    answers: int
    clear: bool = True


_SHAPES = (
    Shape(150, 4, 60, 200), Shape(150, 4, 150, 1_000, False), Shape(300, 12, 300, 3_000),
    Shape(500, 20, 100, 400, False), Shape(500, 20, 400, 4_000), Shape(900, 9, 700, 660),
    Shape(900, 22, 700, 660, False), Shape(900, 60, 300, 20_000),
    Shape(1_000, 100, 300, 1_500), Shape(1_000, 500, 300, 1_500, False), Shape(2_000, 10, 200, 1_000),
    Shape(2_000, 50, 2_000, 20_000, False), Shape(5_000, 30, 500, 1_000, False), Shape(5_000, 200, 3_000, 50_000),
    Shape(10_000, 20, 500, 2_000), Shape(20_000, 100, 2_000, 10_000), Shape(360, -8, 200, 600),
    Shape(1_797, -8, 800, 3_000, False), Shape(360, -32, 200, 600, False), Shape(1_000, -32, 1_000, 10_000),
)  # fmt: skip


def forecasts(quick: bool = False) -> None:
    """The table; with ``quick`` of the first shape alone."""
    rows, inside = [], []
    for shape in _SHAPES[:1] if quick else _SHAPES:
        features, answers, image = _problem(shape)
        start = time.process_time()
        model = CoTraining(random_state=0, image_shape=image).fit(features, answers)
        seconds = time.process_time() - start
        least, most = seconds_of_cotraining(Facts.of(features, answers, image))
        inside.append(least <= seconds <= most)
        columns = f"{shape.columns}" if image is None else f"{-shape.columns} × {-shape.columns} pixels"
        rows.append((f"{shape.items:,}", columns, f"{len(answers.annotated):,}", f"{answers.num_pairs:,}",
                     "yes" if shape.clear else "no", str(model.n_clusters_), f"{seconds:.0f}", f"{least:.0f}",
                     f"{most:.0f}", "yes" if inside[-1] else "no"))  # fmt: skip
    print_table(("items", "columns", "annotated", "answers", "clear", "clusters", "s", "at least", "at most", "inside"),
                rows)  # fmt: skip
    print(f"\nWithin the forecast: {sum(inside)} of {len(inside)}")


def _problem(shape: Shape) -> tuple[np.ndarray, PairAnnotations, tuple[int, int] | None]:
    image = None
    if shape.columns < 0:
        pixels, labels = load_digits(return_X_y=True)
        rows = stream(0, "data").permutation(len(pixels))[: shape.items]
        side, labels = -shape.columns, labels[rows]
        images = zoom(pixels[rows].reshape(-1, 8, 8) / 16, (1, side / 8, side / 8), order=1)
        features, image = images.reshape(len(rows), -1), (side, side)
    else:
        width = 2.0 if shape.clear else 4.0
        centres = min(shape.columns, 7)
        features, labels = make_blobs(shape.items, centres, centers=7, cluster_std=width, random_state=0)
        noise = stream(0, "noise").normal(size=(shape.items, shape.columns - centres))
        features = np.hstack([features, noise])
    people = max(4, shape.answers // 200)
    rate = 0.9 if shape.clear else 0.75
    answers = simulate.two_coin(
        labels, stream(0, "answers"), num_annotators=people, pairs_per_annotator=shape.answers // people,
        num_annotated=shape.annotated, sensitivity=rate, specificity=rate,
    )  # fmt: skip
    return features, answers, image
