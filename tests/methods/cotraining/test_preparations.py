"""Features in more than one way: what units, dominating columns, few rows and answers do to each."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, pairwise_distances
from sklearn.pipeline import Pipeline

from semicrowd import CoTraining, load
from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.preparation import ColumnScaler, first_columns
from semicrowd.errors import UserError
from semicrowd.methods.cotraining.preparations import (
    ALONG,
    PARTS,
    PatchFeatures,
    Prepared,
    column_weights,
    preparations,
    prepared,
    weighted,
)

BLOBS = make_blobs(120, 5, centers=4, random_state=0)[0]


def _preparations(features: np.ndarray) -> dict[str, Pipeline]:
    return {name: way.pipeline for name, way in preparations(features)}


def test_standardised_features_are_those_of_the_correlation_matrix() -> None:
    found = prepared(_preparations(BLOBS * [10, 1, 1, 1, 1])["standardised"], BLOBS * [10, 1, 1, 1, 1])
    values = np.sort(np.linalg.eigvalsh(np.corrcoef(BLOBS.T)))[::-1]
    np.testing.assert_allclose(found.var(0, ddof=1), values / values.mean(), rtol=1e-6)


def test_a_dominating_column_is_one_of_many() -> None:
    """20 columns that tell the kinds, one more that is a hundred times as wide."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=150)
    kinds = 2 * np.eye(20)[labels] + 0.3 * rng.normal(size=(150, 20))
    table = np.concatenate([kinds, 100 * rng.normal(size=(150, 1))], 1)
    found = prepared(_preparations(table)["standardised"], table)
    assert found.var(0)[0] / found.var(0).sum() < 0.2
    same = labels[:, None] == labels
    ratios = [apart[~same].mean() / apart[same].mean() for apart in map(pairwise_distances, (found, table))]
    assert ratios[0] > 1.1 > 1.02 > ratios[1]


def test_of_texts_the_direction_counts_whatever_their_length() -> None:
    rng = np.random.default_rng(2)
    topics, length = rng.dirichlet(np.ones(12), 200), rng.lognormal(0, 1.5, (200, 1))
    ways = _preparations(topics * length)
    assert "unit" in ways
    cosine = 1 - pairwise_distances(topics, metric="cosine")
    found = pairwise_distances(prepared(ways["unit"], topics * length)) ** 2
    above = np.triu_indices(200, 1)
    assert np.corrcoef(found[above], -cosine[above])[0, 1] > 0.999


def test_a_preparation_that_changes_no_distance_is_left_out() -> None:
    alike = np.random.default_rng(0).normal(size=(100, 4))
    alike = (alike - alike.mean(0)) / alike.std(0)
    assert list(_preparations(alike)) == ["standardised", "unit"]
    sphere = alike / np.linalg.norm(alike, axis=1, keepdims=True)
    assert list(_preparations(sphere)) == ["standardised"]


@pytest.mark.parametrize("shape", [(150, 300), (3, 50), (40, 1)])
def test_mean_variance_is_one_however_many_columns_there_are(shape: tuple[int, int]) -> None:
    table = 50 * np.random.default_rng(0).normal(size=shape)
    for pipeline in _preparations(table).values():
        found = prepared(pipeline, table)
        assert found.shape[1] <= min(100, shape[1], shape[0] - 1)
        assert found.var(0, ddof=1).mean() == pytest.approx(1)
        assert found.dtype == np.float64
        np.testing.assert_allclose(prepared(pipeline, table[:2]), found[:2], atol=1e-9)


def test_rows_that_are_multiples_of_one_another_have_no_direction() -> None:
    """Inches and centimetres: of length 1 all rows are one but for rounding, which is no preparation."""
    for seed in range(5):
        inches = np.random.default_rng(seed).uniform(1, 5, size=(200, 1))
        assert list(_preparations(inches * [[1, 2.54]])) == ["standardised"]


def test_columns_that_hardly_ever_differ_and_two_items_are_features() -> None:
    rare = np.zeros((3000, 3))
    for column in range(3):
        rare[np.random.default_rng(column).permutation(3000)[:40], column] = 1
    for features in (rare, np.array([[0.0, 1.0], [2.0, 0.0]]), np.c_[np.arange(9.0), 1e-200 * np.arange(9)]):
        ways = _preparations(features)
        assert "standardised" in ways
        assert np.isfinite(prepared(ways["standardised"], features)).all()
    assert _preparations(np.full((9, 2), 1e-200) * np.arange(9)[:, None]) == {}


def test_columns_far_from_zero_are_seen_by_their_differences() -> None:
    for seed in range(5):
        features = 1e9 + np.random.default_rng(seed).normal(size=(300, 2)) * [1, 10]
        assert all(np.isfinite(prepared(way, features)).all() for way in _preparations(features).values())


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


