"""How the paper ran what its tables and figures show."""

from semicrowd.report.protocol import Protocol, Setting

_FLOW = (
    Setting("model.n_layers", "coupling layers of the flow", 6, model="deep_dpm"),
    Setting("model.width", "units of each", 512, model="deep_dpm"),
)
FIGURE_1 = Protocol(
    1, _FLOW, ("deep_dpm",),
    ("points, priors and training are not in the paper; a new cluster's density is eq. 19 as corrected", ),
)  # fmt: skip
#: Of MNIST, where the paper's base is Gamma(α₀ = 2000, β₀ = 1000): 400 items of 10 columns, and a variance of .5.
_PRIOR = (
    Setting("model.alpha", "concentration (null: drawn)", 1e-3),
    Setting("model.mean_strength", "κ₀", 0.005),
    Setting("model.variance_strength", "items that the prior variance counts for", 400.0),
    Setting("model.scatter", "expected variance of a cluster", 0.5),
    Setting("model.eq19", "eq. 19", "printed"),
)
_TRAINING = tuple(
    Setting(key, label, value, said=said, model="deep_dpm")
    for key, label, value, said in (
        ("model.n_warm", "first epochs without the flow", 3, ""),
        ("model.n_epochs", "epochs", 5, ""),
        ("model.n_sweeps", "sweeps of an epoch", 3, ""),
        ("model.n_steps", "steps of the flow in an epoch", None, "N / 5"),
        ("model.batch_size", "items of a step", 128, ""),
        ("model.learning_rate", "learning rate", 1e-6, ""),
    )
)
TABLE_2 = Protocol(
    1, (*_PRIOR, *_TRAINING, *_FLOW), ("deep_dpm", "dpm"),
    ("the paper does not say how many runs are behind a number; its autoencoder takes many more steps", ),
)  # fmt: skip
