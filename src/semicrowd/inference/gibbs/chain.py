"""One Markov chain of the Gibbs samplers: its state and its sweep."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from semicrowd.inference.gibbs.answers import Answered, Answers
from semicrowd.inference.gibbs.exchanges import price_of, split_or_merge_separated
from semicrowd.inference.gibbs.franchise import Franchise, escobar_west, redraw, transitions
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes
from semicrowd.inference.gibbs.splits import split_or_merge
from semicrowd.inference.gibbs.sweep import Seating, draw_all, seat, sweep

#: Initial number of cluster slots; it is doubled when all slots are occupied.
_SLOTS = 16
# A few "free" hyperplanes represent those of the infinitely many clusters without items.
#: Minimal number of free hyperplanes.
_FEWEST = 3
#: Maximal number of free hyperplanes.
_MOST = 64
#: Upper limit of free hyperplanes × numbers in the table of items, so that large tables get fewer of them.
_NUMBERS = 100_000
#: Gibbs steps from an existing free hyperplane to a new one that counts as an independent draw.
_STEPS = 20
#: Gibbs steps from a draw of the prior to the first free hyperplanes.
_FIRST_STEPS = 100


@dataclass(frozen=True)
class Model:
    """The model and its data, the same for all chains of a fit.

    Attributes
    ----------
    family : function that makes the component distributions (and their statistics) of a given number of empty clusters
    num_items : N
    alpha_prior, gamma_prior : shape and rate of the Gamma priors of the concentrations alpha and gamma
    alpha : fixed concentration of the Dirichlet process, or of each row of transition probabilities of a hidden Markov
        model; None: it is sampled
    neighbours : previous and next item of each item in its sequence, for a hidden Markov model; None: the model is a
        Dirichlet process mixture
    answers : answers about pairs of items, only for a Dirichlet process; None: no answers
    planes : the hyperplanes' data and prior; None for a model without hyperplanes
    splits : number of split or merge proposals before each sweep, only for a Dirichlet process; with hyperplanes only
        if ``new`` is ``corrected``
    new : distribution of the hyperplane of a new cluster: ``corrected``, the posterior given that the cluster has no
        items, or ``paper``, the prior
    """

    family: Callable[[int], Any]
    num_items: int
    alpha_prior: tuple[float, float] = (1.0, 1.0)
    gamma_prior: tuple[float, float] = (1.0, 1.0)
    alpha: float | None = None
    neighbours: tuple[Int[np.ndarray, "N"], Int[np.ndarray, "N"]] | None = None
    answers: Answers | None = None
    planes: Hyperplanes | None = None
    splits: int = 0
    new: str = "corrected"


@dataclass
class Chain:
    """The state of a chain.

    Attributes
    ----------
    z : slot of each item's cluster; −1 before the first sweep, which assigns the items one after the other
    alpha, gamma : concentrations; gamma is used by a hidden Markov model only
    quality : sensitivity and specificity of the annotators; M = 0 without answers
    beta, rest : top-level probability of each state that has items, and the probability of all other states
        together (hidden Markov model)
    slots : C
    eta : hyperplanes of clusters, and free ones; empty during sweeps without hyperplanes
    plane, free : row of ``eta`` of each cluster, and the rows of the free hyperplanes
    log_likelihood : ln p(x | z), in nats
    price : estimated loss of ln p(y), in nats, by one more separating hyperplane, for split and merge proposals; None:
        not computed yet
    """

    model: Model
    z: Int[np.ndarray, "N"] = field(init=False)
    alpha: float = 1.0
    gamma: float = 1.0
    beta: Float[np.ndarray, "C"] = field(default_factory=lambda: np.zeros(_SLOTS))
    rest: float = 1.0
    slots: int = _SLOTS
    eta: Float[np.ndarray, "H r"] = field(default_factory=lambda: np.zeros((0, 0)))
    plane: Int[np.ndarray, "C"] = field(default_factory=lambda: np.zeros(_SLOTS, np.int64))
    free: Int[np.ndarray, "free"] = field(default_factory=lambda: np.zeros(0, np.int64))
    log_likelihood: float = float("nan")
    price: float | None = None
    quality: Float[np.ndarray, "2 M"] = field(init=False)

    def __post_init__(self) -> None:
        self.z = np.full(self.model.num_items, -1)
        if self.model.alpha is not None:
            self.alpha = self.model.alpha
        answers = self.model.answers
        self.quality = np.zeros((2, 0)) if answers is None else answers.expected

    def begin(self, z: np.ndarray) -> None:
        """Set the initial clusters [N] of all items, before the first sweep; without it items start in no cluster."""
        self.z, used = z, np.unique(z)
        while self.slots <= used[-1] + 1:
            self._grow()
        self.beta[used] = self.rest = 1 / (len(used) + 1)

    @property
    def clusters(self) -> int:
        """Number of clusters that have items."""
        return len(np.unique(self.z[self.z >= 0]))

    @property
    def planes(self) -> Hyperplanes:
        """The hyperplanes' data and prior, of a model with hyperplanes."""
        assert self.model.planes is not None
        return self.model.planes

    @property
    def candidates(self) -> int:
        """Number of free hyperplanes, which represent those of all clusters without items."""
        return int(np.clip(_NUMBERS // max(self.planes.items.size, 1), _FEWEST, _MOST))

    def sweep(self, rng: np.random.Generator, discriminative: bool = True) -> None:
        """Sample the hyperplanes given the partition; propose splits and merges; then sample z item by item, the
        concentrations and the annotators' rates.
        """
        tilted = discriminative and self.model.planes is not None
        if tilted:
            self._move_planes(rng)
        if self.z.min() >= 0:
            self._split(rng, tilted)
        item = 0
        while True:
            family, prior, seating = self._seated(tilted)
            draw_all(family, seating.size, rng)
            item = sweep(prior, family, seating, rng, item)
            self._note(prior, seating)
            if item == len(self.z):
                break
            if seating.size.min() > 0:
                self._grow()
            if tilted and len(self.free) < self.candidates:
                self._free_more(rng)
        self.log_likelihood = family.log_evidence()
        alpha_prior = self.model.alpha_prior if self.model.alpha is None else None
        if isinstance(prior, Franchise):
            redraw(prior, alpha_prior, self.model.gamma_prior, rng)
            self._note(prior, seating)
        elif alpha_prior is not None:
            self.alpha = escobar_west(self.alpha, self.clusters, len(self.z), alpha_prior, rng)
        if self.model.answers is not None:
            self.quality = rng.beta(*np.moveaxis(self.model.answers.shapes(self.z), -1, 0))

    def _split(self, rng: np.random.Generator, tilted: bool) -> None:
        if self.model.neighbours is not None or len(self.z) < 2 or (tilted and self.model.new != "corrected"):
            return
        seating = None
        for _ in range(self.model.splits):
            if seating is None or seating.size.min() > 0:
                while self.clusters == self.slots:
                    self._grow()
                family, prior, seating = self._seated(False)
            if tilted:
                self._split_separated(prior, family.integrated(), seating, rng)
            else:
                split_or_merge(prior, family.integrated(), seating, rng)

    def _split_separated(self, prior: Any, family: Any, seating: Seating, rng: np.random.Generator) -> None:
        planes = self.planes
        if self.price is None:
            self.price = price_of(planes)
        if not len(self.free):
            self._free_more(rng)
        free = self.free.tolist()
        split_or_merge_separated(prior, family, seating, planes, self.price, self.eta, free, rng)
        self.free = np.array(free, np.int64)

    def _seated(self, tilted: bool) -> tuple[Any, Franchise | Answered, Seating]:
        """Sufficient statistics of the current partition, recomputed so that rounding errors do not accumulate."""
        model = self.model
        family = model.family(self.slots)
        extra, free = np.zeros((0, 0)), np.zeros(len(self.eta), np.int64)
        if tilted:
            used = self.plane[np.unique(self.z[self.z >= 0])]
            extra = np.ascontiguousarray(self.planes.log_ratio(self.eta, used))
            free[: len(self.free)] = self.free
        size, num_free = np.zeros(self.slots, np.int64), np.array([len(self.free)])
        seating = Seating(self.z, size, extra, self.plane, free, num_free, self.candidates if tilted else 1)
        seat(family, self.z, size)
        alpha = np.array([self.alpha])
        if model.answers is not None:
            return family, model.answers.prior_of(alpha, self.quality, self.slots), seating
        if model.neighbours is None:
            # The Chinese restaurant process: no answers.
            ends, nothing = np.zeros(len(self.z) + 1, np.int64), np.zeros(0, np.int64)
            return family, Answered(alpha, ends, nothing, np.zeros(0), np.zeros(self.slots)), seating
        moves = transitions(self.z, model.neighbours[0], self.slots)
        prior = Franchise(
            *model.neighbours, moves, moves.sum(1), self.beta, np.array([self.rest]), alpha, np.array([self.gamma])
        )
        return family, prior, seating

    def _note(self, prior: Franchise | Answered, seating: Seating) -> None:
        self.free = seating.free[: seating.num_free[0]].copy()
        if isinstance(prior, Franchise):
            self.alpha, self.gamma, self.rest = (float(one[0]) for one in (prior.alpha, prior.gamma, prior.rest))

    def _grow(self) -> None:
        self.beta = np.concatenate([self.beta, np.zeros(self.slots)])
        self.plane = np.concatenate([self.plane, np.zeros(self.slots, np.int64)])
        self.slots *= 2

    def _move_planes(self, rng: np.random.Generator) -> None:
        """One Gibbs step of the clusters' hyperplanes and of some free hyperplanes."""
        planes = self.planes
        used = np.unique(self.z)
        if not len(self.eta):  # the first sweep with hyperplanes: create one for each existing cluster
            self.eta = np.zeros((len(used), planes.items.shape[1]))
            self.plane[used] = np.arange(len(used))
            self._free_more(rng)
        rng.shuffle(self.free)  # so that other free hyperplanes are updated in every sweep
        candidates = self.free[-_FEWEST if self.model.new == "corrected" else 0 :]
        moved = self.plane[used]
        y = np.where(self.z[:, None] == used, 1.0, -1.0)
        if self.model.new == "corrected":
            moved = np.concatenate([moved, candidates])
            y = np.concatenate([y, np.full((len(y), len(candidates)), -1.0)], 1)
        else:
            self.eta[candidates] = self._of_prior(rng, len(candidates))
        self.eta[moved] = planes.redraw(self.eta[moved], y, rng)

    def _of_prior(self, rng: np.random.Generator, number: int) -> np.ndarray:
        planes = self.planes
        return np.sqrt(planes.variance) * rng.standard_normal((number, planes.items.shape[1]))

    def _free_more(self, rng: np.random.Generator) -> None:
        """Add free hyperplanes: draws given that y = −1 for all items (``corrected``), or draws of the prior.

        A draw given y is made by Gibbs steps that start from an existing free hyperplane, or, for the first ones, by
        more Gibbs steps that start from the prior.
        """
        planes = self.planes
        number = self.candidates
        new = self._of_prior(rng, number)
        if self.model.new == "corrected":
            steps = _FIRST_STEPS
            if len(self.free):
                new, steps = self.eta[rng.choice(self.free, number)], _STEPS
            nobody = np.full((len(planes.items), number), -1.0)
            for _ in range(steps):
                new = planes.redraw(new, nobody, rng)
        self.free = np.concatenate([len(self.eta) + np.arange(number), self.free])
        self.eta = np.concatenate([self.eta, new])
