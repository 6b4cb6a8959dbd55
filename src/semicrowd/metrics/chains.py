"""Whether Markov chains have mixed: R-hat and effective sample size (Gelman et al. 2013, sections 11.4 and 11.5)."""

import numpy as np
import pandas as pd

#: Chains count as mixed up to this R-hat, and from this effective sample size on.
MOST_R_HAT, LEAST_SAMPLES = 1.05, 100.0
#: What chains are judged by.
TRACES = ("clusters", "log_likelihood")


def _split(draws: np.ndarray) -> np.ndarray:
    """Halves of chains, [C, S] → [2 C, S // 2]: a chain that drifts disagrees with itself."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _variances(halves: np.ndarray) -> tuple[float, float]:
    """Mean variance within the chains, and the estimate of the posterior's that counts that between them, too."""
    length = halves.shape[1]
    within = float(halves.var(1, ddof=1).mean())
    return within, within * (length - 1) / length + float(halves.mean(1).var(ddof=1))


def r_hat(draws: np.ndarray) -> float:
    """Split R-hat of draws [chains, sweeps]; 1 where all are alike, NaN of fewer than four sweeps."""
    if draws.shape[1] < 4:
        return float("nan")
    within, total = _variances(_split(draws))
    return 1.0 if total == 0 else float(np.sqrt(total / within)) if within > 0 else float("inf")


def effective_size(draws: np.ndarray) -> float:
    """Independent draws that chains [chains, sweeps] are worth; their number where all are alike, NaN of too few.

    Autocorrelations are summed in pairs, as long as they are above 0 and fall (Geyer 1992).
    """
    if draws.shape[1] < 4:
        return float("nan")
    halves = _split(draws)
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
    """R-hat and effective sample size of :data:`TRACES` over the second half of the sweeps, and whether they will do.

    Parameters
    ----------
    chains : columns chain, sweep and those of :data:`TRACES`, a row for each sweep of each chain
    """
    found = {}
    for name in TRACES:
        draws = chains.pivot(index="chain", columns="sweep", values=name).to_numpy(float)
        draws = draws[:, draws.shape[1] // 2 :]
        found[f"rhat_{name}"], found[f"ess_{name}"] = r_hat(draws), effective_size(draws)
    fine = all(found[f"rhat_{name}"] <= MOST_R_HAT and found[f"ess_{name}"] >= LEAST_SAMPLES for name in TRACES)
    return found | {"mixed": int(fine)}
