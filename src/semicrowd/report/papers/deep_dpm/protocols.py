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
