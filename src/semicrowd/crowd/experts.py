"""Simulated experts: networks that were taught few labels, of some kinds next to none; and records of them that slip.

The protocol is that of *Uncertainty-aware probabilistic constrained clustering from entangled pairwise supervision*
(Zhang & Chen 2026, arXiv 2608.12027, Appendices C.3 and C.5, ``multi3`` with the default settings). There an expert's
answer is a number between 0 and 1; here it is cut at one half, as people are asked for yes or no.
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
#: Items of a step of its training.
_BATCH = 256
#: Passes over what an expert learns from, at most.
_EPOCHS = 100
#: Passes without progress that end it earlier.
_PATIENCE = 10


def experts(features: np.ndarray, labels: np.ndarray, rng: np.random.Generator, **options: Any) -> PairAnnotations:
    """Every expert says of random pairs whether their network sees one kind in both items.

    The chance that it does is Σ_k p_k(a) p_k(b) of the network's probabilities. Some records are of no judgement, but
    uniform on [0, 1]. Above one half the answer is "same".

    Parameters
    ----------
    features : [N, D] without missing values, that the networks look at
    labels : [N] true classes
    options : see :class:`semicrowd.settings.realistic.ExpertsSettings`; pairs and annotated items are drawn uniformly,
        what an expert has learnt from is drawn of all items. The true rates are those of the answers, as counted
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
        judged = np.sum(seen[:count] * seen[count:], axis=1)
        i.append(first)
        j.append(second)
        value.append(np.where(rng.random(count) < s.corrupted, rng.random(count), judged))
    return PairAnnotations.from_arrays(
        np.concatenate(i), np.concatenate(j), np.repeat(np.arange(s.num_annotators), count),
        np.concatenate(value) > 0.5, num_items=len(labels), simulated=True, source="experts (simulated)",
    ).judged_by(labels)  # fmt: skip


def blind_spots(num_kinds: int, num_experts: int) -> list[np.ndarray]:
    """Kinds that each expert is blind to: consecutive, as many as any other's, give or take one, the first have more.

    Raises
    ------
    UserError
        Where there are fewer kinds than experts.
    """
    if num_kinds < num_experts:
        raise UserError(
            f"annotations=experts: {num_experts} experts, {num_kinds} kinds; expected a kind at least for each to be "
            "blind to"
        )
    return np.array_split(np.arange(num_kinds), num_experts)


def learnt(
    code: np.ndarray, spot: np.ndarray, familiar: float, unfamiliar: float, rng: np.random.Generator
) -> np.ndarray:
    """Items whose labels an expert has learnt from: of each kind a share, rounded down, one at least."""
    chosen = []
    for kind in range(int(code.max()) + 1):
        members = np.flatnonzero(code == kind)
        number = max(int((unfamiliar if kind in spot else familiar) * len(members)), 1)
        chosen.append(rng.choice(members, number, replace=False))
    return np.concatenate(chosen)


def _seen(features: np.ndarray, code: np.ndarray, chosen: np.ndarray, asked: np.ndarray, seed: int) -> np.ndarray:
    """[n, K] probabilities of the items ``asked``, by a network that has learnt the kinds of ``chosen``."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier(
        _HIDDEN, batch_size=min(_BATCH, len(chosen)), max_iter=_EPOCHS, n_iter_no_change=_PATIENCE, random_state=seed
    )
    with warnings.catch_warnings():
        # The epochs are part of the protocol.
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(features[chosen], code[chosen])
    probabilities: np.ndarray = network.predict_proba(features[asked])
    return probabilities
