"""Nguyen et al. 2017, the paper of the discriminative Dirichlet process mixtures and hidden Markov models."""

from semicrowd.report.exhibits import Exhibit
from semicrowd.report.papers.discriminative_bnp import figures, paper, tables

TITLE = "Nguyen, Phung, Le & Bui 2017: Discriminative Bayesian nonparametric clustering"
VERIFIED = "bnp_chains_dpm"
EXHIBITS = (
    Exhibit("figure-1", "Fig. 1", "graphical models of DDPM and DIH", computed=False),
    Exhibit(
        "figure-2", "Fig. 2", "a chain of linear Gaussian clusters: DPM, DDPM-L, DDPM-S",
        values=paper.FIGURE_2_PRINTED, protocol=paper.FIGURE_2, fill=figures.figure_2,
        gap="The paper does not give its points and prior, and a Markov chain ends with two clusters only if it can "
            "join the pieces of a row of Gaussians again: ours proposes splits and merges together with their "
            "hyperplanes, without which fewer Markov chains found two clusters (docs/BENCHMARKS.md).",
    ),
    Exhibit(
        "table-1", "Table 1", "three image sets: K, NMI and F1 of eight methods",
        values=paper.TABLE_1_PRINTED, protocol=paper.TABLE_1, fill=tables.table_1,
        gap="The paper does not say which 1,000 images it has nor how pixels become counts, and a method's scores "
            "differ more between draws of the images than the methods differ; our chains have also not mixed, so that "
            "numbers depend on the first partition.",
    ),
    Exhibit(
        "figure-3", "Fig. 3", "NUS-WIDE: NMI and K against the prior scale of the hyperplanes",
        values=paper.FIGURE_3_PRINTED, protocol=paper.FIGURE_3, fill=figures.figure_3,
        gap="Our data are different, because the paper's may not be redistributed: only the shape of the curves can be "
            "compared.",
    ),
    Exhibit(
        "table-2", "Table 2", "WiFi scans of three users: NMI and F1 of six methods",
        values=paper.TABLE_2_PRINTED, protocol=paper.TABLE_2, fill=tables.table_2,
        gap="Our data are different, because the paper's may not be redistributed: only the order of the methods can "
            "be compared, and our chains have not mixed.",
    ),
    Exhibit(
        "figure-4", "Fig. 4", "F1 against CPU time on one user", protocol=paper.TABLE_2, fill=figures.figure_4,
        gap="The paper prints no numbers, and its data may not be redistributed.",
    ),
)  # fmt: skip
