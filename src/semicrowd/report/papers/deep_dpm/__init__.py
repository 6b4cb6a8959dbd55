"""Li et al. 2022."""

from semicrowd.report.exhibits import Exhibit, Protocol
from semicrowd.report.papers.deep_dpm import figures, paper, tables

TITLE = "Li, Li, Jiang & Xia 2022: Deep Dirichlet process mixture models"
VERIFIED = "deep_moons_dpm"
EXHIBITS = (
    Exhibit(
        "figure-1", "Fig. 1", "two synthetic sets: latent space while DDPM trains, final clusters",
        protocol=paper.FIGURE_1, fill=figures.figure_1,
        gap="The paper prints no numbers and does not give its points, priors and training; our seeds differ in "
            "whether the moves of whole clusters find the right number of clusters before the flow is trained.",
    ),
    Exhibit("table-1", "Table 1", "hyper-parameters of the priors", computed=False),
    Exhibit(
        "table-2", "Table 2", "four real sets: ARI, F and V of G-means, DPM, DDPM",
        values=paper.TABLE_2_PRINTED, protocol=paper.TABLE_2, fill=tables.table_2,
        gap="Our sampler also moves whole clusters, our flow has a larger step size and more epochs, and our "
            "autoencoder was trained for fewer steps; DPM, whose flow takes no step, shows how much the codes and the "
            "moves account for together, but not which of the two.",
    ),
    Exhibit(
        "figure-2", "Fig. 2", "autoencoder features against flow features: under DPM, under k-means",
        protocol=paper.TABLE_2, fill=figures.figure_2,
        gap="The runs are those of Table 2, with the same causes; the paper prints no further numbers.",
    ),
    Exhibit(
        "figure-3", "Fig. 3", "MNIST: t-SNE of the features over epochs",
        fill=figures.figure_3,
        gap="The paper prints no numbers; the epochs shown are those of our longer training.",
    ),
    Exhibit(
        "figure-4", "Fig. 4", "MNIST: digits generated for each cluster",
        fill=figures.figure_4,
        gap="The paper prints no numbers; a digit has a row if it is the most frequent digit of some cluster.",
    ),
    Exhibit(
        "table-3", "Table 3", "MNIST: DPM and DDPM against the training length of the autoencoder",
        values=paper.TABLE_3_PRINTED, protocol=paper.TABLE_2, fill=tables.table_3,
        gap="The causes are those of Table 2; as our autoencoder takes fewer steps in all, a quarter of its training "
            "is also shorter than a quarter of the paper's.",
    ),
    Exhibit(
        "crowd", "Beyond the paper", "MNIST: the crowd's answers as links, beside BayesSCDC",
        protocol=Protocol(runs=None), fill=tables.crowd,
    ),
)  # fmt: skip
