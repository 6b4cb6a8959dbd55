"""Annotators who answer the opposite of what they see, found without labels."""

import numpy as np
from jaxtyping import Bool, Int
from scipy.stats import fisher_exact

from semicrowd.crowd.annotations import PairAnnotations

#: Chance of calling an annotator reversed whose answers have nothing to do with the cells.
LEVEL = 1e-3


def reversed_annotators(cells: Int[np.ndarray, "N"], annotations: PairAnnotations) -> Bool[np.ndarray, "M"]:
    """Annotators who say "same" of two items of one cell less often than of items of two, [M].

    A model that starts by believing everybody explains the answers of a reversed annotator by one large cluster. Cells
    of the features need not be the kinds: it is enough that items of one cell are of one kind more often than others.
    Fisher's exact test of each annotator's answers against the cells decides, at :data:`LEVEL`.

    Parameters
    ----------
    cells : [N], cell of every item
    """
    same = (cells[annotations.i] == cells[annotations.j]).astype(np.int64)
    table = np.zeros((annotations.num_annotators, 2, 2), np.int64)
    np.add.at(table, (annotations.worker, same, annotations.label), 1)
    return np.array([fisher_exact(counts, alternative="less").pvalue < LEVEL for counts in table])
