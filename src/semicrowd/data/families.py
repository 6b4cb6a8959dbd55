"""A generated table like those of real groupings: kinds come in families whose members look alike."""

import numpy as np

from semicrowd.random import stream

_ITEMS = 4500
_FEATURES = 166
_SOURCES = 20
#: Kinds of each family.
_FAMILIES = (4, 3, 4, 3)
#: Distance of families, in standard deviations of an item in one of the sources.
_BETWEEN = 0.7
#: Distance of classes within a family, in the same unit.
_WITHIN = 0.5


def draw_families() -> tuple[np.ndarray, np.ndarray]:
    """Features [4500, 166] and kinds [4500], 0 … 13; kinds of a family have neighbouring numbers.

    An item is a point of 20 sources: Gaussian around its kind, which is Gaussian around its family. Each feature is a
    linear map of the sources with as much noise of its own, in a unit of its own; every fifth is skewed (exp). Kinds
    have sizes between 1 : 4. The table is always the same.
    """
    rng = stream(0, "families")
    num_kinds = sum(_FAMILIES)
    family = np.repeat(np.arange(len(_FAMILIES)), _FAMILIES)
    centre = _BETWEEN * rng.normal(size=(len(_FAMILIES), _SOURCES))[family]
    centre += _WITHIN * rng.normal(size=(num_kinds, _SOURCES))
    size = rng.uniform(1, 4, num_kinds)
    kind = rng.choice(num_kinds, _ITEMS, p=size / size.sum())
    source = centre[kind] + rng.normal(size=(_ITEMS, _SOURCES))
    features = source @ rng.normal(size=(_SOURCES, _FEATURES)) / np.sqrt(_SOURCES)
    features += rng.normal(size=features.shape) * features.std(axis=0)
    features /= features.std(axis=0)
    features[:, ::5] = np.exp(features[:, ::5])
    return features * np.exp(rng.normal(0, 1.5, _FEATURES)) + rng.normal(0, 10, _FEATURES), kind
