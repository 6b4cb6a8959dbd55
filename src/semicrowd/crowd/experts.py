"""Simulated experts: classifiers trained on few labels, of some classes almost none, with random answers added.

The protocol is that of *Uncertainty-aware probabilistic constrained clustering from entangled pairwise supervision*
(Zhang & Chen 2026, arXiv 2608.12027, Appendices C.3 and C.5, ``multi3`` with the default settings). There an expert's
answer is a number between 0 and 1; here it is thresholded at one half, because people answer yes or no.
"""

import warnings
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.questions import annotated_items, check_enough, pair_of_number
from semicrowd.errors import UserError
from semicrowd.settings.realistic import ExpertsSettings

#: Units of the two hidden layers of an expert's network.
_HIDDEN = (512, 512)
#: Batch size of its training.
_BATCH = 256
#: Maximal number of training epochs.
_EPOCHS = 100
#: Training stops after this number of epochs without improvement.
_PATIENCE = 10


def experts(features: np.ndarray, labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Each expert answers random pairs with a classifier of its own.

    The probability of the same class is Σ_k p_k(a) p_k(b), with the classifier's probabilities p of the items a and b.
    A share of these values is replaced by uniform random numbers on [0, 1]. The answer is "same" for values above ½.

    Parameters
    ----------
    features : [N, D] input of the classifiers, without missing values
    labels : [N] true classes
    options : see :class:`semicrowd.settings.realistic.ExpertsSettings`; pairs and annotated items are drawn uniformly;
        the training items of an expert are drawn from all items. The true rates are computed from the answers
    """
    s = ExpertsSettings(**options)
    kinds, code = np.unique(labels, return_inverse=True)
    blind = blind_spots(len(kinds), s.num_annotators)
    items = annotated_items(len(labels), s.num_annotated, rng)
    available, count = len(items) * (len(items) - 1) // 2, s.pairs_per_annotator
    check_enough("pairs", available, count, len(items))
    i, j, value = [], [], []
    for spot in blind:
        first, second = (items[ends] for ends in pair_of_number(rng.choice(available, count, replace=False)))
        chosen = learnt(code, spot, s.familiar, s.unfamiliar, rng)
        seen = _seen(features, code, chosen, np.concatenate([first, second]), int(rng.integers(2**31)))
        compared = np.sum(seen[:count] * seen[count:], axis=1)
        i.append(first)
        j.append(second)
        value.append(np.where(rng.random(count) < s.corrupted, rng.random(count), compared))
    return PairAnnotations.from_arrays(
        np.concatenate(i), np.concatenate(j), np.repeat(np.arange(s.num_annotators), count),
        np.concatenate(value) > 0.5, num_items=len(labels), simulated=True, source="experts (simulated)",
    ).with_true_rates(labels)  # fmt: skip


def blind_spots(num_kinds: int, num_experts: int) -> list[np.ndarray]:
    """Unfamiliar classes of each expert: consecutive classes, in parts of nearly equal size.

    Raises
    ------
    UserError
        If there are fewer classes than experts.
    """
    if num_kinds < num_experts:
        raise UserError(
            f"annotations=experts: {num_experts} experts, {num_kinds} classes; expected at least one class for each "
            "expert"
        )
    return np.array_split(np.arange(num_kinds), num_experts)


def learnt(
    code: np.ndarray, spot: np.ndarray, familiar: float, unfamiliar: float, rng: np.random.Generator
) -> np.ndarray:
    """Training items of an expert: of each class a share, rounded down, but at least one item."""
    chosen = []
    for kind in range(int(code.max()) + 1):
        members = np.flatnonzero(code == kind)
        number = max(int((unfamiliar if kind in spot else familiar) * len(members)), 1)
        chosen.append(rng.choice(members, number, replace=False))
    return np.concatenate(chosen)


def _seen(features: np.ndarray, code: np.ndarray, chosen: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
    """[n, K] class probabilities of the items ``asked``, by a network trained on the items ``chosen``."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        _HIDDEN, batch_size=min(_BATCH, len(chosen)), max_iter=_EPOCHS, n_iter_no_change=_PATIENCE, random_state=seed
    )
    with warnings.catch_warnings():
        # The number of epochs is part of the protocol, so training may end before convergence.
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(features[chosen], code[chosen])
    probabilities: np.ndarray = network.predict_proba(features[asked])
    return probabilities
