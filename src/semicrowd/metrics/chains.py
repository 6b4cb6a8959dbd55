"""Whether Markov chains have mixed: R-hat and effective sample size of ranks.

Both, and the thresholds, are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021 (Bayesian Analysis 16).
"""

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

#: Largest R-hat of mixed chains.
MOST_R_HAT = 1.01
#: Least effective sample size of mixed chains.
LEAST_SAMPLES = 400.0
#: Sweeps from which on the halves of a chain have a variance.
_LEAST_SWEEPS = 4
#: Columns that are diagnosed.
TRACES = ("clusters", "log_likelihood")


def r_hat(draws: Float[np.ndarray, "C S"]) -> float:
    """R-hat of S sweeps of C chains: that of the ranks, or of the ranks of the distances to the median if it is larger.

    1 if all draws are equal, infinite if no chain moves and they differ, NaN of fewer than four sweeps.
    """
    if draws.shape[1] < _LEAST_SWEEPS:
        return float("nan")
    if np.ptp(draws) == 0:
        return 1.0
    if not np.ptp(draws, axis=1).any():
        return float("inf")
    return float(_diagnostics().rhat(_chains(draws), chain_axis=0, draw_axis=1))


def effective_size(draws: Float[np.ndarray, "C S"]) -> float:
    """Number of independent draws that the ranks of S sweeps of C chains are worth (bulk-ESS).

    The number of draws if all are equal, NaN of fewer than four sweeps.
    """
    if draws.shape[1] < _LEAST_SWEEPS:
        return float("nan")
    return float(_diagnostics().ess(_chains(draws), chain_axis=0, draw_axis=1))


def _chains(draws: np.ndarray) -> np.ndarray:
    half = draws.shape[1] // 2
    return draws if len(draws) > 1 else draws[0, : 2 * half].reshape(2, half)


def _diagnostics() -> Any:
    # Imported here: few methods have chains, and the package is one of the samplers' extra.
    from arviz_stats.base.array import array_stats

    return array_stats


def mixing(chains: pd.DataFrame) -> dict[str, float]:
    """R-hat and effective sample size of :data:`TRACES` in the second half of the sweeps; whether chains have mixed.

    Parameters
    ----------
    chains : columns chain, sweep and those of :data:`TRACES`, a row for each sweep of each chain
    """
    values = {}
    for name in TRACES:
        draws = chains.pivot(index="chain", columns="sweep", values=name).to_numpy(float)
        draws = draws[:, draws.shape[1] // 2 :]
        values[f"rhat_{name}"], values[f"ess_{name}"] = r_hat(draws), effective_size(draws)
    fine = all(values[f"rhat_{name}"] <= MOST_R_HAT and values[f"ess_{name}"] >= LEAST_SAMPLES for name in TRACES)
    return values | {"mixed": int(fine)}
