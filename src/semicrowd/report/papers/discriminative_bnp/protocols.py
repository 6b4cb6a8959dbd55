"""How the paper ran what its tables and figures show."""

from semicrowd.report.protocol import Protocol, Setting

_MIXTURES, _SEQUENTIAL = ("dpm", "ddpm_s", "ddpm_l"), ("ihmm", "dih_s", "dih_l")
_DISCRIMINATIVE = ("ddpm_s", "ddpm_l", "dih_s", "dih_l")
_ALL = (
    Setting("model.n_chains", "runs (here: chains)", 10),
    Setting("model.n_kept", "last samples of each", 5),
    Setting("model.alpha_prior", "Gamma prior of the concentration", [1.0, 1.0]),
)
_HYPERPLANES = tuple(
    setting
    for model in _DISCRIMINATIVE
    for setting in (
        Setting("model.n_warm", "first sweeps without hyperplanes", 10, model=model),
        Setting("model.w", "prior variance of the hyperplanes", 1.0, model=model),
        Setting("model.bias", "hyperplanes that need not go through the origin", False, model=model),
        Setting("model.scale", "what hyperplanes see", "none", said="the counts as they are", model=model),
        Setting("model.new", "hyperplane of a new cluster", "paper", said="of the prior", model=model),
    )
)
_COUNTS = (
    Setting("model.family", "clusters", "multinomial"),
    Setting("model.dirichlet", "parameter of the Dirichlet base", 0.01),
)
_SWEEPS = "the number of sweeps is not in the paper; the posterior is sampled as corrected (docs/DEVIATIONS.md)"

TABLE_1 = Protocol(1, (*_ALL, *_COUNTS, *_HYPERPLANES), _MIXTURES)
#: The figure varies w.
FIGURE_3 = Protocol(
    1, tuple(setting for setting in TABLE_1.settings if setting.key != "model.w"), _MIXTURES,
    ("optdigits in place of NUS-WIDE's animals",),
)
TABLE_2 = Protocol(1, (*_ALL, *_COUNTS, *_HYPERPLANES), (*_MIXTURES, *_SEQUENTIAL), (_SWEEPS,))
FIGURE_2 = Protocol(
    1, (*_ALL, Setting("model.family", "clusters", "gaussian"), *_HYPERPLANES), _MIXTURES,
    ("points, prior covariance and number of sweeps are not in the paper", ),
)  # fmt: skip
