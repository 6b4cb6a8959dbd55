"""The evaluation against a model whose answers are known."""

import numpy as np
import pytest
import torch
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.models.posterior import Posterior
from semicrowd.evaluation.scores import evaluate

LABELS = np.array([0, 0, 0, 1, 1, 1], np.int64)
#: Clusters of three restarts: all in one, one item wrong, all right.
CLUSTERS = torch.tensor([[2, 2, 2, 2, 2, 2], [0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0]])


class KnownModel:
    """Three restarts of three clusters; the answers move item 2 of restart 1 to its class."""

    num_clusters = 3

    def __init__(self, elbo: list[float]) -> None:
        self._elbo = torch.tensor(elbo, dtype=torch.float64)

    def elbo(self) -> dict[str, Tensor]:
        return {"total": self._elbo}

    def posterior(self, features: Tensor) -> Posterior:
        clusters = CLUSTERS[:, : len(features)]
        probabilities = 0.7 * torch.nn.functional.one_hot(clusters, 3) + 0.1
        return Posterior(probabilities, torch.zeros(3, len(features), 2) + torch.arange(3)[:, None, None])

    def annotated_posterior(self, features: Tensor, annotations: PairAnnotations) -> Posterior:
        assert len(features) == 6
        clusters = CLUSTERS.clone()
        clusters[1, 2] = 0
        probabilities = 0.94 * torch.nn.functional.one_hot(clusters[:, annotations.annotated], 3) + 0.02
        return Posterior(probabilities, torch.zeros(3, 3, 2))

    def workers(self) -> WorkerPosterior:
        shapes = np.array([[[1.0, 1.0], [1.0, 1.0]], [[8.0, 2.0], [3.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]])
        return WorkerPosterior(shapes, shapes[:, ::-1])


class FiveAnnotators(KnownModel):
    """As it, with posterior means of sensitivity .6 .9 .7 .8 .5 and of specificity .5 .5 .5 .5 .8 in restart 1."""

    def workers(self) -> WorkerPosterior:
        sensitivity, specificity = np.ones((3, 5, 2)), np.ones((3, 5, 2))
        sensitivity[1] = [[6, 4], [9, 1], [7, 3], [8, 2], [5, 5]]
        specificity[1, 4] = [8, 2]
        return WorkerPosterior(sensitivity, specificity)


def data(labels: np.ndarray | None = LABELS) -> Dataset:
    return Dataset("known", np.zeros((6, 2), np.float32), labels)


def answers() -> PairAnnotations:
    return PairAnnotations.from_arrays(
        [1, 2], [2, 3], [0, 1], [1, 0], num_items=6, true_sensitivity=[0.9, np.nan], true_specificity=[0.7, 0.7]
    )


def test_the_best_restart_is_that_of_the_highest_elbo_and_not_of_the_labels() -> None:
    result = evaluate(KnownModel([-3.0, -1.0, -2.0]), data(), None)  # type: ignore[arg-type]
    assert result.found.best == result.scores["restart/best"] == 1
    assert result.scores["elbo/train"] == -1
    assert result.scores["train/acc"] == pytest.approx(5 / 6)
    assert result.scores["restart/oracle_acc"] == 1
    assert result.restart_scores["oracle_acc"] == pytest.approx([0.5, 5 / 6, 1])
    assert result.restart_scores["clusters_used"].tolist() == [1, 2, 2]
    assert (result.found.latent_mean == 1).all()
    sizes = np.array([2, 4]) / 6
    assert result.scores["clusters/effective"] == pytest.approx(np.exp(-(sizes * np.log(sizes)).sum()))
    assert result.found.final.cluster.tolist() == CLUSTERS[1].tolist()
    assert result.found.final.probability == pytest.approx(np.full(6, 0.8))


def test_labels_change_no_choice_and_their_scores_are_left_out_without_them() -> None:
    result = evaluate(KnownModel([-3.0, -1.0, -2.0]), data(None), answers())  # type: ignore[arg-type]
    assert result.found.best == 1
    assert set(result.scores) == {
        "clusters/used", "clusters/effective", "elbo/train", "restart/best",
        "workers/sensitivity_mae", "workers/specificity_mae",
    }  # fmt: skip
    assert np.isnan(result.restart_scores["oracle_acc"]).all()


def test_annotated_items_are_those_of_the_posterior_with_answers() -> None:
    result = evaluate(KnownModel([-3.0, -1.0, -2.0]), data(), answers())  # type: ignore[arg-type]
    assert result.found.features.cluster.tolist() == [0, 0, 1, 1, 1, 1]
    assert result.found.final.cluster.tolist() == [0, 0, 0, 1, 1, 1]
    assert result.found.final.probability == pytest.approx([0.8, 0.96, 0.96, 0.96, 0.8, 0.8])
    assert result.scores["annotated/acc"] == 1
    assert result.scores["train/acc"] == pytest.approx(5 / 6)  # from the features alone
    assert result.scores["final/acc"] == 1  # with all that is known of each


def test_workers_are_those_of_the_best_restart_and_unknown_truth_is_left_out() -> None:
    result = evaluate(KnownModel([-3.0, -1.0, -2.0]), data(), answers())  # type: ignore[arg-type]
    assert result.workers is not None
    assert result.workers.sensitivity == pytest.approx([0.8, 0.75])
    assert result.workers.pairs.tolist() == [1, 1]
    assert result.workers.weight[0] == pytest.approx(np.log(0.8 / 0.2) + np.log(0.75 / 0.25))
    assert result.scores["workers/sensitivity_mae"] == pytest.approx(0.1)
    assert result.scores["workers/specificity_mae"] == pytest.approx((0.05 + 0.1) / 2)


def answers_of_five(sensitivity: list[float], specificity: list[float]) -> PairAnnotations:
    return PairAnnotations.from_arrays(
        [0] * 5, [1] * 5, range(5), [1] * 5, num_items=6, true_sensitivity=sensitivity, true_specificity=specificity
    )


def test_ranks_are_those_of_the_annotators_who_err() -> None:
    # Those who err: .6 .9 .7 estimated of .5 .8 .9: ranks 1 3 2 of 1 2 3, so that 1 - 6 (0 + 1 + 1) / (3 · 8).
    known = answers_of_five([0.5, 0.8, 0.9, 1.0, np.nan], [0.1, 0.2, 0.3, 0.4, 0.9])
    scores = evaluate(FiveAnnotators([-3.0, -1.0, -2.0]), data(), known).scores  # type: ignore[arg-type]
    assert scores["workers/sensitivity_rank"] == pytest.approx(0.5)
    assert scores["workers/sensitivity_mae"] == pytest.approx((0.1 + 0.1 + 0.2 + 0.2) / 4)
    # Estimates .5 .5 .5 .5 .8 have ranks 2.5 (four times) and 5.
    expected = np.corrcoef([2.5, 2.5, 2.5, 2.5, 5], [1, 2, 3, 4, 5])[0, 1]
    assert scores["workers/specificity_rank"] == pytest.approx(expected)


def test_two_who_err_have_no_rank_but_an_error() -> None:
    known = answers_of_five([0.5, 0.8, 1.0, 1.0, np.nan], [np.nan] * 5)
    scores = evaluate(FiveAnnotators([-3.0, -1.0, -2.0]), data(), known).scores  # type: ignore[arg-type]
    assert {name for name in scores if name.startswith("workers/")} == {"workers/sensitivity_mae"}


def test_a_restart_that_diverged_is_never_the_best() -> None:
    nan = float("nan")
    assert evaluate(KnownModel([nan, -5.0, float("inf")]), data(), None).found.best == 1  # type: ignore[arg-type]
    with pytest.raises(UserError, match="training diverged"):
        evaluate(KnownModel([nan, nan, nan]), data(), None)  # type: ignore[arg-type]
