"""How the paper ran what its tables and figures show."""

from semicrowd.report.protocol import NOT_SAID, Protocol, Setting

_FLOW = (
    Setting("model.n_layers", "coupling layers of the flow", 6, model="deep_dpm"),
    Setting("model.width", "units of each", 512, model="deep_dpm"),
)
#: The paper's sampler moves one item at a time and no more; how its first partition comes about it does not tell.
_MOVES = (
    Setting("model.splits", "splits and merges proposed before a sweep of the first epochs", 0),
    Setting("model.unions", "Gaussians joined at the end where one is likelier", False, model="deep_dpm"),
    Setting("model.n_start", "clusters of the first partition (1: items are seated one by one)", NOT_SAID),
)
FIGURE_1 = Protocol(
    1, (*_FLOW, *_MOVES), ("deep_dpm",),
    ("points, priors and training are not in the paper; a new cluster's density is eq. 19 as corrected", ),
)  # fmt: skip
#: Data set → α, α₀ and β₀ of the paper's Table 1. What stands in a set's place is held to that set's.
_TABLE_1 = {
    ("mnist",): (1e-3, 2000, 1000),
    ("har", "activities"): (1e-10, 6000, 1000),
    ("stl10",): (1e-10, 10000, 1000),
    ("reuters10k", "texts"): (1e-10, 6000, 1000),
}
#: Columns of the features, and digits that a configuration writes the paper's fractions with.
_COLUMNS, _DIGITS = 10, 4


def _prior_of(data: tuple[str, ...], alpha: float, shape: int, rate: int) -> tuple[Setting, ...]:
    """A data set's prior as our options have it.

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
#: Items of each data set as it is here: of MNIST the training images, where the paper has the test images too.
ITEMS = {
    "mnist": 60_000, "har": 10_299, "stl10": 13_000, "reuters10k": 10_000, "activities": 5418, "texts": 6915,
}  # fmt: skip
_TRAINING = (
    Setting("data.subset", "items", None, said="all"),
    *(
        Setting(key, label, value, model="deep_dpm")
        for key, label, value in (
            ("model.n_warm", "first epochs without the flow", 3),
            ("model.n_epochs", "epochs", 5),
            ("model.n_sweeps", "sweeps of an epoch", 3),
            ("model.batch_size", "items of a step", 128),
            ("model.learning_rate", "learning rate", 1e-6),
        )
    ),
    # A configuration has either null, the rule, or its number, rounded one way or the other.
    *(
        Setting("model.n_steps", "steps of the flow in an epoch", None, said="N / 5", model="deep_dpm",
                same=(items // 5, round(items / 5)), data=(data,))
        for data, items in ITEMS.items()
    ),
)  # fmt: skip
TABLE_2 = Protocol(
    1, (*_PRIOR, *_TRAINING, *_FLOW, *_MOVES), ("deep_dpm", "dpm"),
    ("the paper does not say how many runs are behind a number; its autoencoder takes many more steps", ),
)  # fmt: skip
