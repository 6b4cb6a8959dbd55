"""Whether Markov chains have mixed: R-hat and effective sample size of ranks.

Both, and the thresholds, are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021 (Bayesian Analysis 16).
"""

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

#: Largest R-hat of mixed chains.
MOST_R_HAT = 1.01
#: Least effective sample size of mixed chains.
LEAST_SAMPLES = 400.0
#: Columns of the table of chains for which both are computed.
TRACES = ("clusters", "log_likelihood")


def _split(draws: np.ndarray) -> np.ndarray:
    """Halves of chains, [C, S] → [2 C, S // 2], so that a drift within a chain shows as a difference between chains."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _variances(halves: np.ndarray) -> tuple[float, float]:
    """Variance within chains, and the estimate of the posterior variance from within and between chains."""
    length = halves.shape[1]
    within = float(halves.var(1, ddof=1).mean())
    return within, within * (length - 1) / length + float(halves.mean(1).var(ddof=1))


def _normal(draws: np.ndarray) -> np.ndarray:
    """Ranks among all draws (ties averaged) converted to normal scores, so that outliers have no effect."""
    return ndtri((rankdata(draws, axis=None).reshape(draws.shape) - 0.375) / (draws.size + 0.25))


def r_hat(draws: np.ndarray) -> float:
    """Split R-hat of draws [chains, sweeps]: maximum of that of ranks and that of ranks of |draw − median|.

    1 if all draws are equal, NaN for fewer than four sweeps.
    """
    if draws.shape[1] < 4:
        return float("nan")
    values = []
    for one in (draws, np.abs(draws - np.median(draws))):
        within, total = _variances(_split(_normal(one)))
        apart = within <= 1e-12 * total  # the mean of equal numbers may differ from them by a rounding error
        values.append(1.0 if total == 0 else float("inf") if apart else float(np.sqrt(total / within)))
    return max(values)


def effective_size(draws: np.ndarray) -> float:
    """Effective sample size of the ranks of draws [chains, sweeps] (bulk-ESS).

    The number of draws if all are equal, NaN for fewer than four sweeps. Sums of pairs of neighbouring autocorrelations
    are added up to the first negative one, each limited to the smallest before it (Geyer 1992).
    """
    if draws.shape[1] < 4:
        return float("nan")
    halves = _split(_normal(draws))
    number, length = halves.shape
    _, total = _variances(halves)
    if total == 0:
        return float(number * length)
    centred = halves - halves.mean(1, keepdims=True)
    power = np.abs(np.fft.rfft(centred, 2 * length)) ** 2
    covariance = np.fft.irfft(power)[:, :length].mean(0) / (length - 1)
    within = covariance[0]
    correlation = 1 - (within - covariance) / total
    pairs = correlation[: length // 2 * 2].reshape(-1, 2).sum(1)
    pairs = np.minimum.accumulate(pairs[: np.argmax(np.append(pairs, -1) < 0)])
    return float(number * length / max(2 * pairs.sum() - 1, 1 / np.log10(number * length)))


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
