"""SCDC: the sum over z by force, restricted sums, answers, and three readings of the first α and β."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.distributions import Categorical, MultivariateNormal, kl_divergence

from semicrowd.crowd.samplers import whole_graph
from semicrowd.errors import UserError
from semicrowd.models.scdc import SCDC

Build = Callable[..., SCDC]


def shaken(model: SCDC) -> SCDC:
    """Every parameter moved, so that q(z | o), the encoder and the scales are nothing special."""
    generator = torch.Generator().manual_seed(99)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model


def components(model: SCDC, r: int, k: int) -> MultivariateNormal:
    return MultivariateNormal(model.location[r, k], scale_tril=model._scale()[r, k])


def test_the_terms_of_an_item_are_sums_over_its_clusters(build: Build) -> None:
    model = shaken(build("model=scdc", "model.K=4", "model.start=cold", restarts=2))
    items = model.features[:5]
    terms = model.item_terms(items, torch.Generator().manual_seed(0))
    noise = torch.randn(2, 5, 4, 2, generator=torch.Generator().manual_seed(0))
    clusters = torch.arange(4).expand(2, 5, 4)
    mean, variance = model.encoder(items, clusters)
    log_q = model.classifier(items)
    for r in range(2):
        for b in range(5):
            reconstruction = kl_x = 0.0
            for k in range(4):
                q = MultivariateNormal(mean[r, b, k], variance[r, b, k].diag())
                x = mean[r, b, k] + variance[r, b, k].sqrt() * noise[r, b, k]
                copies = x.expand(2, 1, 2)  # the decoder takes all restarts; this one is read
                weight = log_q[r, b, k].exp()
                reconstruction += weight * model.decoder.log_likelihood(copies, items[b : b + 1])[r, 0]
                kl_x += weight * kl_divergence(q, components(model, r, k))
            kl_z = kl_divergence(Categorical(logits=log_q[r, b]), Categorical(logits=model.logits_pi[r]))
            torch.testing.assert_close(terms.reconstruction[r, b], reconstruction, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(terms.kl_x[r, b], kl_x, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(terms.kl_z[r, b], kl_z, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(terms.log_z, log_q)


@pytest.mark.parametrize("drop", [0.02, 0.2])
def test_a_restricted_sum_leaves_out_no_more_than_the_stated_mass(build: Build, drop: float) -> None:
    model = shaken(build("model=scdc", "model.start=cold", f"model.drop_mass={drop}", restarts=2))
    full = model.classifier(model.features)
    log_q, clusters = model._kept_clusters(full)
    kept = full.exp().gather(-1, clusters).sum(-1)
    assert clusters.shape[-1] < model.num_clusters
    assert (kept >= 1 - drop - 1e-6).all()
    torch.testing.assert_close(log_q.exp().sum(-1), torch.ones(2, model.num_items))
    terms = model.item_terms(model.features, torch.Generator().manual_seed(0))
    torch.testing.assert_close(terms.log_z.exp().sum(-1), torch.ones(2, model.num_items))


def test_no_mass_to_drop_is_the_exact_sum(build: Build) -> None:
    """With a vanishing δ the restricted sum keeps all clusters and agrees with the exact one in expectation."""
    exact = shaken(build("model=scdc", "model.K=4", "model.start=cold"))
    restricted = shaken(build("model=scdc", "model.K=4", "model.start=cold", "model.drop_mass=1e-9"))
    values = []
    for model in (exact, restricted):
        generator = torch.Generator().manual_seed(0)
        draws = [model.item_terms(model.features, generator) for _ in range(100)]
        values.append(torch.stack([t.reconstruction - t.kl_z - t.kl_x for t in draws]).sum((1, 2)))
    error = (values[0].var() / 100 + values[1].var() / 100).sqrt()
    assert (values[0].mean() - values[1].mean()).abs() < 4 * error


def test_answers_are_summed_over_all_pairs_of_clusters(build: Build) -> None:
    model = shaken(build("model=scdc", "model.K=3", "model.start=cold"))
    assert model.annotations is not None
    expected = torch.zeros(())
    q = model.classifier(model.features)[0].exp()
    sensitivity, specificity = model.logits_quality[0].sigmoid()
    a = model.annotations
    for i, j, worker, label in zip(a.i, a.j, a.worker, a.label, strict=True):
        for k in range(3):
            for other in range(3):
                yes = sensitivity[worker] if k == other else 1 - specificity[worker]
                expected = expected + q[i, k] * q[j, other] * torch.log(yes if label else 1 - yes)
    torch.testing.assert_close(model.elbo()["relational"][0].float(), expected, rtol=1e-4, atol=1e-2)


def test_the_total_is_the_signed_sum_of_the_named_terms(build: Build) -> None:
    terms = shaken(build("model=scdc", "model.start=cold", restarts=2)).elbo()
    total = terms["reconstruction"] + terms["relational"] - terms["kl_z"] - terms["kl_x"]
    torch.testing.assert_close(terms["total"], total)


def test_a_step_climbs_the_gradient_of_the_whole_bound(
    build: Build, fit: Callable[[SCDC, int], None]
) -> None:
    """Every parameter moves, the annotators' too, and the exact bound rises."""
    model = build("model=scdc", "model.start=cold", "model.learning_rate=0.003", "model.elbo_samples=50")
    before, state = model.elbo()["total"], {name: p.detach().clone() for name, p in model.named_parameters()}
    fit(model, 3)
    assert model.elbo()["total"] > before
    assert all((p.detach() != state[name]).any() for name, p in model.named_parameters())


def test_readings_of_the_first_quality(build: Build) -> None:
    def quality(kind: str) -> np.ndarray:
        model = build("model=scdc", "model.start=cold", f"model.initial_quality={kind}", restarts=40)
        return model.logits_quality.detach().sigmoid().numpy()  # [R, 2, M]

    assert np.allclose(quality("corrected"), 0.9)
    released, paper = quality("released"), quality("paper")
    assert np.allclose(released, released[:, :, :1])
    assert len(np.unique(released.round(6))) > 70
    for drawn in (released[:, :, 0], paper):  # Beta(1, 1): uniform
        assert 0.4 < drawn.mean() < 0.6
        assert 0.2 < drawn.std() < 0.36
    assert len(np.unique(paper[0].round(6))) == paper[0].size
    with pytest.raises(UserError, match="expected corrected, paper or released"):
        quality("optimistic")


def test_answers_move_annotated_items(build: Build) -> None:
    """Where the classifier knows nothing, the answers alone decide which items go together."""
    model = build("model=scdc", "model.K=3", "model.start=cold")
    assert model.annotations is not None
    with torch.no_grad():
        model.logits_quality.fill_(4.0)
    batch = whole_graph(model.annotations)
    same = batch.label.numpy() == 1
    q = model.annotated_posterior(model.features, model.annotations).probabilities[0].numpy()
    alone = model.posterior(model.features[batch.items]).probabilities[0].numpy()

    def agreement(p: np.ndarray) -> np.ndarray:
        return (p[batch.i.numpy()] * p[batch.j.numpy()]).sum(1)

    gain = agreement(q) - agreement(alone)
    assert gain[same].mean() > 0.2
    assert gain[~same].mean() < 0
