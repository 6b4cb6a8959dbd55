"""What all methods have in common."""

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from threadpoolctl import threadpool_info

import semicrowd
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods import METHODS, NAMES, method
from semicrowd.methods.unsupervised import KMeansOnly

Problem = tuple[np.ndarray, PairAnnotations]


def test_fit_labels_every_item_and_leaves_its_input_alone(
    name: str, fitted: CrowdClusterer, problem: Problem
) -> None:
    features, pairs = problem
    assert fitted.labels_.shape == (60,)
    assert fitted.labels_.dtype == np.int64
    assert len(np.unique(fitted.labels_)) == fitted.n_clusters_
    if "n_clusters" in fitted.get_params():
        assert set(np.unique(fitted.labels_)) <= {0, 1, 2}
        assert fitted.n_clusters_ == 3
    again, given = clone(fitted), features.copy()
    assert again.fit(given, pairs) is again
    assert np.array_equal(given, features)
    assert np.array_equal(again.labels_, fitted.labels_)
    assert hasattr(fitted, "predict") == (name not in {"crowd_only", "hmm", "ihmm", "dih_s", "dih_l"})
    if hasattr(fitted, "predict"):
        assert np.array_equal(fitted.predict(features), fitted.result_.features.cluster)


def test_annotators_in_a_table(quick: Callable[..., CrowdClusterer], problem: Problem) -> None:
    features, pairs = problem
    pairs = replace(pairs, worker_names=tuple("abcde"))
    model = quick("crowd_only").fit(features, pairs)
    assert model.workers_["annotator"].tolist() == list("abcde")
    assert model.workers_["pairs"].tolist() == [80] * 5
    assert model.workers_["sensitivity"].to_numpy() == pytest.approx(model.sensitivity_)
    assert quick("kmeans").fit(features, pairs).workers_ is None


@pytest.mark.filterwarnings("ignore:y. labels of items are not used")
def test_answers_are_needed_or_not(name: str, fitted: CrowdClusterer, problem: Problem) -> None:
    features = problem[0]
    labels = np.arange(60) % 3
    if fitted.requires_answers:
        for nothing in (None, labels, pd.Series(labels)):
            with pytest.raises(UserError, match="needs answers about the items"):
                clone(fitted).fit(features, nothing)
    elif name in ("bayes", "scdc", "cotrain", "ckm", "slpd", "deep_dpm"):  # they listen to answers; labels are none
        alone = clone(fitted).fit(features).labels_
        assert np.array_equal(clone(fitted).fit(features, labels).labels_, alone)
    else:
        assert np.array_equal(clone(fitted).fit(features, labels).labels_, fitted.result_.features.cluster)


@pytest.mark.parametrize("name", ["mcvc", "cspa", "constrained_kmeans", "gmm"])
def test_seeds(quick: Callable[..., CrowdClusterer], problem: Problem, name: str) -> None:
    one, other, same = (quick(name, random_state=seed).fit(*problem) for seed in (3, 4, np.int64(3)))
    assert one.seed_ == same.seed_ == 3
    assert other.seed_ == 4
    assert np.array_equal(one.labels_, same.labels_)
    drawn = [quick(name, random_state=np.random.RandomState(5)).fit(*problem) for _ in range(2)]
    assert drawn[0].seed_ == drawn[1].seed_
    assert np.array_equal(drawn[0].labels_, drawn[1].labels_)
    assert quick(name, random_state=None).fit(*problem).seed_ != quick(name, random_state=None).fit(*problem).seed_
    for wrong in (-1, 1.5, 2**32):
        with pytest.raises(ValueError, match="random_state"):
            quick(name, random_state=wrong).fit(*problem)


