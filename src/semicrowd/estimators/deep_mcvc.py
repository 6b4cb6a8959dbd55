"""Deep MCVC: MCVC with a network in place of its linear map (SCDC paper, appendix C)."""

from collections.abc import Sequence

from semicrowd.estimators.mcvc import MCVC


class DeepMCVC(MCVC):
    """:class:`MCVC` whose views are networks with hidden layers, by default the paper's 40 and 40 ReLU units.

    Everything else is as there: every weight of the network has the prior N(0, 1). Step size and number of steps were
    chosen by the bound. Parameters and attributes are those of :class:`MCVC`.
    """

    def __init__(
        self,
        n_clusters: int = 4,
        *,
        n_views: int = 5,
        n_restarts: int = 20,
        hidden: Sequence[int] = (40, 40),
        quality_prior: tuple[float, float] = (10.0, 1.0),
        learning_rate: float = 0.03,
        n_steps: int = 600,
        n_held: int = 40,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            n_clusters,
            n_views=n_views,
            n_restarts=n_restarts,
            hidden=hidden,
            quality_prior=quality_prior,
            learning_rate=learning_rate,
            n_steps=n_steps,
            n_held=n_held,
            random_state=random_state,
        )
