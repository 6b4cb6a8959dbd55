"""Fits that go on from the clusters of an earlier one."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from semicrowd import SCDC, CoTraining
from semicrowd.crowd import simulate
from semicrowd.errors import UserError
from semicrowd.estimators import ESTIMATORS
from semicrowd.starts.initial_clusters import EARLIER
from semicrowd.starts.portfolio import Portfolio

#: It does not matter here in how many parts a candidate is fitted again.
pytestmark = pytest.mark.usefixtures("few_folds")

X, KIND = make_blobs(120, 3, centers=4, cluster_std=1.0, random_state=3)
ANSWERS = simulate.two_coin(KIND, np.random.default_rng(0), num_annotators=4, pairs_per_annotator=200, num_annotated=60)
#: Numbers that no fit would choose by itself.
NUMBERS = np.array([5, 2, 0, 3])


@pytest.mark.usefixtures("quick_cotraining")
@pytest.mark.parametrize(
    "model",
    [CoTraining(random_state=0), SCDC(n_clusters=8, epochs=1, random_state=0, settings={"start.teach_epochs": 40})],
    ids=["cotrain", "scdc"],
)
def test_clusters_keep_their_numbers_and_new_items_have_them_too(model: Any) -> None:
    previous = np.where(np.arange(120) < 100, NUMBERS[KIND], -1)
    model.fit(X, pairs=ANSWERS, previous=previous)
    assert adjusted_rand_score(KIND, model.labels_) > 0.9
    assert (model.labels_ == NUMBERS[KIND]).mean() > 0.95
    assert (model.predict(X) == model.labels_).mean() > 0.95
    assert model._previous is None, "it is forgotten after the fit"


def test_an_earlier_fit_of_a_sparse_matrix_is_continued() -> None:
    model = CoTraining(random_state=0).fit(csr_array(X), previous=NUMBERS[KIND])
    assert (model.labels_ == NUMBERS[KIND]).mean() > 0.9


@pytest.mark.usefixtures("few_steps")
def test_co_training_begins_with_the_earlier_clusters_too() -> None:
    previous = np.where(np.arange(120) < 100, NUMBERS[KIND], -1)
    made = Portfolio(X, ANSWERS, 0, lambda _: None, previous=previous)
    clusters, preparations = made.initial()[EARLIER]
    assert adjusted_rand_score(KIND[ANSWERS.annotated], clusters()) > 0.9, "new items as their nearest neighbours"
    assert preparations == list(made.prepared)


@pytest.mark.usefixtures("quick_cotraining")
def test_numbers_are_kept_even_where_they_are_larger_than_the_number_of_clusters() -> None:
    model = SCDC(n_clusters=4, epochs=1, random_state=0, settings={"start.teach_epochs": 40})
    model.fit(X, pairs=ANSWERS, previous=NUMBERS[KIND])
    assert (model.labels_ == NUMBERS[KIND]).mean() > 0.95
    assert (model.predict(X) == model.labels_).mean() > 0.95
    assert model.predict_proba(X).shape == (120, len(model.cluster_weights_))
    unused = np.setdiff1d(np.arange(len(model.cluster_weights_)), NUMBERS)
    assert not model.cluster_weights_[unused].any()
    assert np.isnan(model.generate(1)[unused]).all()


@pytest.mark.usefixtures("quick_cotraining")
@pytest.mark.parametrize("name", ["scdc", "bayes", "cotrain"])
def test_clusters_have_numbers_by_size_everywhere(name: str) -> None:
    """In labels_, predict, predict_proba, and of SCDC in cluster_weights_ and generate; in the file, too."""
    rows = np.concatenate([np.flatnonzero(kind == KIND)[: 8 + 6 * kind] for kind in range(4)])
    features, kinds = X[rows], KIND[rows]
    answers = simulate.two_coin(kinds, np.random.default_rng(0), num_annotators=4, pairs_per_annotator=200,
                                num_annotated=40)  # fmt: skip
    more = {} if name == "cotrain" else {"n_clusters": 8, "epochs": 1, "settings": {"start.teach_epochs": 40}}
    model = ESTIMATORS[name](random_state=0, **more).fit(features, pairs=answers)
    assert (model.labels_ == 3 - kinds).mean() > 0.9
    assert np.bincount(model.labels_).tolist() == sorted(np.bincount(model.labels_), reverse=True)
    assert (model.predict(features) == model.labels_).mean() > 0.9
    assert np.array_equal(model.predict_proba(features).argmax(1), model.predict(features))
    assert np.array_equal(model.result_.features.cluster, model.predict(features))
    if name == "cotrain":
        assert (model.memberships_.argmax(1) == model.predict(features)).mean() > 0.9
        return
    share = np.bincount(model.labels_, minlength=len(model.cluster_weights_)) / len(features)
    assert model.cluster_weights_ == pytest.approx(share, abs=0.1)
    centre = np.array([features[kinds == 3 - number].mean(0) for number in range(4)])
    assert np.linalg.norm(model.generate(100)[:4].mean(1) - centre, axis=1).max() < 3


def test_an_earlier_fit_is_found_by_names_in_any_order() -> None:
    frame = pd.DataFrame(X, index=[f"item {row}" for row in range(120)], columns=["a", "b", "c"])
    previous = pd.Series(NUMBERS[KIND], index=frame.index).iloc[:90].sample(frac=1, random_state=0)
    model = CoTraining(random_state=0).fit(frame, previous=previous)
    assert (model.labels_ == NUMBERS[KIND]).mean() > 0.9


def test_clusters_keep_their_numbers_without_answers_too() -> None:
    model = CoTraining(random_state=0).fit(X, previous=NUMBERS[KIND])
    assert (model.labels_ == NUMBERS[KIND]).mean() > 0.9
    assert (model.predict(X) == model.labels_).mean() > 0.9


def test_the_docstring_of_fit_has_all_parameters_in_their_order() -> None:
    names = re.findall(r"^ {8}(\w+) : ", CoTraining.fit.__doc__ or "", re.M)
    assert names == ["X", "y", "pairs", "sample_weight", "previous", "monitor"]


@pytest.mark.slow
def test_an_earlier_fit_whose_answers_these_are_is_no_confirmation() -> None:
    """Annotators who guess: clusters that fit their answers by accident must not win because they come again."""
    rng = np.random.default_rng(1)
    noise, guesses = rng.normal(size=(60, 3)), simulate.two_coin(
        np.arange(60) % 3, rng, num_annotators=4, pairs_per_annotator=60, num_annotated=None, sensitivity=0.5,
        specificity=0.5,
    )  # fmt: skip
    first, _ = Portfolio(noise, guesses, 0, lambda _: None).winner()
    earlier = np.full(60, -1)
    earlier[guesses.annotated] = first.clusters
    _, verdict = Portfolio(noise, guesses, 0, lambda _: None, previous=earlier).winner()
    assert verdict.winner != EARLIER


@pytest.mark.usefixtures("quick_cotraining")
def test_clusters_that_are_found_without_the_earlier_fit_too_remain_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Portfolio(X, ANSWERS, 0, lambda _: None, previous=KIND)
    start = made.initial()[EARLIER]
    monkeypatch.setattr(made, "initial", lambda: {EARLIER: start, "the same": start})
    _, verdict = made.winner()
    assert {EARLIER, "the same"} <= set(verdict.table["candidate"])


@pytest.mark.parametrize(
    ("previous", "said"),
    [
        (np.zeros(3), r"shape \(3,\); expected \[120\]"),
        (np.full(120, 0.5), "expected whole numbers"),
        (np.full(120, -2), "expected whole numbers"),
        (np.full(120, 7000), "cluster 7000 of 120 items"),
        (np.full(120, np.inf), "cluster inf of 120 items"),
        (["a"] * 120, "expected whole numbers"),
        (pd.Series(0, index=[f"item {row}" for row in range(120)]), "rows of X have none"),
    ],
)
def test_what_is_no_earlier_fit_is_refused(previous: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        CoTraining().fit(X, pairs=ANSWERS, previous=previous)
