"""BayesSCDC: its bound, one natural step, refits of the annotators and predictions."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats
from tests.small_fits import SmallFit

from semicrowd.expfam import dirichlet, normal_inverse_wishart
from semicrowd.models import bayes as bayes_module
from semicrowd.models.bayes import STEP_TOLERANCE, BayesSCDC
from semicrowd.models.generative import StepBound
from semicrowd.models.global_posterior import ANNOTATORS
from semicrowd.models.training_data import Part
from semicrowd.nets.mlp import MLP
from semicrowd.training.data import Batch

Fit = SmallFit[BayesSCDC]
Build = Callable[..., Fit]


def full_batch(fit: Fit) -> Batch:
    """All items and all answers, each with weight one."""
    graph = fit.data.answers
    rest = np.setdiff1d(np.arange(fit.data.num_items), fit.annotations.annotated)
    items = torch.cat([graph.items, torch.from_numpy(rest)])
    return Batch(items, torch.ones(len(items)), graph, step=0)


def full_bound(fit: Fit, batch: Batch) -> StepBound:
    """The bound of a step that sees everything."""
    noise = torch.Generator().manual_seed(0)
    features = fit.features[batch.items]
    return fit.model.bound(features, batch.weight, noise, fit.data.num_items, batch.relational)


def whole(fit: Fit, batch: Batch) -> Part:
    """The batch as what is evaluated together."""
    return Part(fit.features[batch.items], None, batch.relational, batch.weight)


def test_released_weights_count_other_answers_for_the_annotators_alone(bayes: Build) -> None:
    """|B|² / N of the counts (docs/DEVIATIONS.md, row 7), half of the answers' weight otherwise."""
    released, right = (bayes(batch_weights=of, sampler="nodes", sample_size=1000) for of in ("released", "unbiased"))

    def counts(fit: Fit) -> list[np.ndarray]:  # η̂ − η⁰ where η̂ = η + natural gradient
        fit.begin()
        (-full_bound(fit, next(iter(fit.batches()))).elbo.sum()).backward()
        eta, prior = fit.model.globals.eta, fit.model.globals.prior
        return [(eta[name] - eta[name].grad - prior(name)).detach().numpy() for name in ANNOTATORS]

    share = right.data.batch_size**2 / right.data.num_items
    assert share != pytest.approx(1)
    for found, expected in zip(counts(released), counts(right), strict=True):
        assert_allclose(found, share * expected, rtol=1e-3)
    _, natural = released.model.optimizers(100)
    assert [group["lr"] for group in natural.param_groups] == pytest.approx([0.1, 0.1, 0.05, 0.05])
    others = torch.cat([batch.items[batch.relational.num_nodes :] for batch in released.batches()])
    assert len(others.unique()) == len(others) > right.data.num_items - len(right.data.annotations.annotated)


def test_the_total_is_the_signed_sum_of_the_named_terms(bayes: Build) -> None:
    fit = bayes(restarts=2)
    fit.begin()
    terms = fit.elbo()
    assert {"kl_z", "kl_x", "kl_pi", "kl_components", "kl_sensitivity", "kl_specificity"} < set(terms)
    gains = terms["reconstruction"] + terms["relational"]
    torch.testing.assert_close(terms["total"], gains - sum(v for k, v in terms.items() if k.startswith("kl_")))
    assert all((v >= 0).all() for k, v in terms.items() if k.startswith("kl_") and k != "kl_z")
    torch.testing.assert_close(fit.elbo()["total"], terms["total"], rtol=0, atol=0)  # the same draws of x


