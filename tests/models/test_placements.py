"""BayesSCDC with annotators who misplace items: natural gradients, refits, merges, states, and the setting itself."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.defaults.facts import Facts
from semicrowd.defaults.resolution import recipe
from semicrowd.errors import UserError
from semicrowd.expfam import beta
from semicrowd.fitting.batches import TrainingBatches
from semicrowd.fitting.bayes_moves import BayesClimber, refit
from semicrowd.fitting.generative import annotator_model
from semicrowd.fitting.merges import merge_moves
from semicrowd.inference.message_passing import Found
from semicrowd.inference.mixture import partition_posterior
from semicrowd.models.bayes import REFIT_SWEEPS, BayesSCDC
from semicrowd.models.pair_quality import judged
from semicrowd.models.state import load_model
from semicrowd.models.training_data import Part, TrainingData
from semicrowd.settings.model import BayesSettings, NetSettings, SCDCSettings
from semicrowd.starts.vae import latent_statistics

M = 6


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    return np.random.default_rng(0).integers(3, size=90)


@pytest.fixture(scope="module")
def answers(labels: np.ndarray) -> PairAnnotations:
    """Six annotators group twelve items twice each; one item in ten goes to another group, or to none."""
    return misplaced(labels, num_tasks=12, task_size=12, share=0.1)


def misplaced(labels: np.ndarray, num_tasks: int, task_size: int, share: float) -> PairAnnotations:
    rng, rows = np.random.default_rng(1), []
    for task in range(num_tasks):
        items = rng.choice(60, task_size, replace=False)
        seen = labels[items].copy()
        wrong = rng.random(task_size) < share
        other = rng.integers(3, size=wrong.sum())
        seen[wrong] = np.where(rng.random(wrong.sum()) < 0.5, other, 3 + np.flatnonzero(wrong))
        for a in range(task_size):
            rows += [(items[a], items[b], task % M, seen[a] == seen[b], task) for b in range(a)]
    i, j, worker, label, number = np.array(rows).T
    return PairAnnotations.from_arrays(i, j, worker, label, task=number, num_items=len(labels))


@pytest.fixture(scope="module")
def data(labels: np.ndarray, answers: PairAnnotations) -> TrainingData:
    rng = np.random.default_rng(2)
    features = (4 * np.eye(3)[labels] + rng.normal(size=(len(labels), 3))).astype(np.float32)
    return TrainingData(torch.from_numpy(features), answers, None, 0, 30)


def build(restarts: int = 2, **settings: Any) -> BayesSCDC:
    values: dict[str, Any] = {"K": 4, "hidden": (8,), "answers": "placements", "sampler": "tasks"} | settings
    return BayesSCDC(BayesSettings(**values), NetSettings(), 3, M, restarts=restarts)


@pytest.mark.parametrize("kind", ["svi", "full"])
def test_natural_gradients_of_a_step_are_weighted_counts(data: TrainingData, kind: str) -> None:
    """Eqs. 28 and 29, and the same of ε and ρ: η − (η⁰ + scale · counts), exact where the first term stands alone."""
    model = build(natural_gradient=kind)
    batch = next(iter(TrainingBatches(data, model.settings, lambda: 0)))
    answers = batch.relational
    assert answers is not None
    assert answers.placements is not None
    step = model.bound(
        data.features[batch.items], batch.weight, torch.Generator().manual_seed(0), data.num_items, answers
    )
    # Without what flows through the local optimum, which svi leaves out and full keeps in the leaves.
    (-step.elbo.sum()).backward()
    part = Part(data.features[batch.items], None, answers, 1.0)
    local, graph = model.infer(part, (model.settings.max_sweeps, 0.01))
    targets = model.annotator_targets(part, local, graph)
    for name in ("sensitivity", "specificity", "slips", "slip_kinds"):
        eta, prior = model.globals.eta[name], model.globals.prior(name)
        target = prior + answers.pair_weight * (targets[name] - prior)
        assert eta.grad is not None
        torch.testing.assert_close(eta.grad, eta.detach() - target, rtol=1e-3, atol=1e-3)
    assert (len(step.leaves) == 6) == (kind == "full")
    for leaf in step.leaves.values():
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()


def test_counts_of_batches_are_unbiased(data: TrainingData) -> None:
    """Given what everybody perceives, batches of tasks with their weights add up to all placements and answers."""
    assert data.annotations is not None
    whole = data.annotations.index.whole
    assert whole.placements is not None
    assert len(whole.placements.item) == 12 * 12
    assert (whole.items[whole.placements.item[whole.placements.i]] == whole.items[whole.i]).all()
    assert (whole.placements.worker[whole.placements.j] == whole.worker).all()
    total, batches = torch.zeros(M, dtype=torch.float64), TrainingBatches(data, build().settings, lambda: 0)
    assert batches.sampler is not None
    rng = np.random.default_rng(0)
    for _ in range(600):
        one = batches.sampler.sample(rng)
        assert one.placements is not None
        assert (one.items[one.placements.item[one.placements.i]] == one.items[one.i]).all()
        total += one.pair_weight * torch.bincount(one.placements.worker, minlength=M) / 600
    torch.testing.assert_close(total, torch.full((M,), 24.0).double(), rtol=0.1, atol=0)


def surrogate(model: BayesSCDC, data: TrainingData, found: list[Found]) -> torch.Tensor:
    """Eq. 10: the ELBO with the recognition potentials in place of the reconstruction."""
    terms = model.elbo(data, None, found)
    total = terms["total"] - terms["reconstruction"]
    for part, start in zip(data.parts(model.num_restarts), found, strict=True):
        local, _ = model.infer(part, REFIT_SWEEPS, start)
        with torch.no_grad():
            total = total + (model.recognition.potentials(part.features) * local.t_x).double().sum((1, 2))
    return total


def test_coordinate_ascent_raises_the_bound_and_merges_keep_what_raises_it(data: TrainingData) -> None:
    bounds = []
    for iterations in range(1, 7):
        model = build()
        bounds.append(surrogate(model, data, refit(model, data, iterations)))
    stacked = torch.stack(bounds)
    assert (stacked.diff(dim=0) > -1e-3 * (1 + stacked[:-1].abs())).all()
    assert {"kl_slips", "kl_slip_kinds"} < set(model.elbo(data))
    before = model.elbo(data)["total"]
    merge_moves(BayesClimber(model, data))
    assert (model.elbo(data)["total"] >= before - 1e-3 * before.abs()).all()


def test_a_merge_keeps_the_counts_of_slips() -> None:
    model = build()
    eta, prior = model.globals.eta["slip_kinds"], model.globals.prior("slip_kinds")
    with torch.no_grad():
        eta[0] = prior[0] + torch.tensor([3.0, 1.0, 2.0, 0.0, 5.0])
        model.globals.unite(0, 0, 2)
    torch.testing.assert_close(eta[0].detach() - prior[0], torch.tensor([5.0, 1.0, 0.0, 0.0, 5.0]).double())


def test_refits_find_misplacements_and_a_state_keeps_them(data: TrainingData, labels: np.ndarray) -> None:
    """With the right clusters given, the reported rates lie between the answers' and the crowd's."""
    model, answers = build(K=3), data.annotations
    assert answers is not None
    set_clusters(model, data, labels)
    for _ in range(3):
        model.refit_annotators(data)
    found, believed = judged_by(model, data), model.workers()
    assert believed is not None
    truth = answers.empirical_quality(labels)
    for mean, interval, true in zip(found.mean(), found.interval(), truth, strict=True):
        crowd = true.mean()
        assert (np.minimum(true, crowd) - 0.02 <= mean).all()
        assert (mean <= np.maximum(true, crowd) + 0.02).all()
        errs = true < 1
        assert ((interval[..., 0] <= true) & (true <= interval[..., 1]))[:, errs].mean() >= 0.8
    slips = beta.to_standard(model.globals.eta["slips"].detach()) - beta.to_standard(model.globals.prior("slips"))
    assert slips[..., 0].sum(-1).min() > 7  # of some 14
    again = load_model(model.description())
    assert isinstance(again, BayesSCDC)
    kept = again.workers()
    assert kept is not None
    np.testing.assert_array_equal(kept.sensitivity, believed.sensitivity)
    np.testing.assert_array_equal(judged_by(again, data).sensitivity, found.sensitivity)
    assert torch.equal(
        again.annotated_posterior(data.features, answers).probabilities,
        model.annotated_posterior(data.features, answers).probabilities,
    )


def judged_by(model: BayesSCDC, data: TrainingData) -> WorkerPosterior:
    """What is reported of the annotators."""
    believed = model.workers()
    assert believed is not None
    assert data.annotations is not None
    z = model.annotated_posterior(data.features, data.annotations).probabilities
    return judged(believed, model.places, z, data.annotations.index.whole)


def set_clusters(model: BayesSCDC, data: TrainingData, labels: np.ndarray) -> None:
    """The mixture of the true clusters in what the untrained recognition network makes of the features."""
    t_x = latent_statistics(model, data.features)
    model.set_mixture(partition_posterior(model.mixture_prior(), t_x, torch.from_numpy(labels).expand(2, -1)))


@pytest.mark.parametrize(
    ("sampler", "expected"), [("auto", "placements"), ("tasks", "placements"), ("pairs", "two_coin")]
)
def test_auto_takes_placements_where_there_are_tasks(answers: PairAnnotations, sampler: str, expected: str) -> None:
    settings = annotator_model(BayesSettings(sampler=sampler, answers="auto"), answers)
    assert isinstance(settings, BayesSettings)
    assert settings.answers == expected
    without = annotator_model(BayesSettings(sampler=sampler, answers="auto"), replace(answers, task=None))
    assert isinstance(without, BayesSettings)
    assert without.answers == "two_coin"
    assert annotator_model(SCDCSettings(), answers) == SCDCSettings()


def test_placements_need_tasks(answers: PairAnnotations) -> None:
    settings = BayesSettings(answers="placements")
    with pytest.raises(UserError, match="do not come in tasks"):
        annotator_model(settings, replace(answers, task=None))
    with pytest.raises(UserError, match=r"expected model\.sampler=tasks, got pairs"):
        annotator_model(replace(settings, sampler="pairs"), answers)


@pytest.mark.parametrize("protocol", ["paper", "semicrowd"])
@pytest.mark.parametrize(("given", "expected"), [({}, "two_coin"), ({"model.answers": "auto"}, "auto")])
def test_placements_are_taken_on_request(
    answers: PairAnnotations, protocol: str, given: dict[str, str], expected: str
) -> None:
    facts = Facts.of(np.zeros((90, 3), np.float32), answers, None, None, None)
    settings = recipe("bayes", given, facts, protocol).model
    assert isinstance(settings, BayesSettings)
    assert settings.answers == expected


def test_simulated_tasks_have_placements(labels: np.ndarray) -> None:
    tasks = simulate.tasks(
        labels, np.random.default_rng(0), num_annotators=M, num_tasks=8, task_size=5, num_annotated=30,
        sensitivity=0.9, specificity=0.9,
    )  # fmt: skip
    placements = tasks.index.whole.placements
    assert placements is not None
    assert len(placements.item) == 40
