"""The numbers that the paper prints, its protocols, its data sets, and those that replace some of them.

The paper's V is the mutual information divided by the mean entropy, which is NMI.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semicrowd.report.cells import PaperValue
from semicrowd.report.collect import Collected
from semicrowd.report.exhibits import NOT_SAID, Protocol, Setting
from semicrowd.report.experiments import Measure, Row, metric

#: The paper's measures, in its order.
QUANTITIES = ("ari", "f1", "nmi")
_PRINTED_METHODS = ("G-means", "DPM", "DDPM")

#: ARI, F and V of each method.
_TABLE_2: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "MNIST": ((0.1126, 0.1255, 0.5314), (0.3974, 0.4511, 0.5571), (0.4400, 0.4917, 0.6016)),
    "HHAR": ((0.0904, 0.1146, 0.4358), (0.4342, 0.5385, 0.5761), (0.4473, 0.5449, 0.5865)),
    "STL-10": ((0.2140, 0.2512, 0.4830), (0.2156, 0.3073, 0.4679), (0.2269, 0.3193, 0.4917)),
    "REU-10K": ((0.0581, 0.0933, 0.3147), (0.1406, 0.2365, 0.3662), (0.1827, 0.2756, 0.3918)),
}
#: Steps of the autoencoder, in thousands → ARI, F and V of DPM and DDPM.
_TABLE_3: Mapping[int, tuple[tuple[float, float, float], ...]] = {
    250: ((0.2352, 0.3309, 0.3754), (0.2618, 0.3549, 0.3928)),
    500: ((0.3001, 0.3844, 0.4306), (0.3316, 0.4071, 0.4481)),
    750: ((0.2584, 0.3567, 0.4117), (0.2815, 0.3790, 0.4488)),
    1000: ((0.3974, 0.4511, 0.5571), (0.4400, 0.4917, 0.6016)),
}


def _printed(
    rows: Mapping[str, tuple[tuple[float, float, float], ...]], methods: tuple[str, ...]
) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(f"{row}, {method}", quantity, value)
        for row, of_methods in rows.items()
        for method, values in zip(methods, of_methods, strict=True)
        for quantity, value in zip(QUANTITIES, values, strict=True)
    )


TABLE_2_PRINTED = _printed(_TABLE_2, _PRINTED_METHODS)
TABLE_3_PRINTED = _printed(
    {f"{1000 * steps:,} steps": values for steps, values in _TABLE_3.items()}, _PRINTED_METHODS[1:]
)


#: Our DPM is deep DPM with a flow that takes no step and stays the identity; settings of the flow then have no effect.
_NO_FLOW = ("model.n_steps", 0)
_FLOW = (
    Setting("model.n_layers", "coupling layers of the flow", 6, model="deep_dpm", idle=_NO_FLOW),
    Setting("model.width", "units of each", 512, model="deep_dpm", idle=_NO_FLOW),
)
#: The paper's sampler only moves one item at a time. The paper does not give the first partition.
_MOVES = (
    Setting("model.splits", "splits and merges proposed before a sweep of the first epochs", 0),
    Setting("model.unions", "Gaussians joined at the end where one is likelier", False, model="deep_dpm"),
    Setting("model.n_start", "clusters of the first partition (1: items are seated one by one)", NOT_SAID),
)
FIGURE_1 = Protocol(
    1, (*_FLOW, *_MOVES), ("deep_dpm",),
    ("points, priors and training are not in the paper; a new cluster's density is eq. 19 as corrected", ),
)  # fmt: skip
#: Data set → α, α₀ and β₀ of the paper's Table 1. A replacement is compared with the set that it replaces.
_TABLE_1 = {
    ("mnist",): (1e-3, 2000, 1000),
    ("har", "activities"): (1e-10, 6000, 1000),
    ("stl10",): (1e-10, 10000, 1000),
    ("reuters10k", "texts"): (1e-10, 6000, 1000),
}
#: Columns of the features.
_COLUMNS = 10
#: Digits to which a configuration rounds the paper's fractions.
_DIGITS = 4


def _prior_of(data: tuple[str, ...], alpha: float, shape: int, rate: int) -> tuple[Setting, ...]:
    """A data set's prior in terms of our options.

    A cluster's precision is Gamma(α₀, β₀). Its variance is about β₀/α₀; and as each item of a cluster adds half the
    number of columns to α₀, the prior counts for 2α₀ over the number of columns.
    """
    variance, items = rate / shape, 2 * shape / _COLUMNS
    return (
        Setting("model.alpha", "concentration (null: drawn)", alpha, data=data),
        Setting("model.variance_strength", "items that the prior variance counts for", items, data=data),
        Setting("model.scatter", "expected variance of a cluster", variance, said=f"{variance:.{_DIGITS}g}",
                same=(round(variance, _DIGITS),), data=data),
    )  # fmt: skip


_PRIOR = (
    Setting("model.mean_strength", "κ₀", 0.005),
    Setting("model.eq19", "eq. 19", "printed"),
    *(setting for data, values in _TABLE_1.items() for setting in _prior_of(data, *values)),
)
#: Number of items of each data set here. For MNIST these are the training images; the paper also uses the test images.
ITEMS = {
    "mnist": 60_000, "har": 10_299, "stl10": 13_000, "reuters10k": 10_000, "activities": 5418, "texts": 6915,
}  # fmt: skip
_TRAINING = (
    Setting("data.subset", "items", None, said="all"),
    Setting("model.n_epochs", "epochs", 5, model="deep_dpm"),
    Setting("model.n_sweeps", "sweeps of an epoch", 3, model="deep_dpm"),
    *(
        Setting(key, label, value, model="deep_dpm", idle=_NO_FLOW)
        for key, label, value in (
            ("model.n_warm", "first epochs without the flow", 3),
            ("model.batch_size", "items of a step", 128),
            ("model.learning_rate", "learning rate", 1e-6),
        )
    ),
    # A configuration has null, which stands for the rule, or the resulting number, rounded down or to the nearest.
    *(
        Setting("model.n_steps", "steps of the flow in an epoch", None, said="N / 5", model="deep_dpm",
                same=(items // 5, round(items / 5)), data=(data,), idle=_NO_FLOW)
        for data, items in ITEMS.items()
    ),
)  # fmt: skip
TABLE_2 = Protocol(
    1, (*_PRIOR, *_TRAINING, *_FLOW, *_MOVES), ("deep_dpm", "dpm"),
    ("the paper does not say how many runs are behind a number; its autoencoder takes many more steps", ),
)  # fmt: skip


#: How our scores are read from a run. They are those of every item's most probable cluster.
MEASURES: dict[str, Measure] = {
    **{quantity: metric(f"train/{quantity}") for quantity in QUANTITIES}, "clusters": metric("clusters/occupied")
}
#: Ending of an experiment's name → method.
METHODS = {"_gmeans": "G-means", "_dpm": "DPM", "": "DDPM"}


@dataclass(frozen=True)
class DataSet:
    """A data set.

    Attributes
    ----------
    name : the paper's name, or that of a replacement for one of its sets
    experiment : that of deep DPM; the names of other methods' experiments have an additional ending
    which : the data set's name in a sweep over data sets and in the scores of both spaces
    swept : whether the experiment is a sweep over data sets
    """

    name: str
    experiment: str
    which: str
    swept: bool = False

    def of(self, collected: Collected) -> Collected:
        """The runs on this data set."""
        point: dict[str, Any] = {"data.which": self.which}
        return collected.at(point) if self.swept else collected

    def of_method(self, ending: str) -> Row:
        """The row of a method, by the ending of its experiment's name."""
        return Row(f"{self.experiment}{ending}", paper=f"{self.name}, {METHODS[ending]}", with_answers=False)


ROWS = (
    DataSet("MNIST", "deep_mnist", "mnist"),
    DataSet("HHAR", "deep_har", "har"),
    DataSet("WISDM in HHAR's place", "deep_standins", "activities", swept=True),
    DataSet("STL-10", "deep_stl10", "stl10"),
    DataSet("REU-10K", "deep_reuters10k", "reuters10k"),
    DataSet("R8 in REU-10K's place", "deep_standins", "texts", swept=True),
)