def test_one_full_batch_step_is_equations_26_to_29(bayes: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """ρ = 1: the prior plus the expected counts of the local posteriors, by loops over items and answers."""
    monkeypatch.setattr(bayes_module, "STEP_TOLERANCE", 1e-6)
    fit = bayes(
        n_clusters=6, step_size=1.0, max_sweeps=100, final_refits=0, batch_size=1000, sampler="nodes",
        sample_size=1000, restarts=2,
    )  # fmt: skip
    fit.begin()
    model, batch = fit.model, full_batch(fit)
    local, _ = model.infer(whole(fit, batch), (100, 1e-6))
    q, t = local.probabilities.double().numpy(), local.t_x.double().numpy()
    (drawn,) = fit.batches()
    assert sorted(drawn.items.tolist()) == list(range(fit.data.num_items)), "one step that sees everything"
    fit.train(1)

    eta = {name: parameter.detach().numpy() for name, parameter in model.globals.eta.items()}
    prior = {name: model.globals.prior(name).numpy() for name in eta}
    position = {int(item): index for index, item in enumerate(batch.items)}
    a = fit.annotations
    for r in range(2):
        for k in range(6):
            assert eta["pi"][r, k] == pytest.approx(prior["pi"][0, k] + q[r, :, k].sum(), rel=1e-5)
            expected = prior["components"][0, 0].copy()
            for n in range(len(batch.items)):
                expected += q[r, n, k] * np.append(t[r, n], [1, 1])
            assert_allclose(eta["components"][r, k], expected, rtol=1e-4, atol=1e-4)
        for m in range(a.num_annotators):
            counts = np.zeros((2, 2))
            for i, j, worker, label in zip(a.i, a.j, a.worker, a.label, strict=True):
                if worker == m:
                    same = float(q[r, position[int(i)]] @ q[r, position[int(j)]])
                    counts[0, 0 if label else 1] += same
                    counts[1, 1 if label else 0] += 1 - same
            assert_allclose(eta["sensitivity"][r, m], prior["sensitivity"][r, 0] + counts[0], rtol=1e-4, atol=1e-4)
            assert_allclose(eta["specificity"][r, m], prior["specificity"][r, 0] + counts[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("natural_gradient", ["svi", "full"])
def test_amortisation_is_a_cross_entropy_that_trains_the_recognition_network_alone(
    bayes: Build, natural_gradient: str
) -> None:
    fit = bayes(init="cold", amortisation=7.0, natural_gradient=natural_gradient)
    model, batch = fit.model, full_batch(fit)
    step = full_bound(fit, batch)
    amortisation, expected = step.amortisation, model.globals.expected()
    amortisation.sum().backward()
    with torch.no_grad():
        local, _ = model.infer(whole(fit, batch), (model.params.max_sweeps, STEP_TOLERANCE))
        mean, variance = model.recognition(fit.features[batch.items])
        location, kappa, scale, degrees = normal_inverse_wishart.to_standard(model.globals.eta["components"])
        # E ln N(x | μ, Σ) over q(μ, Σ) and x ~ N(mean, diag variance): Bishop 2006, eq. 10.64.
        precision = degrees[..., None, None] * torch.linalg.inv(scale)
        offset = mean.double()[:, :, None] - location[:, None]
        quadratic = torch.einsum("rnkd,rkde,rnke->rnk", offset, precision, offset)
        quadratic += torch.einsum("rnd,rkdd->rnk", variance.double(), precision) + 2 / kappa[:, None]
        half = torch.stack([torch.digamma((degrees - i) / 2) for i in range(2)]).sum(0) - torch.logdet(scale)
        alone = (expected.log_pi[:, None] + 0.5 * half[:, None] - 0.5 * quadratic).log_softmax(-1)
        cross_entropy = 7.0 * fit.data.num_items * (local.probabilities * alone).sum(-1).mean(1)
    torch.testing.assert_close(amortisation.detach(), cross_entropy, rtol=1e-3, atol=1e-1)
    moved = {name for name, parameter in model.named_parameters() if parameter.grad is not None}
    assert moved
    assert all(name.startswith("recognition") for name in moved)
    assert all(leaf.grad is None for leaf in step.leaves.values())


def test_svi_and_full_differ_by_the_second_term_of_equation_17_alone(bayes: Build) -> None:
    gradients = {}
    for kind in ("svi", "full"):
        fit = bayes(init="cold", natural_gradient=kind)
        step = full_bound(fit, full_batch(fit))
        step.elbo.sum().backward()
        gradients[kind] = {name: eta.grad for name, eta in fit.model.globals.eta.items()}
        leaves = step.leaves
        assert set(leaves) == (set() if kind == "svi" else set(fit.model.globals.eta.values()))
        if kind == "full":  # what flows through the local optimum is no rounding
            assert all(leaf.grad is not None and leaf.grad.abs().max() > 1e-5 for leaf in leaves.values())
    for name, gradient in gradients["svi"].items():
        torch.testing.assert_close(gradients["full"][name], gradient, rtol=1e-5, atol=1e-5)


def test_refits_of_the_annotators_are_equations_28_and_29_on_all_answers(bayes: Build) -> None:
    """By a loop over the answers, the mixture stays; with ``empirical`` their priors are then those of the crowd."""
    fit = bayes(n_clusters=4, restarts=2, annotators="fixed")
    fit.begin()
    model, part = fit.model, next(fit.data.parts(2))
    before = {name: eta.detach().clone() for name, eta in model.globals.eta.items()}
    expected = {name: model.globals.prior(name).expand_as(eta).numpy().copy() for name, eta in before.items()}
    q, batch = model.infer(part, (20, 1e-3))[0].probabilities.double().numpy(), part.answers
    for r in range(2):
        for i, j, worker, label in zip(batch.i, batch.j, batch.worker, batch.label, strict=True):
            same = q[r, i] @ q[r, j]
            expected["sensitivity"][r, worker, 1 - label] += same
            expected["specificity"][r, worker, label] += 1 - same
    model.refit_annotators(fit.data)
    for name, eta in model.globals.eta.items():
        now = expected[name] if name in ("sensitivity", "specificity") else before[name]
        assert_allclose(eta.detach(), now, rtol=1e-4, atol=1e-4)
    usual = model.globals.prior("sensitivity").clone()
    model.params.annotators = "empirical"
    model.refit_annotators(fit.data)
    assert (model.globals.prior("sensitivity") != usual).all()


def test_predictions_are_the_same_twice_and_in_any_company(bayes: Build) -> None:
    features = bayes().features
    single, triple = bayes().model, bayes(restarts=3).model
    one = single.posterior(features).probabilities
    torch.testing.assert_close(single.posterior(features).probabilities, one, rtol=0, atol=0)
    torch.testing.assert_close(triple.posterior(features).probabilities[:1], one, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(single.posterior(features[7:9]).probabilities, one[:, 7:9], rtol=1e-4, atol=1e-4)


def test_new_items_are_assigned_as_by_their_posterior(bayes: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = bayes(restarts=2)
    fit.begin()
    expected = fit.model.posterior(fit.features).probabilities
    monkeypatch.setattr(fit.model, "infer", None)  # which sweeps all items until the last has converged
    monkeypatch.setattr("semicrowd.models.training_data.CHUNK", 64)
    torch.testing.assert_close(fit.model.assign(fit.features), expected, rtol=0, atol=1e-3)


def test_generated_samples_come_from_their_cluster(bayes: Build) -> None:
    """With a linear decoder the samples' mean is the image of the component's location."""
    model = bayes().model
    net = model.decoder.net
    assert isinstance(net, MLP)
    with torch.no_grad():
        for parameter in net.hidden.parameters():
            parameter.zero_()
    location = normal_inverse_wishart.to_standard(model.globals.eta["components"].detach())[0]
    samples = model.sample(4000, torch.Generator().manual_seed(0))[0].double()
    expected = location[0] @ net.skip[0].detach().double()
    error = samples.std(1) / 4000**0.5
    assert ((samples.mean(1) - expected).abs() < 5 * error).all()


def test_the_priors_and_first_values_of_the_appendix(bayes: Build) -> None:
    model = bayes(restarts=50).model
    location, kappa, scale, degrees = normal_inverse_wishart.to_standard(model.globals.prior("components"))
    assert location.abs().max() == 0
    assert (kappa.item(), degrees.item()) == pytest.approx((0.5, 2.5))
    torch.testing.assert_close(scale[0, 0], 2.5 * torch.eye(2, dtype=torch.float64))
    first = normal_inverse_wishart.to_standard(model.globals.eta["components"].detach())[0].numpy()
    assert stats.kstest(first.ravel(), stats.norm(0, 3).cdf).pvalue > 0.01
    assert (dirichlet.to_standard(model.globals.eta["sensitivity"].detach()) == torch.tensor([10.0, 1.0])).all()
    for kind, expected in (("paper", 0.001), ("corrected", 1.001), ("released", 1.05)):
        prior = dirichlet.to_standard(bayes(n_clusters=50, concentration=kind).model.globals.prior("pi"))
        assert torch.allclose(prior, torch.tensor(expected).double())
