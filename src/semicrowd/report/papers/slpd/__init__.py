"""Li, Ying and Campbell 2009. Nothing of it has been computed yet."""

from semicrowd.report.exhibits import Exhibit

TITLE = "Li, Ying & Campbell 2009: A variational approach to semi-supervised clustering"
EXHIBITS = (
    Exhibit("figure-1", "Fig. 1", "graphical model of SLPD", computed=False),
    Exhibit("table-1", "Table 1", "sizes of the six data sets"),
    Exhibit("table-2", "Table 2", "four UCI sets: balanced Rand index of k-means, constrained k-means, LPD, SLPD"),
    Exhibit("table-3", "Table 3", "two microarray sets: balanced Rand index of the same four"),
    Exhibit("figure-2", "Fig. 2", "wine: held-out log-likelihood against the number of clusters; a dendrogram"),
)
