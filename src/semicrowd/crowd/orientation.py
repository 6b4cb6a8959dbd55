"""Detection of annotators with inverted answers, without labels."""

import numpy as np
from jaxtyping import Bool, Int
from scipy.stats import fisher_exact

from semicrowd.crowd.annotations import PairAnnotations

#: Probability of a false positive for an annotator whose answers are independent of the cells.
LEVEL = 1e-3


def reversed_annotators(cells: Int[np.ndarray, "N"], annotations: PairAnnotations) -> Bool[np.ndarray, "M"]:
    """Annotators who answer "same" significantly less often about two items of one cell than about other pairs, [M].

    A model that initially assumes good annotators would explain inverted answers by one large cluster. The cells need
    not be the classes; it is enough that items of one cell are more often of the same class than other items. The test
    is Fisher's exact test of each annotator's answers and the cells, at the level :data:`LEVEL`.

    Parameters
    ----------
    cells : [N] k-means cell of each item
    """
    same = (cells[annotations.i] == cells[annotations.j]).astype(np.int64)
    table = np.zeros((annotations.num_annotators, 2, 2), np.int64)
    np.add.at(table, (annotations.worker, same, annotations.label), 1)
    return np.array([fisher_exact(counts, alternative="less").pvalue < LEVEL for counts in table])
