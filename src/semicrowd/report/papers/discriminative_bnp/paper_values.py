"""The numbers that the paper prints, by table.

NMI and F1 are fractions; its standard deviations are over ten runs, of k-means and GMM over 10 to 25 clusters. The
figures have no printed numbers but those of their captions.
"""

from semicrowd.report.cells import PaperValue

#: Model → its column in Table 1.
METHODS = {
    "kmeans": "k-means", "gmm": "GMM", "affinity_propagation": "AP", "dp_means": "DP-means", "dpm": "DPM",
    "mmgm": "MMGM", "ddpm_l": "DDPM-L", "ddpm_s": "DDPM-S",
}  # fmt: skip
#: Model → its column in Table 2.
OF_SEQUENCES = {
    "dpm": "DPM", "ddpm_s": "DDPM-S", "ddpm_l": "DDPM-L", "ihmm": "iHMM", "dih_s": "DIH-S", "dih_l": "DIH-L",
}  # fmt: skip
Printed = float | tuple[float, float] | None

_TABLE_1: dict[str, dict[str, tuple[Printed, ...]]] = {
    "NUS-WIDE animals": {
        "clusters": (None, None, 18, 17, 19, 15, 15, 17),
        "nmi": ((0.18, 0.01), (0.19, 0.01), 0.166, 0.161, (0.191, 0.006), (0.184, 0.007), (0.197, 0.012),
                (0.199, 0.005)),
        "f1": ((0.16, 0.01), (0.16, 0.01), 0.145, 0.166, (0.172, 0.003), (0.177, 0.01), (0.175, 0.011),
               (0.180, 0.007)),
    },
    "Fifteen Scenes": {
        "clusters": (None, None, 18, 17, 12, 10, 11, 12),
        "nmi": ((0.16, 0.02), (0.17, 0.02), 0.154, 0.155, (0.208, 0.006), (0.186, 0.008), (0.218, 0.01),
                (0.217, 0.02)),
        "f1": ((0.13, 0.01), (0.12, 0.01), 0.124, 0.148, (0.172, 0.006), (0.171, 0.009), (0.178, 0.01), (0.176, 0.02)),
    },
    "MNIST": {
        "clusters": (None, None, 18, 17, 20, 18, 16, 14),
        "nmi": ((0.56, 0.02), (0.52, 0.03), 0.471, 0.518, (0.603, 0.02), (0.583, 0.02), (0.617, 0.02), (0.597, 0.04)),
        "f1": ((0.40, 0.03), (0.38, 0.02), 0.327, 0.379, (0.395, 0.01), (0.420, 0.02), (0.481, 0.02), (0.457, 0.03)),
    },
}  # fmt: skip
_TABLE_2: dict[str, dict[str, tuple[Printed, ...]]] = {
    "user A": {
        "nmi": ((0.275, 0.01), (0.253, 0.008), (0.246, 0.026), (0.305, 0.028), (0.254, 0.035), (0.276, 0.010)),
        "f1": ((0.473, 0.03), (0.526, 0.009), (0.466, 0.024), (0.441, 0.018), (0.480, 0.047), (0.483, 0.004)),
    },
    "user B": {
        "nmi": ((0.245, 0.006), (0.253, 0.006), (0.253, 0.003), (0.235, 0.023), (0.254, 0.002), (0.257, 0.003)),
        "f1": ((0.535, 0.007), (0.553, 0.006), (0.551, 0.001), (0.481, 0.071), (0.559, 0.007), (0.543, 0.003)),
    },
    "user C": {
        "nmi": ((0.199, 0.01), (0.216, 0.023), (0.208, 0.014), (0.221, 0.021), (0.222, 0.006), (0.219, 0.004)),
        "f1": ((0.672, 0.01), (0.657, 0.010), (0.641, 0.031), (0.645, 0.003), (0.659, 0.008), (0.673, 0.034)),
    },
}


def _values(
    table: dict[str, dict[str, tuple[Printed, ...]]], columns: dict[str, str]
) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(f"{data}, {method}", quantity, *(number if isinstance(number, tuple) else (number,)))
        for data, quantities in table.items()
        for position, method in enumerate(columns.values())
        for quantity, numbers in quantities.items()
        if (number := numbers[position]) is not None
    )


TABLE_1 = _values(_TABLE_1, METHODS)
TABLE_2 = _values(_TABLE_2, OF_SEQUENCES)
#: The caption of Fig. 2 says that both find the two chains.
FIGURE_2 = (PaperValue("DDPM-S", "clusters", 2), PaperValue("DDPM-L", "clusters", 2))
#: The caption of Fig. 3.
FIGURE_3 = (
    PaperValue("NUS-WIDE animals, DDPM-S, w = 1e-6", "clusters", 19),
    PaperValue("NUS-WIDE animals, DDPM-S, w = 10", "clusters", 17),
)