def _problem(seed: int, num_answers: int, weights: Any, num_items: int = 200) -> tuple[np.ndarray, PairAnnotations]:
    """Items of standard normal columns, and answers that depend on the weighted distance."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(num_items, len(weights)))
    i = rng.integers(num_items, size=num_answers)
    j = (i + rng.integers(1, num_items, size=num_answers)) % num_items
    same = rng.random(num_answers) < expit(2 - 0.5 * np.square(x[i] - x[j]) @ np.asarray(weights))
    answers = PairAnnotations.from_arrays(i, j, np.zeros_like(i), same.astype(int), num_items=num_items)
    return x[answers.annotated], answers


def _weighted(table: np.ndarray, answers: PairAnnotations) -> Prepared | None:
    ways = dict(preparations(table))
    return weighted(table, ways["standardised"].pipeline, answers) if ways else None


def test_weights_are_the_most_probable_ones() -> None:
    """A brute-force search for a better value of each weight, given the others, finds none."""
    x, answers = _problem(0, 300, [1, 0.4, 0])
    found = column_weights(x, answers, np.arange(x.shape[1]))
    distance = 0.5 * np.square(x[answers.index.i] - x[answers.index.j])
    of_mean = LogisticRegression(C=np.inf, tol=1e-10).fit(distance.mean(1, keepdims=True), answers.label)
    scaled = -of_mean.coef_[0, 0] / 3 * distance

    def log_posterior(weights: np.ndarray) -> float:
        # The offset that is best for these weights.
        logits = -scaled @ weights + np.linspace(-2, 6, 4001)[:, None]
        prior = 300 / len(x) * 0.5 * np.square(weights - 1).sum()
        return (logits @ answers.label - np.logaddexp(0, logits).sum(1)).max() - prior

    best = log_posterior(found)
    for column in range(3):
        for step in (-0.1, -0.02, 0.02, 0.1):
            other = found.copy()
            other[column] = max(other[column] + step, 0)
            assert log_posterior(other) <= best + 1e-4
    assert found[0] > found[1] > found[2]


def test_columns_that_have_nothing_to_do_with_the_question_lose_their_weight() -> None:
    x, answers = _problem(1, 2000, [1.5, 1.5, *[0] * 10], num_items=2000)
    found = column_weights(x, answers, np.arange(x.shape[1]))
    assert found[:2].min() > 10 * found[2:].mean()


def test_a_person_who_compares_all_items_counts_as_often_as_there_are_items() -> None:
    """All pairs of 40 items are 780 answers, but no more than 40 independent ones."""
    i, j = np.triu_indices(40, 1)
    labels = np.random.default_rng(0).integers(4, size=40)
    everything = PairAnnotations.from_arrays(i, j, np.zeros_like(i), (labels[i] == labels[j]).astype(int), num_items=40)
    x = np.random.default_rng(1).normal(size=(40, 30)) + np.eye(4, 30)[labels]
    weights = column_weights(x, everything, np.arange(30))
    assert np.abs(weights - 1).mean() < 0.25


@pytest.mark.parametrize("num_answers", [1, 3])
def test_few_answers_change_weights_little(num_answers: int) -> None:
    x, answers = _problem(2, num_answers, [1, 0, 0, 0])
    np.testing.assert_allclose(column_weights(x, answers, np.arange(x.shape[1])), 1, atol=0.75)


def test_answers_that_do_not_depend_on_the_distance_leave_weights_equal() -> None:
    rng = np.random.default_rng(0)
    x, answers = _problem(3, 400, [0, 0])
    far = np.square(x[answers.index.i] - x[answers.index.j]).sum(1) > rng.exponential(4, size=400)
    opposite = PairAnnotations.from_arrays(answers.i, answers.j, answers.worker, far.astype(int), num_items=200)
    np.testing.assert_array_equal(column_weights(x, opposite, np.arange(2)), 1)


def test_a_preparation_has_the_weighted_distances() -> None:
    """Units, constant columns and rows without answers do not matter; new items are prepared in the same way."""
    x, answers = _problem(4, 800, [2, 2, 0, 0, 0])
    assert len(x) == 200
    table = np.c_[x * [1, 1e3, 1e-2, 5, 1] + 7, np.ones(200)]
    way = _weighted(table, answers)
    assert way is not None
    assert len(way.pipeline.steps) == 3
    standard = (x - x.mean(0)) / x.std(0)
    weights = column_weights(standard, answers, np.arange(5))
    expected = np.square((standard[:50, None] - standard[None, 50:100]) * np.sqrt(weights)).sum(-1)
    found = np.square(way.items[:50, None] - way.items[None, 50:100]).sum(-1)
    np.testing.assert_allclose(found / expected, found.mean() / expected.mean(), rtol=1e-5)
    np.testing.assert_allclose(prepared(way.pipeline, table[:3]), way.items[:3], atol=1e-9)


def test_weights_that_hardly_change_distances_are_no_further_preparation() -> None:
    _, answers = _problem(5, 3, [1, 1, 1])
    everything = np.random.default_rng(0).normal(size=(200, 3))
    assert _weighted(everything, answers) is None
    assert _weighted(np.ones((200, 3)), answers) is None
    assert _weighted(everything[:, :1], answers) is None
    two = PairAnnotations.from_arrays(np.array([0]), np.array([1]), np.array([0]), np.array([1]), num_items=2)
    assert _weighted(np.array([[0.0, 1.0], [2.0, 0.0]]), two) is None


def test_a_category_has_one_weight() -> None:
    x, answers = _problem(6, 1500, [2, 0], num_items=1500)
    town = np.random.default_rng(1).integers(9, size=len(x))
    table = np.c_[x[:, 0], np.eye(9)[town], x[:, 1]]
    np.testing.assert_array_equal(first_columns(table), [0, 1, 10])
    weights = column_weights(ColumnScaler().fit_transform(table), answers, first_columns(table))
    assert len(set(weights[1:10])) == 1
    assert weights[0] > 1 > 0.4 > weights[1:].max()
    places = np.searchsorted(answers.annotated, [answers.i, answers.j])
    way = _weighted(table, replace(answers, num_items=len(x), i=places[0], j=places[1]))
    assert way is not None
    np.testing.assert_allclose(way.pipeline[1].weights, weights)
