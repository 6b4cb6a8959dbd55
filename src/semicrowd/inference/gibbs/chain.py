"""One chain of the samplers: state, sweep, and what is worth a curve."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semicrowd.inference.gibbs.answers import Answered, Answers
from semicrowd.inference.gibbs.concentrations import escobar_west
from semicrowd.inference.gibbs.exchanges import price_of, split_or_merge_separated
from semicrowd.inference.gibbs.franchise import Franchise, redraw, transitions
from semicrowd.inference.gibbs.hyperplanes import Hyperplanes
from semicrowd.inference.gibbs.restaurant import Restaurant
from semicrowd.inference.gibbs.splits import split_or_merge
from semicrowd.inference.gibbs.sweep import Seating, draw_all, seat, sweep

#: Slots for clusters that a chain begins with; it gets twice as many when they are full.
_SLOTS = 16
#: Fewest hyperplanes that stand for those of all clusters without items.
_FEWEST = 3
#: The most of them.
_MOST = 64
#: Numbers that they look at, at most: of large tables there are fewer hyperplanes.
_NUMBERS = 100_000
#: Steps from one of them to another that is taken for a draw of its own.
_STEPS = 20
#: Steps to the first of them from the prior.
_FIRST_STEPS = 100


@dataclass(frozen=True)
class Model:
    """What all chains of a fit have in common.

    Attributes
    ----------
    family : makes a family of so many empty clusters
    num_items : N
    alpha_prior, gamma_prior : shape and rate of the concentrations' Gamma priors
    alpha : the concentration of a Dirichlet process, of a row of transitions; None: it is drawn
    neighbours : items before and after each item, for a hidden Markov model; None: a Dirichlet process
    answers : about pairs of the items, in a Dirichlet process; None: nobody was asked
    planes : None of a model without hyperplanes
    splits : splits and merges that are proposed before a sweep, of a Dirichlet process; before one with hyperplanes
        where ``new`` is ``corrected``
    new : what a new cluster's hyperplane is drawn from: ``corrected``, given that no item is in it, or ``paper``, the
        prior
    """

    family: Callable[[int], Any]
    num_items: int
    alpha_prior: tuple[float, float] = (1.0, 1.0)
    gamma_prior: tuple[float, float] = (1.0, 1.0)
    alpha: float | None = None
    neighbours: tuple[np.ndarray, np.ndarray] | None = None
    answers: Answers | None = None
    planes: Hyperplanes | None = None
    splits: int = 0
    new: str = "corrected"


@dataclass
class Chain:
    """The state of a chain.

    Attributes
    ----------
    z : [N] slot of each item's cluster; −1 before the first sweep, which seats the items one after the other
    alpha, gamma : concentrations; gamma of a hidden Markov model alone
    quality : [2, M] sensitivity and specificity of the annotators, none without answers
    beta, rest : [C] and shares of the states with items and of all others together
    slots : C
    eta : [H, r] hyperplanes, of clusters and free ones; none while they are left out
    plane, free : the cluster's, [C], and those of nobody
    log_likelihood : ln p(x | z), in nats
    price : what splits and merges expect a cluster's hyperplane to cost; None: not known yet
    """

    model: Model
    z: np.ndarray = field(init=False)
    alpha: float = 1.0
    gamma: float = 1.0
    beta: np.ndarray = field(default_factory=lambda: np.zeros(_SLOTS))
    rest: float = 1.0
    slots: int = _SLOTS
    eta: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    plane: np.ndarray = field(default_factory=lambda: np.zeros(_SLOTS, np.int64))
    free: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    log_likelihood: float = float("nan")
    price: float | None = None
    quality: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.z = np.full(self.model.num_items, -1)
        if self.model.alpha is not None:
            self.alpha = self.model.alpha
        answers = self.model.answers
        self.quality = np.zeros((2, 0)) if answers is None else answers.expected

    def begin(self, z: np.ndarray) -> None:
        """Let the items [N] be in these clusters before the first sweep, in the place of none."""
        self.z, used = z, np.unique(z)
        while self.slots <= used[-1] + 1:
            self._grow()
        self.beta[used] = self.rest = 1 / (len(used) + 1)

    @property
    def clusters(self) -> int:
        """K, of those with items."""
        return len(np.unique(self.z[self.z >= 0]))

    @property
    def candidates(self) -> int:
        """Hyperplanes that stand for those of all clusters without items."""
        assert self.model.planes is not None
        return int(np.clip(_NUMBERS // max(self.model.planes.items.size, 1), _FEWEST, _MOST))

    def state(self) -> dict[str, Any]:
        """All that later sweeps depend on."""
        names = ("z", "alpha", "gamma", "beta", "rest", "slots", "eta", "plane", "free", "log_likelihood",
                 "quality")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on where :meth:`state` was taken."""
        for name in self.state():
            setattr(self, name, state[name])

    def sweep(self, rng: np.random.Generator, discriminative: bool = True) -> None:
        """Hyperplanes given the partition, splits and merges, the partition item by item, concentrations."""
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
        planes = self.model.planes
        assert planes is not None
        if self.price is None:
            self.price = price_of(planes)
        if not len(self.free):
            self._free_more(rng)
        free = self.free.tolist()
        split_or_merge_separated(prior, family, seating, planes, self.price, self.eta, free, rng)
        self.free = np.array(free, np.int64)

    def _seated(self, tilted: bool) -> tuple[Any, Restaurant | Franchise | Answered, Seating]:
        """Statistics of the partition as it is, made anew: they forget what rounding did to them."""
        model = self.model
        family = model.family(self.slots)
        extra, free = np.zeros((0, 0)), np.zeros(len(self.eta), np.int64)
        if tilted:
            extra = np.ascontiguousarray(self._tilt())
            free[: len(self.free)] = self.free
        size, num_free = np.zeros(self.slots, np.int64), np.array([len(self.free)])
        seating = Seating(self.z, size, extra, self.plane, free, num_free, self.candidates if tilted else 1)
        seat(family, self.z, size)
        alpha = np.array([self.alpha])
        if model.answers is not None:
            return family, model.answers.prior_of(alpha, self.quality, self.slots), seating
        if model.neighbours is None:
            return family, Restaurant(alpha), seating
        moves = transitions(self.z, model.neighbours[0], self.slots)
        prior = Franchise(
            *model.neighbours, moves, moves.sum(1), self.beta, np.array([self.rest]), alpha, np.array([self.gamma])
        )
        return family, prior, seating

    def _tilt(self) -> np.ndarray:
        """Extra log-weight of the items in a cluster with each hyperplane, [N, H]."""
        assert self.model.planes is not None
        return self.model.planes.log_ratio(self.eta)

    def _note(self, prior: Restaurant | Franchise | Answered, seating: Seating) -> None:
        """Take over what the arrays of one number say."""
        self.free = seating.free[: seating.num_free[0]].copy()
        if isinstance(prior, Franchise):
            self.alpha, self.gamma, self.rest = (float(one[0]) for one in (prior.alpha, prior.gamma, prior.rest))

    def _grow(self) -> None:
        self.beta = np.concatenate([self.beta, np.zeros(self.slots)])
        self.plane = np.concatenate([self.plane, np.zeros(self.slots, np.int64)])
        self.slots *= 2

    def _move_planes(self, rng: np.random.Generator) -> None:
        """A step of the clusters' hyperplanes, and of those that stand for the clusters without items."""
        planes = self.model.planes
        assert planes is not None
        used = np.unique(self.z)
        if not len(self.eta):  # the first time: the clusters that were found without them get theirs
            self.eta = np.zeros((len(used), planes.items.shape[1]))
            self.plane[used] = np.arange(len(used))
            self._free_more(rng)
        rng.shuffle(self.free)  # others are candidates in every sweep
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
        planes = self.model.planes
        assert planes is not None
        return np.sqrt(planes.variance) * rng.standard_normal((number, planes.items.shape[1]))

    def _free_more(self, rng: np.random.Generator) -> None:
        """More hyperplanes of clusters without items: draws given that y = −1 for all items, or of the prior.

        Some steps from one that is such a draw lead to another; the first come from the prior by many steps.
        """
        planes = self.model.planes
        assert planes is not None
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
