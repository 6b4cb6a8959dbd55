"""Luo et al. 2018, the paper of SCDC and BayesSCDC."""

from functools import partial

from semicrowd.report.exhibits import Exhibit
from semicrowd.report.papers.scdc import cifar, face, mnist, paper, pinwheel

TITLE = "Luo, Tian, Shi, Zhu & Zhang 2018: Semi-crowdsourced clustering with deep generative models"
VERIFIED = "pinwheel_two_coin"
EXHIBITS = (
    Exhibit("figure-1", "Fig. 1", "graphical model of SCDC", computed=False),
    Exhibit(
        "figure-2", "Fig. 2", "pinwheel: the data, a good and a bad start without answers, with answers",
        values=paper.FIGURE_2_PRINTED, protocol=paper.FIGURE_2, fill=pinwheel.figure_2,
        gap="With protocol paper, of the 100 recorded starts without answers 36 end with one cluster, 28 with two and "
            "36 with three to nine, but the highest ELBO of ten is that of a start with one cluster in seven runs and "
            "with two in the others, and no start is as accurate as the paper's good one; the stated step size of 1e-4 "
            "moves the mixture by only 2 % in the 200 steps of 20 epochs; the rows \"between\" have the smallest "
            "changes that were found to work from the same cold start, Adam, step size .1, the svi gradient and more "
            "epochs, and protocol semicrowd also changes the start.",
    ),
    Exhibit(
        "figure-3a", "Fig. 3a", "Face: NMI against the number of answers, pairs over all images",
        protocol=paper.FACE, fill=partial(face.figure_3ab, face.ALL),
        gap="Protocol paper starts at random and ends with one cluster in all recorded fits of SCDC, and with one or "
            "two clusters in those of BayesSCDC: 'all images in one cluster' is a fixed point of training if half of "
            "the pairs show the same pose; our default starts from co-training instead, and the paired differences "
            "show what the models add to this start.",
    ),
    Exhibit(
        "figure-3b", "Fig. 3b", "Face: NMI against the number of answers, pairs over 100 images",
        protocol=paper.FACE, fill=partial(face.figure_3ab, face.SOME),
        gap="The answers are about 100 images only, so that the other images are clustered by their features, which "
            "depend on the person more than on the pose: classifiers that are trained on the true poses of 100 images "
            "do no better (docs/BENCHMARKS.md), and a cold start fails as in Fig. 3a.",
    ),
    Exhibit(
        "figure-3c", "Fig. 3c", "Face: true and estimated weights of five annotators",
        protocol=paper.FACE, fill=face.figure_3c,
        gap="The paper prints no numbers; if nearly all items are in the correct cluster, an annotator's estimate is "
            "the share of correct answers, and its remaining error is sampling noise.",
    ),
    Exhibit(
        "table-1", "Table 1", "MNIST: SCDC and BayesSCDC without and with crowd answers",
        values=paper.TABLE_1_PRINTED, protocol=paper.TABLE_1, fill=mnist.table_1,
        gap="Our runs of protocol paper have one start instead of ten; SCDC loses all clusters but one in its first "
            "ten epochs, with and without answers (one seed each), unless it starts from clusters of a VAE's latent "
            "means; BayesSCDC is below the paper's accuracy with the stated step size, and with the released code's, "
            "with which a cold start reaches the NMI of the authors' code on the same data, but its accuracy in only "
            "one of three seeds, because the other seeds divide digits into several clusters, of which accuracy counts "
            "one for each digit; protocol semicrowd differs by its start, its views and SCDC's convolutional networks, "
            "and rows without one of these show what each adds.",
    ),
    Exhibit(
        "figure-4a", "Fig. 4a", "MNIST: samples of 50 clusters while BayesSCDC trains",
        protocol=paper.FIGURE_4A, fill=mnist.figure_4a,
        gap="The paper prints no numbers and trains for 200 epochs, whereas profile laptop trains for a few: protocol "
            "paper shows the beginning of training only, and protocol semicrowd has few clusters from the beginning, "
            "because its start joins clusters.",
    ),
    Exhibit(
        "figure-4b", "Fig. 4b", "CIFAR-10: SCDC without and with crowd answers",
        values=paper.FIGURE_4B_PRINTED, protocol=paper.FIGURE_4B, fill=cifar.figure_4b,
        gap="In profile laptop our runs have a tenth of the images, a quarter of the annotated images, smaller "
            "networks, fewer epochs and answers of a simulated crowd, of which only the networks' width has been "
            "varied (recorded rows); our clusters also come from patches of the images, which the paper does not use.",
    ),
    Exhibit(
        "figure-5", "Fig. 5", "Face: deep MCVC beside MCVC and SCDC (and their NMI on CIFAR-10)",
        values=paper.FIGURE_5_PRINTED, protocol=paper.FACE, fill=cifar.figure_5,
        gap="The cause is not known, because the paper says neither which features and networks deep MCVC has on "
            "CIFAR-10 nor over which images the number is computed, and its answers were never published.",
    ),
)  # fmt: skip
