"""Patches of images: against a loop over windows, and what they are worth."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from semicrowd import CoTraining, load
from semicrowd.crowd import simulate
from semicrowd.errors import UserError
from semicrowd.starts.patches import ALONG, PARTS, PatchFeatures
from semicrowd.starts.preparing import preparations


def textures(number: int, colours: int = 1, side: int = 16, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Images of three kinds: stripes across, stripes down, a chequerboard, each moved at random, with noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=number)
    row, column = np.mgrid[:side, :side]
    images = np.empty((number, colours, side, side))
    for image, kind in zip(images, labels, strict=True):
        down, right = rng.integers(4, size=2)
        bits = ((row + down) // 2 % 2, (column + right) // 2 % 2)
        pattern = bits[kind] if kind < 2 else bits[0] ^ bits[1]
        image[:] = rng.uniform(0.3, 1, size=(colours, 1, 1)) * pattern
    return (images + 0.3 * rng.normal(size=images.shape)).reshape(number, -1), labels


@pytest.mark.parametrize("shape", [(16, 20), (3, 13, 12), (1, 33, 47)])
def test_a_feature_is_the_mean_nearness_of_a_parts_windows_to_a_mean_patch(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, int(np.prod(shape)))).astype(np.float32)
    made = PatchFeatures(shape).fit(X)
    *colours, height, width = shape
    stride = max(2, round(min(height, width) / ALONG))
    side = 2 * stride + 1
    image = X[7].reshape(*(colours or (1,)), height, width)
    tops, lefts = range(0, height - side + 1, stride), range(0, width - side + 1, stride)
    near = np.empty((len(tops), len(lefts), len(made.means_)))
    for a, top in enumerate(tops):
        for b, left in enumerate(lefts):
            window = image[:, top : top + side, left : left + side].ravel()
            window = (window - window.mean()) / np.sqrt(window.var() + 0.0025 * X.var())
            distance = cdist(((window - made.mean_) @ made.whitening_)[None], made.means_)[0]
            near[a, b] = np.maximum(distance.mean() - distance, 0)
    found = made.transform(X[7:8]).reshape(len(made.means_), PARTS, PARTS)
    rows = [slice(p * len(tops) // PARTS, -(-(p + 1) * len(tops) // PARTS)) for p in range(PARTS)]
    columns = [slice(p * len(lefts) // PARTS, -(-(p + 1) * len(lefts) // PARTS)) for p in range(PARTS)]
    for i, of_rows in enumerate(rows):
        for j, of_columns in enumerate(columns):
            np.testing.assert_allclose(found[:, i, j], near[of_rows, of_columns].mean((0, 1)), rtol=1e-3, atol=1e-4)


def test_patches_are_white_but_for_directions_of_little_variance() -> None:
    X, _ = textures(200)
    made = PatchFeatures((16, 16)).fit(X)
    rng = np.random.default_rng(1)
    windows = np.lib.stride_tricks.sliding_window_view(X.reshape(-1, 16, 16), (5, 5), (1, 2))
    some = windows[rng.integers(200, size=20_000), rng.integers(12, size=20_000), rng.integers(12, size=20_000)]
    some = some.reshape(-1, 25)
    some = (some - some.mean(1, keepdims=True)) / np.sqrt(some.var(1, keepdims=True) + 0.0025 * X.var())
    values = np.linalg.eigvalsh(np.cov(some.T))
    white = np.linalg.eigvalsh(np.cov(((some - made.mean_) @ made.whitening_).T))
    np.testing.assert_allclose(white, values / (values + 0.1), atol=0.05)


def test_units_of_the_pixels_do_not_matter() -> None:
    X, _ = textures(60)
    one, other = (PatchFeatures((16, 16)).fit_transform(images) for images in (X, 255 * X))
    np.testing.assert_allclose(one, other, rtol=1e-2, atol=1e-3)


def test_kinds_that_no_single_pixel_tells_are_told() -> None:
    X, labels = textures(300)
    ways = dict(preparations(X, (16, 16)))
    assert next(iter(ways)) == "patches"
    right = {
        name: LogisticRegression(max_iter=500).fit(way.items[:60], labels[:60]).score(way.items[60:], labels[60:])
        for name, way in ways.items()
    }
    assert right["patches"] > 0.95
    assert right["patches"] > right["standardised"] + 0.2


@pytest.mark.slow
def test_co_training_of_images_predicts_new_ones_and_comes_back_from_a_file(tmp_path: Path) -> None:
    X, labels = textures(100, colours=3)
    answers = simulate.two_coin(
        labels, np.random.default_rng(0), num_annotators=5, pairs_per_annotator=120, num_annotated=60,
        sensitivity=0.9, specificity=0.9,
    )  # fmt: skip
    model = CoTraining(image_shape=(3, 16, 16), random_state=0).fit(X, answers)
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    assert model.shares_["patches"] == max(model.shares_.values())
    new, kinds = textures(50, colours=3, seed=1)
    assert adjusted_rand_score(kinds, model.predict(new)) > 0.8
    model.save(tmp_path / "model.pt")
    assert load(tmp_path / "model.pt").predict_proba(new).tobytes() == model.predict_proba(new).tobytes()
    alone, of_pixels = (CoTraining(image_shape=shape, random_state=0).fit(X) for shape in ((3, 16, 16), None))
    assert list(alone.preparations_) == ["patches"]
    agreement = [adjusted_mutual_info_score(labels, one.labels_) for one in (alone, of_pixels)]
    assert agreement[0] > agreement[1] + 0.02
    with pytest.raises(UserError, match="image_shape"):
        CoTraining(image_shape=(15, 16)).fit(X)
