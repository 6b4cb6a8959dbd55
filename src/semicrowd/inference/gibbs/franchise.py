"""A prior of sequences of states: a hidden Markov model whose transitions have a hierarchical Dirichlet process.

Teh et al. 2006, section 7, with direct assignment; Nguyen et al. 2017, section 3.2. The papers do not say how sequences
begin and end. Here the first items of all sequences are drawn from one additional row of the transition probabilities,
and the last item of a sequence has no transition.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from semicrowd.inference.compiled import compiled
from semicrowd.inference.gibbs.parts import (
    closed,
    enter,
    ignored,
    leave,
    log_weight,
    meet,
    opened,
    overloads,
    weight_of_new,
)


class Franchise(NamedTuple):
    """N items in sequences, C states.

    Attributes
    ----------
    before, after : previous and next item of each item in its sequence; −1 if there is none
    moves : numbers of transitions from the beginning (row 0) and from every state to every state
    leaving : sums of the rows of ``moves``
    beta : top-level probabilities of the states that have items; 0 for other states
    rest : top-level probability of all other states together
    alpha, gamma : concentrations of the rows and of beta
    """

    before: Int[np.ndarray, "N"]
    after: Int[np.ndarray, "N"]
    moves: Float[np.ndarray, "1+C C"]
    leaving: Float[np.ndarray, "1+C"]
    beta: Float[np.ndarray, "C"]
    rest: Float[np.ndarray, "1"]
    alpha: Float[np.ndarray, "1"]
    gamma: Float[np.ndarray, "1"]


def neighbours(sequence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The previous and the next item of each item in its sequence, [N] each; −1 if there is none.

    Parameters
    ----------
    sequence : [N] sequence of each item; the items of a sequence are in their order
    """
    before, after = np.full(len(sequence), -1), np.full(len(sequence), -1)
    order = np.argsort(sequence, kind="stable")
    same = sequence[order][1:] == sequence[order][:-1]
    before[order[1:][same]] = order[:-1][same]
    after[order[:-1][same]] = order[1:][same]
    return before, after


def transitions(z: np.ndarray, before: np.ndarray, states: int) -> np.ndarray:
    """Numbers of transitions [1 + C, C] to items with a state (z >= 0); their previous items must have one, too."""
    moves = np.zeros((1 + states, states))
    items = np.flatnonzero(z >= 0)
    rows = np.where(before[items] >= 0, 1 + z[before[items]], 0)
    np.add.at(moves, (rows, z[items]), 1)
    return moves


ignored(Franchise, meet)


@overloads(log_weight, Franchise)
def _log_weight(prior: Any, z: Any, size: Any, item: int, cluster: int) -> float:  # noqa: ARG001
    alpha, before, after = prior.alpha[0], prior.before[item], prior.after[item]
    row = 0 if before < 0 else 1 + z[before]
    found = prior.moves[row, cluster] + alpha * prior.beta[cluster]
    if after < 0 or z[after] < 0:
        return math.log(found)
    # The transition to the item is counted before that from the item is weighed.
    stays = 1.0 if row == 1 + cluster else 0.0
    again = stays if z[after] == cluster else 0.0
    onward = prior.moves[1 + cluster, z[after]] + again + alpha * prior.beta[z[after]]
    return math.log(found * onward / (prior.leaving[1 + cluster] + stays + alpha))


@overloads(weight_of_new, Franchise)
def _weight_of_new(prior: Any, z: Any, item: int) -> float:
    after, weight = prior.after[item], prior.alpha[0] * prior.rest[0]
    return weight if after < 0 or z[after] < 0 else weight * prior.beta[z[after]]


@overloads(enter, Franchise)
def _enter(prior: Any, z: Any, item: int) -> None:
    _count(prior, z, item, 1.0)


@overloads(leave, Franchise)
def _leave(prior: Any, z: Any, item: int) -> None:
    _count(prior, z, item, -1.0)


@compiled
def _count(prior: Any, z: Any, item: int, change: float) -> None:
    before, after = prior.before[item], prior.after[item]
    row = 0 if before < 0 else 1 + z[before]
    prior.moves[row, z[item]] += change
    prior.leaving[row] += change
    if after >= 0 and z[after] >= 0:
        prior.moves[1 + z[item], z[after]] += change
        prior.leaving[1 + z[item]] += change


@overloads(opened, Franchise)
def _opened(prior: Any, cluster: int, rng: Any) -> None:
    share = rng.beta(1.0, prior.gamma[0])
    prior.beta[cluster] = share * prior.rest[0]
    prior.rest[0] *= 1 - share


@overloads(closed, Franchise)
def _closed(prior: Any, cluster: int) -> None:
    prior.rest[0] += prior.beta[cluster]
    prior.beta[cluster] = 0.0


@compiled
def tables(moves: Any, base: Any, rng: Any) -> Any:
    """Sample the numbers of tables [1 + C, C] of the transitions (Antoniak 1974); ``base`` [C] is α β."""
    found = np.zeros_like(moves)
    for row in range(moves.shape[0]):
        for state in range(moves.shape[1]):
            for seated in range(int(moves[row, state])):
                if rng.random() * (base[state] + seated) < base[state]:
                    found[row, state] += 1
    return found


def redraw(
    prior: Franchise, alpha_prior: tuple[float, float] | None, gamma_prior: tuple[float, float],
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Sample γ, β, and α if it has a prior, given the transitions, in place (Teh et al. 2006, app. A: table counts)."""
    found = tables(prior.moves, prior.alpha[0] * prior.beta, rng)
    per_state, total = found.sum(0), found.sum()
    rows = prior.leaving[prior.leaving > 0]
    if alpha_prior is not None:
        shape, rate = alpha_prior
        full = rng.random(len(rows)) * (rows + prior.alpha[0]) < rows
        rate -= np.log(rng.beta(prior.alpha[0] + 1, rows)).sum()
        prior.alpha[0] = rng.gamma(shape + total - full.sum()) / rate
    used = per_state > 0
    prior.gamma[0] = escobar_west(prior.gamma[0], int(used.sum()), int(total), gamma_prior, rng)
    shares = rng.dirichlet([*per_state[used], prior.gamma[0]])
    prior.beta[used], prior.rest[0] = shares[:-1], shares[-1]


def escobar_west(
    concentration: float, clusters: int, items: int, prior: tuple[float, float], rng: np.random.Generator
) -> float:
    """A draw of a Dirichlet process's concentration given its numbers of clusters and items, by one Gibbs step.

    Escobar & West 1995. The prior of the concentration is Gamma(shape, rate).
    """
    shape, rate = prior
    rate -= math.log(rng.beta(concentration + 1, items))
    odds = (shape + clusters - 1) / (items * rate)
    more = rng.random() * (1 + odds) < odds
    return float(rng.gamma(shape + clusters - (not more)) / rate)
