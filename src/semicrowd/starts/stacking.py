"""Several classifiers as one: a mixture, each with the certainty and the share that it deserves out of sample."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from semicrowd.starts.calibration import Calibration, log_probability, mixed
from semicrowd.starts.spreading import Spread

#: Items that speak for each classifier before any has spoken: thirty items can't tell the best of four.
_ALIKE = 1.0
#: A classifier with a smaller share is left out.
_LEAST_SHARE = 0.02
#: Iterations of EM.
_ITERATIONS = 100


class StackedSpread(Spread):
    """Several classifiers' probabilities mixed (stacking: Wolpert 1992; Breiman 1996).

    The certainty of each and of their mixture (:class:`Calibration`) and their shares are the most probable ones given
    the known items, each out of sample: :meth:`out_of_sample` finds them, and what is asked afterwards takes them over.
    """

    def __init__(self, spreads: Sequence[Spread]) -> None:
        self.spreads = spreads
        self.shares = np.full(len(spreads), 1 / len(spreads))
        self.each: list[Calibration] | None = None
        self.whole: Calibration | None = None

    def __call__(self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "N K"]:
        """See :class:`Spread`."""
        used = np.flatnonzero(self.shares >= min(_LEAST_SHARE, self.shares.max()))
        mixture = np.zeros((1, known.shape[1]))
        for s in used:  # one at a time: of a million items each has some hundred MB
            share = self.shares[s] / self.shares[used].sum()
            mixture = mixture + share * self._calibrated(int(s), self.spreads[int(s)](items, known))
        return mixture if self.whole is None else self.whole(log_probability(mixture))

    def out_of_sample(
        self, items: Int[np.ndarray, "n"], known: Float[np.ndarray, "n K"], fold: Int[np.ndarray, "n"]
    ) -> Float[np.ndarray, "n K"]:
        """See :class:`Spread`."""
        found = [spread.out_of_sample(items, known, fold) for spread in self.spreads]
        self.each = [Calibration.of_classifier(one, known) for one in found]
        calibrated = np.stack([self._calibrated(s, one) for s, one in enumerate(found)])
        self.shares = mixed(calibrated, known, _ALIKE, _ITERATIONS)
        mixture = np.tensordot(self.shares, calibrated, 1)
        self.whole = Calibration.of_classifier(mixture, known)
        return self.whole(log_probability(mixture))

    def share(self, spread: Spread) -> float:
        """Of a classifier in the mixture, 0 of one that is left out."""
        found = [share for one, share in zip(self.spreads, self.shares, strict=True) if one is spread]
        return float(sum(found)) if sum(found) >= min(_LEAST_SHARE, self.shares.max()) else 0.0

    def of(self, before: Sequence[Spread], after: Sequence[Spread]) -> "StackedSpread":
        """The same mixture of other classifiers, each in the place of one of ``before``: of other items, say."""
        place = {id(one): number for number, one in enumerate(before)}
        made = StackedSpread([after[place[id(one)]] for one in self.spreads])
        made.shares, made.each, made.whole = self.shares, self.each, self.whole
        return made

    def _calibrated(self, number: int, found: Float[np.ndarray, "n K"]) -> Float[np.ndarray, "n K"]:
        return found if self.each is None else self.each[number](log_probability(found))
