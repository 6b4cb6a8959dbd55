"""Initial clusters of a VAE's latent means: a Gaussian mixture by variational Bayes, whose components are then joined.

As in VaDE (Jiang et al. 2017) a VAE comes first and then a mixture of its latent variables. The mixture is the model's
own, fitted by the model's own inference with q(x) held fixed. A class is seldom one Gaussian, so components are joined
by the integrated completed likelihood (Biernacki, Celeux & Govaert 2000), as Baudry et al. (2010) do.
"""

import numpy as np
import torch
from jaxtyping import Float
from sklearn.cluster import KMeans
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import pair_evidence
from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.inference.graph import PairGraph, answer_graph
from semicrowd.inference.message_passing import infer_z, log_softmax, unary_message
from semicrowd.inference.statistics import ExpectedGlobals
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.training_data import TrainingData
from semicrowd.random import stream
from semicrowd.starts.vae import latent_means

#: Items that k-means is fitted to, at most.
MOST_ITEMS = 20_000
#: Components at first, at least; K if that is more.
LEAST_COMPONENTS = 15
#: (Maximal number of updates, tolerance) of variational Bayes: of q(z) and q(π, μ, Σ) in turns.
UPDATES = (60, 1e-2)
#: Sweeps of message passing in each update.
SWEEPS = 2


def mixture_clusters(
    model: GenerativeModel, data: TrainingData, t_x: Float[Tensor, "R N S"], restart: int
) -> Float[Tensor, "N K"]:
    """q(z) of all items: variational Bayes from k-means, then joins while E ln p(x, z, L) rises or above K components.

    Parameters
    ----------
    t_x : E t(x) of every item under the VAE
    """
    answers, rng = data.annotations, stream(data.seed, "mixture", restart)
    latent, t_x = latent_means(model, t_x[restart]), t_x[restart].cpu()
    rows = rng.permutation(len(latent))[:MOST_ITEMS]
    number = min(max(LEAST_COMPONENTS, model.num_clusters), len(rows))
    kmeans = KMeans(number, n_init=1, random_state=int(rng.integers(2**31))).fit(latent[rows])
    cells = torch.from_numpy(kmeans.predict(latent)).long()
    z = torch.nn.functional.one_hot(cells, number).to(t_x.dtype)
    statistics = torch.cat([t_x, t_x.new_ones(len(t_x), 2)], -1)
    with torch.no_grad():
        of_annotators = [log[restart, None].cpu().to(t_x.dtype) for log in model.annotator_statistics()]
        prior = model.mixture_prior()
        pi, components = prior.pi[:, :1], prior.components[0]
        if answers is not None:
            items, (graph, _) = answers.index.whole.items, answer_graph(answers.index.whole, *of_annotators)
        for _ in range(UPDATES[0]):
            before, expected = z, _expected(pi, components, z, statistics, of_annotators)
            unary = unary_message(t_x[None], expected)
            z = log_softmax(unary)[0].exp()
            if answers is not None:
                log_before = before[None, items].clamp(min=1e-30).log()
                z[items] = infer_z(unary[:, items], graph, SWEEPS, start=log_before)[0].exp()
            if (z - before).abs().max() <= UPDATES[1]:
                break
        gains = None if answers is None else answer_gains(graph, z[items])
        return joined(z, statistics, pi[0, 0], components[0], model.num_clusters, gains)


def _expected(pi: Tensor, components: Tensor, z: Tensor, statistics: Tensor, of_annotators: list) -> ExpectedGlobals:
    """E t(Θ) under the posterior given q(z) (eqs. 26 and 27 at ρ = 1)."""
    log_pi = dirichlet.expected_statistics(pi + z.sum(0).double())
    of_components = normal_inverse_wishart.expected_statistics(components + (z.mT @ statistics).double())
    return ExpectedGlobals(log_pi, of_components[None], *of_annotators).cast(z.dtype)


@torch.no_grad()
def answer_weights(model: GenerativeModel, restart: int, answers: PairAnnotations) -> np.ndarray:
    """w_ij of every answer (eq. 14) under the model's q(α) and q(β)."""
    sensitivity, specificity = (log[restart, None].cpu() for log in model.annotator_statistics())
    worker, label = torch.from_numpy(answers.worker), torch.from_numpy(answers.label)
    return pair_evidence(sensitivity, specificity, worker, label).weight[0].numpy()


def answer_gains(graph: PairGraph, z: Float[Tensor, "n C"]) -> Float[Tensor, "C C"]:
    """What joining two components adds to E ln p(L | z) (eq. 20): Σ w_ij q(z_i = a) q(z_j = b), in both orders."""
    one_way = (z[graph.i] * graph.weight[0, :, None]).mT @ z[graph.j]
    return (one_way + one_way.mT).double()


def joined(
    z: Float[Tensor, "N C"],
    statistics: Float[Tensor, "N F"],
    pi: Float[Tensor, ""],
    components: Float[Tensor, "F"],
    most: int,
    gains: Float[Tensor, "C C"] | None = None,
) -> Float[Tensor, "N K"]:
    """Join the two components whose union raises the integrated completed likelihood most, until none does.

    That is E ln p(x, z) with π, μ and Σ integrated out, at the expected statistics, plus the answers' E ln p(L | z).

    Parameters
    ----------
    statistics : (E t(x), 1, 1)
    pi, components : natural parameters of the prior of one component
    most : K; above it components are joined even if none of the unions raises it
    gains : from :func:`answer_gains`
    """
    totals, sizes, number = (z.mT @ statistics).double(), z.sum(0).double(), z.shape[1]
    gains = totals.new_zeros(number, number) if gains is None else gains.clone()

    def evidence(total: Tensor, size: Tensor) -> Tensor:
        return normal_inverse_wishart.log_partition(components + total) + torch.lgamma(size + pi + 1)

    empty = evidence(torch.zeros_like(components), torch.zeros_like(pi))
    own = evidence(totals, sizes) - empty
    change = evidence(totals[:, None] + totals, sizes[:, None] + sizes) - empty - own[:, None] - own + gains
    change.fill_diagonal_(-torch.inf)
    group, left = torch.arange(number), number
    while left > 1 and (change.max() > 0 or left > most):
        kept, gone = divmod(int(change.argmax()), number)
        group[group == gone] = kept
        totals[kept] += totals[gone]
        sizes[kept] += sizes[gone]
        gains[kept] += gains[gone]
        gains[:, kept] = gains[kept]
        own[kept] = evidence(totals[kept], sizes[kept]) - empty
        row = evidence(totals[kept] + totals, sizes[kept] + sizes) - empty - own[kept] - own + gains[kept]
        change[gone] = change[:, gone] = -torch.inf
        row = torch.where(change[kept].isfinite(), row, -torch.inf)
        change[kept], change[:, kept] = row, row
        left -= 1
    return z.new_zeros(len(z), most).index_add(1, group.unique(return_inverse=True)[1], z)
