"""Stacking: a mixture of calibrated classifiers, with weights and calibrations fitted by cross-validation."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from semicrowd.starts.calibration import Calibration, log_probability, mixed
from semicrowd.starts.item_classifiers import ItemClassifier

#: Pseudo-items of each classifier, so that a few items cannot give one classifier all the weight.
_PSEUDO_ITEMS = 1.0
#: A classifier with a smaller weight is left out.
_MIN_SHARE = 0.02
#: Iterations of EM.
_EM_ITERATIONS = 100


class StackedClassifier(ItemClassifier):
    """A mixture of classifiers (stacking: Wolpert 1992; Breiman 1996).

    :meth:`out_of_sample` fits the calibration of each classifier, their weights, and the calibration of the mixture
    (:class:`Calibration`) to cross-validated probabilities of the known items. Later predictions use these.
    """

    def __init__(self, classifiers: Sequence[ItemClassifier]) -> None:
        self.classifiers = classifiers
        self.shares = np.full(len(classifiers), 1 / len(classifiers))
        self.each: list[Calibration] | None = None
        self.whole: Calibration | None = None

    def __call__(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "N K"]:
        """See :class:`ItemClassifier`."""
        used = np.flatnonzero(self.shares >= min(_MIN_SHARE, self.shares.max()))
        mixture = np.zeros((1, known.shape[1]))
        for s in used:  # one at a time: probabilities of a million items take some hundred MB
            share = self.shares[s] / self.shares[used].sum()
            mixture = mixture + share * self._calibrated(int(s), self.classifiers[int(s)](items, known))
        return mixture if self.whole is None else self.whole(log_probability(mixture))

    def out_of_sample(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n K"]:
        """See :class:`ItemClassifier`."""
        probabilities = [classifier.out_of_sample(items, known, fold) for classifier in self.classifiers]
        self.each = [Calibration.of_classifier(one, known) for one in probabilities]
        calibrated = np.stack([self._calibrated(s, one) for s, one in enumerate(probabilities)])
        self.shares = mixed(calibrated, known, _PSEUDO_ITEMS, _EM_ITERATIONS)
        mixture = np.tensordot(self.shares, calibrated, 1)
        self.whole = Calibration.of_classifier(mixture, known)
        return self.whole(log_probability(mixture))

    def share(self, classifier: ItemClassifier) -> float:
        """Weight of a classifier in the mixture; 0 if it is left out."""
        probabilities = [share for one, share in zip(self.classifiers, self.shares, strict=True) if one is classifier]
        return float(sum(probabilities)) if sum(probabilities) >= min(_MIN_SHARE, self.shares.max()) else 0.0

    def of(self, before: Sequence[ItemClassifier], after: Sequence[ItemClassifier]) -> "StackedClassifier":
        """The same mixture with each classifier of ``before`` replaced by that of ``after``, e.g. for other items."""
        place = {id(one): number for number, one in enumerate(before)}
        made = StackedClassifier([after[place[id(one)]] for one in self.classifiers])
        made.shares, made.each, made.whole = self.shares, self.each, self.whole
        return made

    def _calibrated(self, number: int, probabilities: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
        return probabilities if self.each is None else self.each[number](log_probability(probabilities))
