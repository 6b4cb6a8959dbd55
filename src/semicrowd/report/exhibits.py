"""Every table and figure of the four papers, so that none is missing from the report without being named.

An exhibit with experiments here is filled by a module of its own (``figure2.py``, ``table1.py``, …); the others appear
as rows "not yet done".
"""

from dataclasses import dataclass

PAPERS: dict[str, str] = {
    "scdc": "Luo, Tian, Shi, Zhu & Zhang 2018: Semi-crowdsourced clustering with deep generative models",
    "slpd": "Li, Ying & Campbell 2009: A variational approach to semi-supervised clustering",
    "discriminative-bnp": "Nguyen, Phung, Le & Bui 2017: Discriminative Bayesian nonparametric clustering",
    "deep-dpm": "Li, Li, Jiang & Xia 2022: Deep Dirichlet process mixture models",
}


@dataclass(frozen=True)
class Exhibit:
    """One table or figure of a paper.

    Attributes
    ----------
    key
        ``paper/label``, also the anchor in the report.
    label
        As the paper numbers it.
    title
        What it shows, in our words.
    computed
        False for diagrams and lists of settings: there is no result to reproduce.
    """

    key: str
    label: str
    title: str
    computed: bool = True

    @property
    def paper(self) -> str:
        """Key of the paper in :data:`PAPERS`."""
        return self.key.split("/", maxsplit=1)[0]


EXHIBITS: tuple[Exhibit, ...] = (
    Exhibit("scdc/figure-1", "Fig. 1", "graphical model of SCDC", computed=False),
    Exhibit("scdc/figure-2", "Fig. 2", "pinwheel: the data, a good and a bad start without answers, with answers"),
    Exhibit("scdc/figure-3a", "Fig. 3a", "Face: NMI against the number of answers, pairs over all images"),
    Exhibit("scdc/figure-3b", "Fig. 3b", "Face: NMI against the number of answers, pairs over 100 images"),
    Exhibit("scdc/figure-3c", "Fig. 3c", "Face: true and estimated weights of five annotators"),
    Exhibit("scdc/table-1", "Table 1", "MNIST: SCDC and BayesSCDC without and with crowd answers"),
    Exhibit("scdc/figure-4a", "Fig. 4a", "MNIST: samples of 50 clusters while BayesSCDC trains"),
    Exhibit("scdc/figure-4b", "Fig. 4b", "CIFAR-10: SCDC without and with crowd answers"),
    Exhibit("scdc/figure-5", "Fig. 5", "Face: deep MCVC beside MCVC and SCDC (and their NMI on CIFAR-10)"),
    Exhibit("slpd/figure-1", "Fig. 1", "graphical model of SLPD", computed=False),
    Exhibit("slpd/table-1", "Table 1", "sizes of the six data sets"),
    Exhibit("slpd/table-2", "Table 2", "four UCI sets: balanced Rand index of k-means, constrained k-means, LPD, SLPD"),
    Exhibit("slpd/table-3", "Table 3", "two microarray sets: balanced Rand index of the same four"),
    Exhibit("slpd/figure-2", "Fig. 2", "wine: held-out log-likelihood against the number of clusters; a dendrogram"),
    Exhibit("discriminative-bnp/figure-1", "Fig. 1", "graphical models of DDPM and DIH", computed=False),
    Exhibit("discriminative-bnp/figure-2", "Fig. 2", "a chain of linear Gaussian clusters: DPM, DDPM-L, DDPM-S"),
    Exhibit("discriminative-bnp/table-1", "Table 1", "three image sets: K, NMI and F1 of eight methods"),
    Exhibit("discriminative-bnp/figure-3", "Fig. 3", "NUS-WIDE: NMI and K against the prior scale of the hyperplanes"),
    Exhibit("discriminative-bnp/table-2", "Table 2", "WiFi scans of three users: NMI and F1 of six methods"),
    Exhibit("discriminative-bnp/figure-4", "Fig. 4", "F1 against CPU time on one user"),
    Exhibit("deep-dpm/figure-1", "Fig. 1", "two synthetic sets: latent space while DDPM trains, final clusters"),
    Exhibit("deep-dpm/table-1", "Table 1", "hyper-parameters of the priors", computed=False),
    Exhibit("deep-dpm/table-2", "Table 2", "four real sets: ARI, F and V of G-means, DPM, DDPM"),
    Exhibit("deep-dpm/figure-2", "Fig. 2", "autoencoder features against flow features: under DPM, under k-means"),
    Exhibit("deep-dpm/figure-3", "Fig. 3", "MNIST: t-SNE of the features over epochs"),
    Exhibit("deep-dpm/figure-4", "Fig. 4", "MNIST: digits generated for each cluster"),
    Exhibit("deep-dpm/table-3", "Table 3", "MNIST: DPM and DDPM against the training length of the autoencoder"),
)


def exhibit(key: str) -> Exhibit:
    """The exhibit with this key.

    Raises
    ------
    KeyError
        If no paper has it.
    """
    for entry in EXHIBITS:
        if entry.key == key:
            return entry
    raise KeyError(f"no exhibit {key!r}")
