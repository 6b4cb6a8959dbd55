"""What a fit of a generative model checks before its training, and the posteriors of the training items after it."""

import numpy as np
import torch

from semicrowd.errors import UserError
from semicrowd.fitting.result import Assignment, Restarts, Result
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.pair_quality import reported_quality
from semicrowd.models.training_data import TrainingData
from semicrowd.settings.parameters import Recipe


def check_features(recipe: Recipe, features: np.ndarray) -> None:
    """Refuse settings of the model and of the views that do not fit the prepared features [N, D]."""
    settings, kind = recipe.model, recipe.views.kind
    in_unit_interval = features.min() >= 0 and features.max() <= 1
    if len(features) < settings.K:
        raise UserError(f"model.K={settings.K}: more clusters than the {len(features)} items")
    if settings.likelihood != "gaussian" and not in_unit_interval:
        raise UserError(f"model.likelihood={settings.likelihood}: expected features between 0 and 1; these are not")
    if kind != "none" and settings.preparation != "none":
        raise UserError(f"views={kind}: prepared features are no images; use model.preparation=none or views=none")
    if kind == "colour" and not in_unit_interval:
        raise UserError(f"views={kind}: expected features between 0 and 1; these are not")


@torch.no_grad()
def evaluate(model: GenerativeModel, data: TrainingData) -> Result:
    """The result of a trained model for all items: that of the restart with the highest ELBO."""
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
        workers = reported_quality(workers, with_answers.probabilities, data.annotations.index)
    return Result(
        num_clusters=model.num_clusters,
        final=final,
        features=features,
        workers=workers,
        latent_mean=posterior.latent_mean[best].numpy(),
        restarts=Restarts(elbo, best, posterior.probabilities.argmax(-1).numpy()),
    )
