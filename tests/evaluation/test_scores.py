"""The scores of a result whose truth is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data import Dataset
from semicrowd.evaluation.scores import Likeliest, score
from semicrowd.figures.images import cluster_images
from semicrowd.result import Assignment, Restarts, Result, Verdict

LABELS = np.array([0, 0, 0, 1, 1, 1], np.int64)
#: Clusters of three restarts: all in one, one item wrong, all right. The second has the highest ELBO.
RESTARTS = Restarts(
    np.array([-3.0, -1.0, -2.0]), 1, np.array([[2, 2, 2, 2, 2, 2], [0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]])
)
_SHAPES = np.array([[[1.0, 1.0], [1.0, 1.0]], [[8.0, 2.0], [3.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]])
#: Three clusters, of the best restart; the answers move item 2 to its class.
FOUND = Result(
    3, Assignment.hard(np.array([0, 0, 0, 1, 1, 1])), Assignment.hard(RESTARTS.clusters[1]),
    WorkerPosterior(_SHAPES, _SHAPES[:, ::-1]), restarts=RESTARTS,
)  # fmt: skip


def five_annotators() -> Result:
    """Posterior means of sensitivity .6 .9 .7 .8 .5 and of specificity .5 .5 .5 .5 .8 in the best restart."""
    sensitivity, specificity = np.ones((3, 5, 2)), np.ones((3, 5, 2))
    sensitivity[1] = [[6, 4], [9, 1], [7, 3], [8, 2], [5, 5]]
    specificity[1, 4] = [8, 2]
    return replace(FOUND, workers=WorkerPosterior(sensitivity, specificity))


def data(labels: np.ndarray | None = LABELS) -> Dataset:
    return Dataset("known", np.zeros((6, 2), np.float32), labels)


def answers() -> PairAnnotations:
    return PairAnnotations.from_arrays(
        [1, 2], [2, 3], [0, 1], [1, 0], num_items=6, true_sensitivity=[0.9, np.nan], true_specificity=[0.7, 0.7]
    )


def test_every_number_is_of_the_best_restart_and_the_labels_choose_nothing() -> None:
    result = score(FOUND, data(), None)
    assert result.scores["restart/best"] == 1
    assert result.scores["elbo/train"] == -1
    assert result.scores["train/acc"] == pytest.approx(5 / 6)
    assert result.scores["restart/oracle_acc"] == 1
    assert result.restart_scores["oracle_acc"] == pytest.approx([0.5, 5 / 6, 1])
    assert result.restart_scores["clusters_used"].tolist() == [1, 2, 2]
    sizes = np.array([2, 4]) / 6
    assert result.scores["clusters/effective"] == pytest.approx(np.exp(-(sizes * np.log(sizes)).sum()))


def test_without_labels_their_scores_are_left_out() -> None:
    result = score(FOUND, data(None), answers())
    assert set(result.scores) == {
        "clusters/occupied", "clusters/used", "clusters/effective", "elbo/train", "restart/best",
        "workers/sensitivity_mae", "workers/specificity_mae", "workers/sensitivity_coverage",
        "workers/specificity_coverage",
    }  # fmt: skip
    assert np.isnan(result.restart_scores["oracle_acc"]).all()


def test_annotated_items_are_scored_with_their_answers_and_training_items_without() -> None:
    result = score(FOUND, data(), answers())
    assert result.scores["annotated/acc"] == 1
    assert result.scores["train/acc"] == pytest.approx(5 / 6)  # from the features alone
    assert result.scores["final/acc"] == 1  # with all that is known of each


def test_a_method_without_restarts_has_no_scores_of_them_and_a_test_split_its_own() -> None:
    known = replace(data(), test_features=np.zeros((2, 2), np.float32), test_labels=np.array([0, 1]))
    result = score(replace(FOUND, restarts=None, workers=None), known, None, Assignment.hard(np.array([1, 1])))
    assert result.restart_scores == {}
    assert result.scores["test/acc"] == 0.5
    assert result.scores["restart/best"] == 0
    assert "elbo/train" not in result.scores


def test_workers_are_those_of_the_best_restart_and_unknown_truth_is_left_out() -> None:
    result = score(FOUND, data(), answers())
    assert result.workers["sensitivity"].tolist() == pytest.approx([0.8, 0.75])
    assert result.workers["pairs"].tolist() == [1, 1]
    assert result.workers["weight"][0] == pytest.approx(np.log(0.8 / 0.2) + np.log(0.75 / 0.25))
    assert result.scores["workers/sensitivity_mae"] == pytest.approx(0.1)
    assert result.scores["workers/specificity_mae"] == pytest.approx((0.05 + 0.1) / 2)


def answers_of_five(sensitivity: list[float], specificity: list[float]) -> PairAnnotations:
    return PairAnnotations.from_arrays(
        [0] * 5, [1] * 5, range(5), [1] * 5, num_items=6, true_sensitivity=sensitivity, true_specificity=specificity
    )


def test_ranks_are_those_of_the_annotators_who_err() -> None:
    # Those who err: .6 .9 .7 estimated of .5 .8 .9: ranks 1 3 2 of 1 2 3, so that 1 - 6 (0 + 1 + 1) / (3 · 8).
    known = answers_of_five([0.5, 0.8, 0.9, 1.0, np.nan], [0.1, 0.2, 0.3, 0.4, 0.9])
    scores = score(five_annotators(), data(), known).scores
    assert scores["workers/sensitivity_rank"] == pytest.approx(0.5)
    assert scores["workers/sensitivity_mae"] == pytest.approx((0.1 + 0.1 + 0.2 + 0.2) / 4)
    # Estimates .5 .5 .5 .5 .8 have ranks 2.5 (four times) and 5.
    expected = np.corrcoef([2.5, 2.5, 2.5, 2.5, 5], [1, 2, 3, 4, 5])[0, 1]
    assert scores["workers/specificity_rank"] == pytest.approx(expected)


def test_answers_that_there_are_compare_with_what_is_right_in_them() -> None:
    """Three annotators of pairs of items 0, 1, 2, of one kind, and 3; by q item 2 is with item 3 at three quarters."""
    q = np.array([[1, 0], [1, 0], [0.25, 0.75], [0, 1], [0, 1], [0, 1]])
    known = PairAnnotations.from_arrays(
        [0, 0, 1, 2, 0, 0, 1], [1, 2, 2, 3, 2, 3, 3], [0, 0, 1, 1, 2, 2, 2], [1, 0, 1, 1, 1, 0, 1], num_items=6
    )
    found = replace(five_annotators(), final=Assignment.of(q), restarts=None)
    quality = np.full((1, 3, 2), 5.0)
    labels = np.array([0, 0, 0, 1, 1, 1])
    result = score(replace(found, workers=WorkerPosterior(quality, quality)), data(labels), known)
    # Pairs of one kind: of the first (0, 1) right, (0, 2) wrong: 1 of 1.25; of the second .25 and .75 right; of the
    # third .25 of a pair, which is less than half of one.
    assert result.workers["observed_sensitivity"].tolist() == pytest.approx([1 / 1.25, 1.0, np.nan], nan_ok=True)
    # Of two kinds: (0, 2) right at .75; (1, 2) and (2, 3) wrong; (0, 2) wrong at .75, (0, 3) right, (1, 3) wrong.
    assert result.workers["observed_specificity"].tolist() == pytest.approx([1.0, 0.0, 1 / 2.75])
    # In truth: (0, 1) right and (0, 2) wrong; (1, 2) right. And: none; (2, 3) wrong; one of two right.
    assert result.scores["workers/observed_sensitivity_mae"] == pytest.approx(0.3 / 2)
    assert result.scores["workers/observed_specificity_mae"] == pytest.approx((0.5 - 1 / 2.75) / 2)
    assert "workers/sensitivity_mae" not in result.scores  # what they are in the long run is not known
    # All in one cluster: there is no pair of two kinds.
    one = replace(found, final=Assignment.hard(np.zeros(6)), workers=WorkerPosterior(quality, quality))
    assert not any("observed_specificity" in name for name in score(one, data(labels), known).scores)


def _found() -> tuple[Assignment, np.ndarray]:
    """Clusters 3, 0 and 5 of 60, 30 and 4 images; 6 has one of two hundred and one in the mean."""
    rng = np.random.default_rng(0)
    cluster = np.repeat([3, 0, 5, 6], [500, 300, 4, 1])
    order = rng.permutation(len(cluster))
    return Assignment(cluster[order], rng.random(len(cluster))), rng.random((len(cluster), 12)).astype(np.float32)


def test_each_cluster_in_use_shows_its_ten_likeliest_images_the_largest_cluster_first() -> None:
    assignment, images = _found()
    found = Likeliest.of(assignment, images)
    assert found.clusters.tolist() == [3, 0]  # the others have less than one image of two hundred
    np.testing.assert_allclose(found.share, [500 / 805, 300 / 805])
    for row, k in enumerate(found.clusters):
        own = np.flatnonzero(assignment.cluster == k)
        best = sorted(own.tolist(), key=lambda item: -assignment.probability[item])[:10]
        np.testing.assert_array_equal(found.images[row], images[best])
        np.testing.assert_array_equal(found.probability[row], assignment.probability[best])


def test_a_small_cluster_has_white_places_and_without_probabilities_the_first_images_come_first() -> None:
    found = Likeliest.of(Assignment(np.array([0, 0, 1]), np.array([0.5, 0.9, 1.0])), np.zeros((3, 4), np.float32))
    assert found.probability[0, :2].tolist() == [0.9, 0.5]
    assert np.isnan(found.probability[0, 2:]).all()
    assert found.images[0].tolist() == [[0.0] * 4] * 2 + [[1.0] * 4] * 8
    hard = Likeliest.of(Assignment.hard(np.zeros(30, int)), np.arange(30.0)[:, None] / 30)
    assert hard.images[0, :, 0].tolist() == (np.arange(10.0) / 30).astype(np.float32).tolist()


def test_they_come_back_from_a_run_and_are_drawn(tmp_path: Path) -> None:
    assert Likeliest.read(tmp_path) is None
    found = Likeliest.of(*_found())
    found.write(tmp_path)
    again = Likeliest.read(tmp_path)
    np.testing.assert_array_equal(again.clusters, found.clusters)
    np.testing.assert_allclose(again.images, found.images, atol=1e-3)
    figure = cluster_images(again.images, again.clusters, again.share, (3, 2, 2), "a title")
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert [name.split(":")[0] for name in names] == ["cluster 3", "cluster 0"]
    picture = figure.axes[0].images[0].get_array()
    # A pixel of grey between images of two by two.
    first = np.asarray(picture)[1:3, 1:3].transpose(2, 0, 1).ravel()
    assert first == pytest.approx(found.images[0, 0], abs=1e-3)


def test_evidence_and_probable_numbers_of_clusters_are_scores() -> None:
    posterior = pd.DataFrame({"clusters": [1, 2, 3], "probability": [0.001, 0.2, 0.799], "evidence": [0.0, 5.0, 6.0]})
    table = pd.DataFrame({"candidate": ["one"], "clusters": [3], "evidence": [12.5], "behind": 0.0, "agreement": 1.0})
    known = replace(FOUND, verdict=Verdict("one", table, posterior, 12.5, 2, 3), posterior=posterior)
    added = score(known, data(), None).scores.items() - score(FOUND, data(), None).scores.items()
    assert added == {("answers/evidence", 12.5), ("clusters/probability_2", 0.2), ("clusters/probability_3", 0.799)}
