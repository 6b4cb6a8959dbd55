"""Fit of a generative model: training, then the posteriors of the training items."""

from dataclasses import replace

import numpy as np
import torch

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.ranks import is_first
from semicrowd.fitting.result import Assignment, Restarts, Result
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.pair_quality import reported_quality
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import build_views
from semicrowd.settings.model import BayesSettings, SCDCSettings
from semicrowd.settings.parameters import Recipe
from semicrowd.settings.training import TrainerSettings


def fit_generative(
    name: str,
    features: np.ndarray,
    answers: PairAnnotations | None,
    recipe: Recipe,
    *,
    seed: int,
    image_shape: tuple[int, ...] | None = None,
    monitor: Monitor | None = None,
    trainer: TrainerSettings | None = None,
    original: np.ndarray | None = None,
    previous: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> tuple[GenerativeModel, Result | None]:
    """Fit SCDC or BayesSCDC.

    Parameters
    ----------
    name : name of the model
    features : [N, D] float32
    recipe : all settings of the fit
    original : the features before their preparation; a start may prepare them differently
    previous : [N] clusters of an earlier fit; −1 for items that it did not have
    weights : [N] weights of the items, whose mean is 1; None: all are 1

    Returns
    -------
    model : the fitted model, on the CPU
    result : None in all processes except the first

    Raises
    ------
    UserError
        For settings that do not fit the data or the machine, for a damaged checkpoint, and if training diverges in
        every restart.
    """
    # Imported here, because Lightning takes long to import and is not needed for a model that is loaded.
    from semicrowd.fitting.module import ClusteringModule
    from semicrowd.fitting.training import check_trainer, train

    recipe = replace(recipe, model=annotator_model(recipe.model, answers))
    settings, trainer = recipe.model, trainer or TrainerSettings()
    _check(settings.K, settings.likelihood, features)
    _check_views(recipe, features)
    check_trainer(trainer)
    model = model_class(name)(
        settings,
        recipe.nets,
        features.shape[1],
        0 if answers is None else answers.num_annotators,
        restarts=recipe.training.restarts,
        seed=seed,
        image_shape=image_shape,
    )
    if answers is not None and answers.history is not None:
        model.set_history(answers.history)
    model.in_pieces.budget = int(trainer.memory * 2**30)
    views = build_views(recipe.views, image_shape)
    batch_size = recipe.training.batch_size
    of_items = None if weights is None else torch.from_numpy(weights.astype(np.float32))
    data = TrainingData(torch.from_numpy(features), answers, views, seed, batch_size, original, previous, of_items)
    module = ClusteringModule(model, data, recipe)
    train(module, monitor or Monitor(), trainer)
    result = evaluate(model, module.data) if is_first() else None
    if result is not None and module.verdicts:
        result = replace(result, verdict=module.verdicts[result.best])
    return model.cpu(), result


def annotator_model(
    settings: BayesSettings | SCDCSettings, answers: PairAnnotations | None
) -> BayesSettings | SCDCSettings:
    """The settings, with SCDC's ``answers=auto`` replaced: by confusions if answers come in tasks, else by two_coin.

    Raises
    ------
    UserError
        If confusions are set but the answers do not come in tasks.
    """
    if answers is None or not isinstance(settings, SCDCSettings) or settings.answers == "two_coin":
        return settings
    if settings.answers == "auto":
        return replace(settings, answers="two_coin" if answers.task is None else "confusions")
    if answers.task is None:
        raise UserError("model.answers=confusions: these answers do not come in tasks; use model.answers=two_coin")
    return settings


def _check(num_clusters: int, likelihood: str, features: np.ndarray) -> None:
    if len(features) < num_clusters:
        raise UserError(f"model.K={num_clusters}: more clusters than the {len(features)} items")
    if likelihood != "gaussian" and not (features.min() >= 0 and features.max() <= 1):
        raise UserError(f"model.likelihood={likelihood}: expected features between 0 and 1; these are not")


def _check_views(recipe: Recipe, features: np.ndarray) -> None:
    kind = recipe.views.kind
    if kind != "none" and recipe.model.preparation != "none":
        raise UserError(f"views={kind}: prepared features are no images; use model.preparation=none or views=none")
    if kind == "colour" and not (features.min() >= 0 and features.max() <= 1):
        raise UserError(f"views={kind}: expected features between 0 and 1; these are not")


@torch.no_grad()
def evaluate(model: GenerativeModel, data: TrainingData) -> Result:
    """The result of a trained model for all items: that of the restart with the highest ELBO.

    Raises
    ------
    UserError
        If training has diverged in every restart.
    """
    elbo = model.elbo(data)["total"].double().cpu().numpy()
    if not np.isfinite(elbo).any():
        raise UserError("training diverged: the ELBO is not finite in any restart; try a lower model.learning_rate")
    best = int(np.where(np.isfinite(elbo), elbo, -np.inf).argmax())
    posterior = model.posterior(data.features)
    features = Assignment.of(posterior.probabilities[best].numpy())
    final, workers = features, model.workers()
    if data.annotations is not None:
        with_answers = model.annotated_posterior(data.features, data.annotations, data.views)
        final = features.replace(data.annotations.annotated, Assignment.of(with_answers.probabilities[best].numpy()))
        assert workers is not None
        index, history = data.annotations.index.whole, data.annotations.history
        workers = reported_quality(workers, model.has_confusions, with_answers.probabilities, index, history)
    return Result(
        num_clusters=model.num_clusters,
        final=final,
        features=features,
        workers=workers,
        latent_mean=posterior.latent_mean[best].numpy(),
        restarts=Restarts(elbo, best, posterior.probabilities.argmax(-1).numpy()),
    )
