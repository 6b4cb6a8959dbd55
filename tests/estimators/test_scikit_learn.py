"""scikit-learn's own checks of every estimator.

Its tables come without answers, which most methods need: they get the answers of two careful annotators about the
groups that k-means finds in the table. Everything else is the method's own surface.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import check_array, estimator_checks
from sklearn.utils._testing import assert_allclose, assert_allclose_dense_sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from semicrowd.methods import METHODS, method

#: Short fits of the slow ones.
_STEPS = {"n_restarts": 3, "n_steps": 40}
_SWEEPS = {"n_chains": 2, "n_sweeps": 4, "n_kept": 1}
_PLANES = _SWEEPS | {"n_warm": 1}
_GENERATIVE = {"epochs": 1, "batch_size": 20, "init_epochs": 1, "teach_epochs": 1, "hidden": (16,)}
QUICK: dict[str, dict[str, Any]] = {
    "mcvc": _STEPS, "deep_mcvc": _STEPS, "bayes": _GENERATIVE, "scdc": _GENERATIVE,
    "dpm": _SWEEPS, "ihmm": _SWEEPS, "mmgm": _PLANES,
    # A new cluster's hyperplane given that no item is in it (new="corrected", the default) takes ten times
    # the rest; test_every_method fits with it.
    **{name: _PLANES | {"new": "paper"} for name in ("ddpm_s", "ddpm_l", "dih_s", "dih_l")},
    "deep_dpm": {"n_warm": 1, "n_epochs": 2, "n_steps": 2},
    "slpd": {"n_restarts": 2},
}  # fmt: skip
#: Checks that compare probabilities to 1e-7, after a permutation that is drawn anew in every run and by parts of the
#: items, and what those in float32 may differ by: rounding, which depends on where in which batch an item stands.
ORDER, SUBSETS, ROUNDING = "check_methods_sample_order_invariance", "check_methods_subset_invariance", 1e-5

#: Checks of the input, of parameters and of attributes, which only reach code of the common base class.
OF_THE_BASE_CLASS = frozenset(
    f"check_{name}" for name in (
        "complex_data", "dtype_object", "estimators_dtypes", "estimators_empty_data_messages", "estimators_nan_inf",
        "f_contiguous_array_estimator", "readonly_memmap_input", "fit1d", "fit2d_predict1d", "n_features_in",
        "n_features_in_after_fitting", "estimator_sparse_tag", "estimator_sparse_array", "estimator_sparse_matrix",
        "pipeline_consistency", "fit_score_takes_y", "estimators_overwrite_params", "dont_overwrite_parameters",
        "dict_unchanged", "estimators_fit_returns_self", "fit_check_is_fitted",
    )
)  # fmt: skip
ONE_OF_EACH_KIND = ("KMeansOnly", "ConstrainedKMeans", "HMM", "DPM", "MCVC", "SLPD", "CoTraining", "SCDC", "DeepDPM")


def _answers(X: Any) -> np.ndarray | None:
    """Answers i, j, worker, label about the rows of a table; of what is none, nothing: X is what is refused."""
    try:
        table = check_array(X, ensure_min_samples=2)
    except (TypeError, ValueError):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        groups = KMeans(min(3, len(table)), n_init=3, random_state=0).fit_predict(table)
    i, j = np.triu_indices(len(groups), 1)
    kept = np.random.default_rng(0).permutation(len(i))[:200]
    i, j = i[kept], j[kept]
    same = groups[i] == groups[j]
    return np.concatenate([np.stack([i, j, np.full(len(i), worker), same], 1) for worker in (0, 1)])


def _two_for_one(self: Any, name: str, value: Any) -> None:
    """Some checks ask for one cluster, which is no clustering and refused: they get two."""
    object.__setattr__(self, name, 2 if name == "n_clusters" and isinstance(value, int) and value == 1 else value)


def _answered(name: str) -> BaseEstimator:
    """The estimator ``name``, whose fit finds answers by itself where it needs some."""
    plain = method(name)
    counted = {"n_clusters": 3} if "n_clusters" in plain().get_params() else {}
    options = counted | QUICK.get(name, {})

    def fit(self: Any, X: Any, y: Any = None) -> Any:
        """As the method's own."""
        return plain.fit(self, X, _answers(X))

    own = {"__setattr__": _two_for_one, "__module__": __name__} | ({"fit": fit} if plain.requires_answers else {})
    # A name of its own: scikit-learn has special parameters for a class that is called AffinityPropagation.
    kind = type(f"{plain.__name__}_", (plain,), own)
    globals()[kind.__name__] = kind  # where pickle looks for it
    return kind(**options)


def _as_close_as_float32(actual: Any, desired: Any, rtol: float = 1e-7, **options: Any) -> None:
    single = np.asarray(actual).dtype == np.float32
    assert_allclose_dense_sparse(actual, desired, rtol=max(rtol, ROUNDING) if single else rtol, **options)


def _nearly_equal(actual: Any, desired: Any, atol: float, **options: Any) -> None:
    single = np.asarray(actual).dtype == np.float32
    assert_allclose(actual, desired, atol=max(atol, ROUNDING) if single else atol, **options)


CHECKS = parametrize_with_checks([_answered(name) for name in METHODS])


def _slow_where_shared(case: Any) -> Any:
    """What the common base class does alone is checked of a method of each kind, and of all by the slow tests."""
    estimator, check = getattr(case, "values", case)
    if check.func.__name__ not in OF_THE_BASE_CLASS or type(estimator).__name__.rstrip("_") in ONE_OF_EACH_KIND:
        return case
    return pytest.param(estimator, check, marks=[*getattr(case, "marks", ()), pytest.mark.slow])


@pytest.mark.filterwarnings("ignore:y. labels of items are not used")
@pytest.mark.parametrize(CHECKS.args[0], [_slow_where_shared(case) for case in CHECKS.args[1]], **CHECKS.kwargs)
def test_scikit_learn(estimator: BaseEstimator, check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if check.func.__name__ == ORDER:
        monkeypatch.setattr(estimator_checks, "assert_allclose_dense_sparse", _as_close_as_float32)
    if check.func.__name__ == SUBSETS:
        monkeypatch.setattr(estimator_checks, "assert_allclose", _nearly_equal)
    monkeypatch.setattr("semicrowd.methods.deep_dpm.estimator.WIDTH", 8)
    check(estimator)


@pytest.mark.parametrize("name", [name for name in METHODS if "n_clusters" in method(name)().get_params()])
def test_one_cluster_is_refused(name: str) -> None:
    X = np.random.default_rng(0).random((20, 3))
    with pytest.raises(ValueError, match="n_clusters"):
        method(name)(n_clusters=1).fit(X, _answers(X))
