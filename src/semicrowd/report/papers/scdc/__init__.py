"""Luo et al. 2018, the paper of SCDC and BayesSCDC."""

from functools import partial

from semicrowd.report.exhibits import Exhibit
from semicrowd.report.papers.scdc import figure2, figure3, figure4a, figure4b, figure5, paper_values, protocols, table1

TITLE = "Luo, Tian, Shi, Zhu & Zhang 2018: Semi-crowdsourced clustering with deep generative models"
VERIFIED = "pinwheel_two_coin"
EXHIBITS = (
    Exhibit("figure-1", "Fig. 1", "graphical model of SCDC", computed=False),
    Exhibit(
        "figure-2", "Fig. 2", "pinwheel: the data, a good and a bad start without answers, with answers",
        values=paper_values.FIGURE_2, protocol=protocols.FIGURE_2, fill=figure2.build,
    ),
    Exhibit(
        "figure-3a", "Fig. 3a", "Face: NMI against the number of answers, pairs over all images",
        protocol=protocols.FACE, fill=partial(figure3.curves, figure3.ALL),
    ),
    Exhibit(
        "figure-3b", "Fig. 3b", "Face: NMI against the number of answers, pairs over 100 images",
        protocol=protocols.FACE, fill=partial(figure3.curves, figure3.SOME),
    ),
    Exhibit(
        "figure-3c", "Fig. 3c", "Face: true and estimated weights of five annotators",
        protocol=protocols.FACE, fill=figure3.weights,
    ),
    Exhibit(
        "table-1", "Table 1", "MNIST: SCDC and BayesSCDC without and with crowd answers",
        values=paper_values.TABLE_1, protocol=protocols.TABLE_1, fill=table1.build,
    ),
    Exhibit(
        "figure-4a", "Fig. 4a", "MNIST: samples of 50 clusters while BayesSCDC trains",
        protocol=protocols.FIGURE_4A, fill=figure4a.build,
    ),
    Exhibit(
        "figure-4b", "Fig. 4b", "CIFAR-10: SCDC without and with crowd answers",
        values=paper_values.FIGURE_4B, protocol=protocols.FIGURE_4B, fill=figure4b.build,
    ),
    Exhibit(
        "figure-5", "Fig. 5", "Face: deep MCVC beside MCVC and SCDC (and their NMI on CIFAR-10)",
        values=paper_values.FIGURE_5, protocol=protocols.FACE, fill=figure5.build,
    ),
)  # fmt: skip
