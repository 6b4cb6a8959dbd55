"""Concentrations given a partition: Escobar & West 1995, and Teh, Jordan, Beal & Blei 2006 for the hidden Markov model.

The prior of a concentration is Gamma(shape, rate).
"""

import math

import numpy as np


def escobar_west(
    concentration: float, clusters: int, items: int, prior: tuple[float, float], rng: np.random.Generator
) -> float:
    """A draw of a Dirichlet process's concentration given its numbers of clusters and items, by one Gibbs step."""
    shape, rate = prior
    rate -= math.log(rng.beta(concentration + 1, items))
    odds = (shape + clusters - 1) / (items * rate)
    more = rng.random() * (1 + odds) < odds
    return float(rng.gamma(shape + clusters - (not more)) / rate)