def documented(kind: type) -> dict[str, list[str]]:
    """Names under each heading of a class's docstring, and those of the class to which it refers for the rest."""
    text = inspect.getdoc(kind) or ""
    parts = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    names = {
        heading: [name.strip() for line in re.findall(r"^(\w.*?) : ", body, re.MULTILINE) for name in line.split(",")]
        for heading, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    for heading in ("Parameters", "Attributes"):
        if other := re.search(rf"{heading}[^.]* (?:is|are) those of\s+:class:`(\w+)`", text, re.IGNORECASE):
            more = documented(getattr(semicrowd, other[1]))[heading]
            names[heading] = [*names.get(heading, []), *more]
    return names


def test_signature_constraints_and_docstring_have_the_same_parameters(name: str, fitted: CrowdClusterer) -> None:
    kind: Any = type(fitted)
    signature = inspect.signature(kind)
    described = documented(kind)
    own = {one for one in described["Parameters"] if one in signature.parameters}
    assert own == set(signature.parameters)
    assert set(signature.parameters) <= kind._parameter_constraints.keys()
    attributes = [one for base in (kind, *kind.__mro__) for one in documented(base).get("Attributes", [])]
    assert {one for one in vars(fitted) if one.endswith("_") and not one.startswith("_")} <= set(attributes)
    with pytest.raises(TypeError):
        kind(3, 4)  # all but the number of clusters by name


def test_a_parameter_of_another_kind_is_refused_by_name(name: str, problem: Problem) -> None:
    kind = method(name)
    for one in inspect.signature(kind).parameters.keys() - {"memory", "verbose"}:
        with pytest.raises(ValueError, match=one):
            kind(**{one: "no such word"}).fit(*problem)


def test_parameters_that_do_not_go_together(quick: Callable[..., CrowdClusterer], problem: Problem) -> None:
    with pytest.raises(UserError, match="n_clusters=61"):
        quick("cspa", n_clusters=61).fit(*problem)
    with pytest.raises(UserError, match=r"n_sweeps=14.*n_kept=3.*n_warm=12"):
        quick("ddpm_l", n_sweeps=14, n_kept=3, n_warm=12).fit(*problem)
    with pytest.raises(UserError, match="image_shape"):
        quick("cotrain", image_shape=(2, 2)).fit(*problem)


def test_the_parameters_that_were_used_and_the_course_of_the_fit(name: str, fitted: CrowdClusterer) -> None:
    left_out = {"random_state", "verbose", "trainer", "memory", "n_jobs"}
    used, given = fitted.params_, fitted.get_params()
    assert used.keys() - left_out <= given.keys()
    assert all(used[one] == given[one] for one in used if given[one] is not None)
    assert isinstance(used.get("standardize", False), bool)
    epochs = [row["epoch"] for row in fitted.history_]
    assert epochs == sorted(set(epochs))
    assert all(isinstance(value, int | float) for row in fitted.history_ for value in row.values())
    iterative = {"bayes", "scdc", "mcvc", "deep_mcvc", "slpd", "dpm", "ddpm_s", "ddpm_l", "mmgm", "ihmm", "dih_s",
                 "dih_l", "deep_dpm", "constrained_kmeans", "mpckmeans", "dp_means", "gmeans", "hmm"}  # fmt: skip
    assert bool(epochs) == (name in iterative)


@pytest.mark.parametrize("plain", ["mcvc", "dpm", "cotrain"])
def test_progress_is_shown_on_the_error_stream_if_asked_for(
    plain: str, quick: Callable[..., CrowdClusterer], problem: Problem, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORCE_COLOR", "1")  # as on a terminal
        quick(plain, verbose=True).fit(problem[0], None if plain == "cotrain" else problem[1])
    shown = capsys.readouterr()
    assert shown.err
    assert not shown.out


def test_a_fit_has_one_thread(problem: Problem) -> None:
    """And the caller as many as before."""
    seen = []

    class Watched(KMeansOnly):
        def _learn(self, features: np.ndarray) -> None:
            seen.append({one["num_threads"] for one in threadpool_info()} | {torch.get_num_threads()})
            super()._learn(features)

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        Watched(3).fit(*problem)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == [{1}]


@pytest.mark.filterwarnings("ignore:Number of distinct clusters", "ignore:Best performing initialization")
def test_items_that_are_all_alike_end_soon(name: str, estimator: CrowdClusterer, problem: Problem) -> None:
    same = np.ones((60, 3))
    if name == "mpckmeans":
        with pytest.raises(UserError, match="X: mean variance 0"):
            estimator.fit(same, problem[1])
    else:
        assert estimator.fit(same, problem[1]).labels_.shape == (60,)


def test_the_package_names_every_method_and_loads_none() -> None:
    others = {"PairAnnotations", "UnreliableResultWarning", "UserError", "load", "match_labels", "read_answers",
              "write_report"}  # fmt: skip
    assert {*NAMES, *others} == set(semicrowd.__all__)
    for name in METHODS:
        assert getattr(semicrowd, method(name).__name__) is method(name)
    with pytest.raises(AttributeError, match="Nothing"):
        _ = semicrowd.Nothing
    code = (
        "import sys, semicrowd, semicrowd.methods, os;"
        "print([m for m in ('torch', 'sklearn', 'pandas', 'scipy') if m in sys.modules], os.environ['OMP_WAIT_POLICY'])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split("\n")[0] == "[] passive"


@pytest.mark.parametrize("kind", ["SCDC", "BayesSCDC", "CoTraining", "KMeansOnly", "DPM", "DeepDPM", "SLPD"])
def test_examples_run(kind: str) -> None:
    found = doctest.DocTestFinder(recurse=False).find(getattr(semicrowd, kind), globs={})
    results = [doctest.DocTestRunner().run(one) for one in found]
    assert sum(one.attempted for one in results) > 3
    assert not any(one.failed for one in results)
