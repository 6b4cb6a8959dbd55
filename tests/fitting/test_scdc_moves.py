"""Moves of SCDC's clusters: planted unions and halves are mended, no round lowers the bound, a refit is its optimum."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from tests.small_fits import SmallFit, small_fit

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.moves import merge_moves, split_moves
from semicrowd.fitting.scdc_moves import MovableSCDC
from semicrowd.inference.mixture import cuts, partition_posterior
from semicrowd.models.scdc import SCDC
from semicrowd.starts.teaching import teach_classifier
from semicrowd.starts.vae import latent_statistics

#: All fits begin with the same VAE.
pytestmark = pytest.mark.shares_starts
CENTRES = np.array([[-6.0, 0.0], [6.0, 0.0], [0.0, 8.0]])
KIND = np.arange(240) % 3
UNITED = np.where(KIND == 2, 0, KIND)


def blobs(annotations: PairAnnotations | None = None, restarts: int = 1, **settings: Any) -> SmallFit[SCDC]:
    """Three clear clusters of 80 points, and a VAE that has seen them."""
    noise = np.random.default_rng(0).normal(size=(len(KIND), 2))
    features = (CENTRES[KIND] + noise).astype(np.float32)
    fit = small_fit("scdc", features, annotations, restarts=restarts, K=6,
                    start={"epochs": 40, "teach_epochs": 60, "learning_rate": 0.01}, **settings)  # fmt: skip
    fit.begin()
    return fit


def plant(fit: SmallFit[SCDC], clusters: np.ndarray) -> None:
    """The mixture and q(z | o) of given clusters, [R, N] or [N]."""
    model = fit.model
    found = torch.from_numpy(np.broadcast_to(clusters, (model.num_restarts, len(KIND))).copy())
    t_x = latent_statistics(model, fit.features)
    model.set_mixture(partition_posterior(model.mixture_prior(), t_x, found))
    teach_classifier(model, fit.data, fit.recipe.start, found, fit.said.append)


def partition(fit: SmallFit[SCDC], restart: int) -> set[tuple[int, int]]:
    """Pairs of a cluster and a kind that have an item in common."""
    found = fit.model.posterior(fit.features).probabilities[restart].argmax(-1).numpy()
    return {*zip(found.tolist(), KIND.tolist(), strict=True)}


def test_a_planted_union_is_split_and_the_right_clusters_are_not() -> None:
    fit = blobs(restarts=2)
    plant(fit, np.stack([UNITED, KIND]))
    assert len({cluster for cluster, _ in partition(fit, 0)}) == 2
    before = fit.elbo()["total"]
    accepted = split_moves(MovableSCDC(fit.model, fit.data))
    assert accepted.tolist() == [1, 0]
    assert float((fit.elbo()["total"] - before)[0]) > 10
    for restart in range(2):
        pairs = partition(fit, restart)
        assert len(pairs) == len({cluster for cluster, _ in pairs}) == 3
    fit.train(10)
    assert not merge_moves(MovableSCDC(fit.model, fit.data)).any(), "one objective: no merge undoes it"


def test_a_planted_half_is_united() -> None:
    fit = blobs()
    plant(fit, np.where((KIND == 2) & (fit.features[:, 0].numpy() > 0), 3, KIND))
    assert len(partition(fit, 0)) == 4
    assert merge_moves(MovableSCDC(fit.model, fit.data)).tolist() == [1]
    assert len(partition(fit, 0)) == 3


@pytest.mark.parametrize("moves", [merge_moves, split_moves])
@pytest.mark.parametrize("epochs", [0, 3])
def test_no_round_lowers_the_bound(moves: Any, epochs: int) -> None:
    rng = np.random.default_rng(2)
    i, j = rng.choice(len(KIND), size=(2, 400))
    i, j = i[i != j], j[i != j]
    answers = PairAnnotations.from_arrays(
        i, j, np.zeros(len(i), int), (KIND[i] == KIND[j]).astype(int), num_items=len(KIND)
    )
    fit = blobs(answers, restarts=3, final_refits=0)
    plant(fit, np.stack([UNITED, np.where((KIND == 2) & (fit.features[:, 0].numpy() > 0), 3, KIND), KIND]))
    if epochs:
        fit.train(epochs)
    before, state = fit.elbo()["total"], {name: value.clone() for name, value in fit.model.state_dict().items()}
    accepted = moves(MovableSCDC(fit.model, fit.data))
    rise = fit.elbo()["total"] - before
    assert accepted.any()
    assert (rise[accepted > 0] > 0).all()
    for name, value in fit.model.state_dict().items():
        torch.testing.assert_close(value[accepted == 0], state[name][accepted == 0], rtol=0, atol=0)


def test_a_refit_leaves_no_gradient_of_the_mixture() -> None:
    """Of L_local's KL terms, by automatic differentiation, at two clusters in use and one that is not."""
    fit = blobs(restarts=2)
    fit.train(2)
    model, movable = fit.model, MovableSCDC(fit.model, fit.data)

    def steepest() -> list[float]:
        model.zero_grad()
        terms = model.item_terms(fit.features, torch.Generator().manual_seed(0))
        (terms.kl_z + terms.kl_x).sum().backward()
        used = torch.stack([movable.counts(restart) for restart in range(2)]) >= 2
        gradients = [model.logits_pi.grad, model.location.grad, model.raw_scale.grad]
        return [float(gradient[used].abs().max()) for gradient in gradients if gradient is not None]

    movable.refitted_bound()
    after = steepest()
    with torch.no_grad():
        model.location.add_(0.01)
        model.raw_scale.add_(0.01 * torch.eye(2))
        model.logits_pi[:, 0].add_(0.01)
    assert all(value < 0.05 * moved for value, moved in zip(after, steepest(), strict=True))


