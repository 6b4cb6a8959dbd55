"""Two parallel chains of Gaussians (Nguyen et al. 2017, Fig. 2)."""

import numpy as np

from semicrowd.random import stream

#: Links of a chain.
_LINKS = 5
#: Items of a link.
_ITEMS = 30
#: Distance of neighbouring links of a chain.
_STEP = 2.0
#: Distance of the chains.
_APART = 3.0
#: Standard deviation of a link.
_SD = 0.5


def draw_chains() -> tuple[np.ndarray, np.ndarray]:
    """Features [300, 2] and chains [300]: five round Gaussians in a row, and five more beside them.

    The paper draws them and gives no numbers. Here a link has standard deviation .5, its neighbours in the chain are 2
    away and the other chain 3. Everything is centred: a hyperplane through the origin lies between the chains. The
    items are always the same.
    """
    rng = stream(0, "chains")
    chain = np.repeat(np.arange(2), _LINKS * _ITEMS)
    link = np.tile(np.repeat(np.arange(_LINKS), _ITEMS), 2)
    centre = np.stack([_STEP * (link - (_LINKS - 1) / 2), _APART * (chain - 0.5)], axis=1)
    return centre + _SD * rng.normal(size=centre.shape), chain
