"""A generated table whose classes come in families of similar classes, as in many real data sets."""

import numpy as np

from semicrowd.random import stream

#: Number of items.
_ITEMS = 4500
#: Number of features.
_FEATURES = 166
#: Number of independent sources, of which the features are linear maps.
_SOURCES = 20
#: Number of classes of each family.
_FAMILIES = (4, 3, 4, 3)
#: Distance of families, in standard deviations of an item in one of the sources.
_BETWEEN = 0.7
#: Distance of classes within a family, in the same unit.
_WITHIN = 0.5


def draw_families() -> tuple[np.ndarray, np.ndarray]:
    """Features [4500, 166] and classes [4500], 0 … 13; classes of a family have neighbouring numbers.

    An item is a point of 20 sources: Gaussian around its class, which is Gaussian around its family. Each feature is a
    linear map of the sources plus noise of the same variance, in a unit of its own; every fifth is skewed (exp). The
    largest class has at most about four times the items of the smallest. The table is always the same.
    """
    rng = stream(0, "families")
    num_classes = sum(_FAMILIES)
    family = np.repeat(np.arange(len(_FAMILIES)), _FAMILIES)
    centre = _BETWEEN * rng.normal(size=(len(_FAMILIES), _SOURCES))[family]
    centre += _WITHIN * rng.normal(size=(num_classes, _SOURCES))
    size = rng.uniform(1, 4, num_classes)
    labels = rng.choice(num_classes, _ITEMS, p=size / size.sum())
    source = centre[labels] + rng.normal(size=(_ITEMS, _SOURCES))
    features = source @ rng.normal(size=(_SOURCES, _FEATURES)) / np.sqrt(_SOURCES)
    features += rng.normal(size=features.shape) * features.std(axis=0)
    features /= features.std(axis=0)
    features[:, ::5] = np.exp(features[:, ::5])
    return features * np.exp(rng.normal(0, 1.5, _FEATURES)) + rng.normal(0, 10, _FEATURES), labels