def test_a_head_is_the_logistic_regression_of_the_proposal() -> None:
    fit = blobs()
    plant(fit, UNITED)
    movable = MovableSCDC(fit.model, fit.data)
    movable.refitted_bound()
    best = max(cuts(movable.items(), 0, movable.prior), key=lambda cut: cut.gain)
    free = int(movable.counts(0).argmin())
    with torch.no_grad():
        movable.divide(0, best, free)
    found = fit.clusters()
    units = fit.model.classifier.net.units(fit.features)[0].detach().numpy()
    wanted = fit.model.posterior(fit.features).probabilities[0].argmax(-1).numpy()
    wanted[best.rows] = free
    theirs = LogisticRegression(C=1e6, max_iter=5000).fit(units, wanted).predict(units)
    assert (found == theirs).mean() > 0.98


def test_answers_cut_what_looks_alike() -> None:
    """Two kinds at one place, some of whose items are annotated: the answers' cut gains most, and parts them."""
    rng = np.random.default_rng(1)
    seen = np.where((KIND == 0) & (np.arange(len(KIND)) % 2 == 0), 3, KIND)
    i, j = rng.integers(60, size=(2, 3000)) + 100
    i, j = i[i != j], j[i != j]
    annotations = PairAnnotations.from_arrays(
        i, j, np.zeros(len(i), int), (seen[i] == seen[j]).astype(int), num_items=len(KIND)
    )
    fit = blobs(annotations)
    plant(fit, KIND)
    movable = MovableSCDC(fit.model, fit.data)
    movable.refitted_bound()
    best, second, *_ = sorted(cuts(movable.items(), 0, movable.prior), key=lambda cut: -cut.gain)
    assert best.gain > second.gain + 20
    gone = best.rows[(best.rows >= 100) & (best.rows < 160)]
    assert len(gone) == 10
    assert len(set(seen[gone].tolist())) == 1


def test_a_move_after_a_rejected_one_begins_where_it_was_restored_to() -> None:
    fit = blobs()
    plant(fit, KIND)
    movable = MovableSCDC(fit.model, fit.data)
    movable.refitted_bound()
    state = [tensor.detach().clone() for tensor in movable.tensors()]
    used = movable.counts(0).argsort(descending=True)[:3].tolist()

    def united(keep: int, gone: int) -> list[torch.Tensor]:
        movable.unite(0, keep, gone)
        movable.refitted_bound()
        found = [tensor.detach().clone() for tensor in movable.tensors()]
        for tensor, earlier in zip(movable.tensors(), state, strict=True):
            tensor.copy_(earlier)
        return found

    with torch.no_grad():
        alone = united(used[1], used[2])
        united(used[0], used[1])
        after = united(used[1], used[2])
    for one, other in zip(alone, after, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_views_count_in_a_refit() -> None:
    rng = np.random.default_rng(3)
    features = np.clip(rng.random((3, 36))[np.arange(90) % 3] + 0.2 * rng.random((90, 36)) - 0.1, 0, 1)
    fit = small_fit("scdc", features.astype(np.float32), image_shape=(6, 6), likelihood="bernoulli", K=4,
                    views={"kind": "affine"}, drop_mass=0.05)  # fmt: skip
    fit.begin()
    fit.train(2)
    movable = MovableSCDC(fit.model, fit.data)
    first, refitted = movable.bound(), movable.refitted_bound()
    assert float(refitted) >= float(first) - 0.05
    again = movable.refitted_bound()
    torch.testing.assert_close(again, refitted)
