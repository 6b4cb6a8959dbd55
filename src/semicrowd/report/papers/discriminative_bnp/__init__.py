"""Nguyen et al. 2017. Nothing of it has been computed yet."""

from semicrowd.report.exhibits import Exhibit

TITLE = "Nguyen, Phung, Le & Bui 2017: Discriminative Bayesian nonparametric clustering"
EXHIBITS = (
    Exhibit("figure-1", "Fig. 1", "graphical models of DDPM and DIH", computed=False),
    Exhibit("figure-2", "Fig. 2", "a chain of linear Gaussian clusters: DPM, DDPM-L, DDPM-S"),
    Exhibit("table-1", "Table 1", "three image sets: K, NMI and F1 of eight methods"),
    Exhibit("figure-3", "Fig. 3", "NUS-WIDE: NMI and K against the prior scale of the hyperplanes"),
    Exhibit("table-2", "Table 2", "WiFi scans of three users: NMI and F1 of six methods"),
    Exhibit("figure-4", "Fig. 4", "F1 against CPU time on one user"),
)
