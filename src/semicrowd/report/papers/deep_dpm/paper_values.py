"""The numbers that the paper prints, by table. What it calls V is the mutual information over the mean entropy, NMI."""

from collections.abc import Mapping

from semicrowd.report.cells import PaperValue

#: The paper's measures, in its order.
QUANTITIES = ("ari", "f1", "nmi")
METHODS = ("G-means", "DPM", "DDPM")

#: ARI, F and V of each method.
_TABLE_2: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "MNIST": ((0.1126, 0.1255, 0.5314), (0.3974, 0.4511, 0.5571), (0.4400, 0.4917, 0.6016)),
    "HHAR": ((0.0904, 0.1146, 0.4358), (0.4342, 0.5385, 0.5761), (0.4473, 0.5449, 0.5865)),
    "STL-10": ((0.2140, 0.2512, 0.4830), (0.2156, 0.3073, 0.4679), (0.2269, 0.3193, 0.4917)),
    "REU-10K": ((0.0581, 0.0933, 0.3147), (0.1406, 0.2365, 0.3662), (0.1827, 0.2756, 0.3918)),
}
#: Steps of the autoencoder, in thousands → the same of DPM and DDPM.
_TABLE_3: Mapping[int, tuple[tuple[float, float, float], ...]] = {
    250: ((0.2352, 0.3309, 0.3754), (0.2618, 0.3549, 0.3928)),
    500: ((0.3001, 0.3844, 0.4306), (0.3316, 0.4071, 0.4481)),
    750: ((0.2584, 0.3567, 0.4117), (0.2815, 0.3790, 0.4488)),
    1000: ((0.3974, 0.4511, 0.5571), (0.4400, 0.4917, 0.6016)),
}


def _values(
    rows: Mapping[str, tuple[tuple[float, float, float], ...]], methods: tuple[str, ...]
) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(f"{row}, {method}", quantity, value)
        for row, of_methods in rows.items()
        for method, values in zip(methods, of_methods, strict=True)
        for quantity, value in zip(QUANTITIES, values, strict=True)
    )


TABLE_2 = _values(_TABLE_2, METHODS)
TABLE_3 = _values({f"{steps},000 steps": values for steps, values in _TABLE_3.items()}, METHODS[1:])
