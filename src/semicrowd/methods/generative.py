"""What the estimators SCDC and BayesSCDC share: fit by Lightning, predict, generate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from joblib import Memory
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, check_memory

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import Rates
from semicrowd.data.preparation import fit_preparation, prepared
from semicrowd.errors import UserError
from semicrowd.estimators.base import (
    CLUSTERS,
    COUNT,
    COUNT_OR_0,
    JOBS,
    OF_THE_MACHINE,
    POSITIVE,
    WarningClusterer,
    status,
    threads_of_a_fit,
)
from semicrowd.estimators.inputs import checked_answers, names_of_rows
from semicrowd.methods.cotraining.estimator import co_train, default_max_clusters
from semicrowd.methods.protocols import Facts, with_defaults
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.pair_quality import reported_quality
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import build_views
from semicrowd.random import stream, torch_stream
from semicrowd.result import Assignment, Restarts, Result, Verdict


def _auto(constraint: Any, *others: Any) -> list[Any]:
    """Values of a parameter that may also be None."""
    return [constraint, *others, None]


#: Of the parameters that both have.
CONSTRAINTS: dict[str, Any] = {
    "n_clusters": _auto(CLUSTERS),
    "latent_dim": _auto(COUNT),
    "hidden": _auto("array-like"),
    "likelihood": _auto(StrOptions({"gaussian", "bernoulli", "logistic"})),
    "preparation": _auto(StrOptions({"none", "standard"})),
    "linear_skip": _auto("boolean"),
    "initial_weights": _auto(StrOptions({"he", "glorot"})),
    "binary_draws": _auto("boolean"),
    "architecture": _auto(StrOptions({"mlp", "conv", "resnet"})),
    "channels": _auto("array-like"),
    "blocks": _auto(COUNT_OR_0),
    "precision": _auto(StrOptions({"float32", "bfloat16", "auto"})),
    "init": _auto(StrOptions({"cold", "mixture", "answers", "cotraining", "features", "communities"})),
    "init_epochs": _auto(COUNT_OR_0),
    "init_learning_rate": _auto(POSITIVE),
    "teach_epochs": _auto(COUNT_OR_0),
    "augmentation": _auto(StrOptions({"none", "affine"})),
    "epochs": _auto(COUNT_OR_0),
    "batch_size": _auto(COUNT),
    "learning_rate": _auto(POSITIVE),
    "final_rate": _auto(Interval(Real, 0, 1, closed="both")),
    "clip": _auto(POSITIVE),
    "final_refits": _auto(COUNT_OR_0),
    "sampler": _auto(StrOptions({"auto", "pairs", "tasks", "nodes"})),
    "sample_size": _auto(COUNT),
    "restarts": [COUNT],
    "protocol": [StrOptions({"default", "paper", "released", "model"})],
    "image_shape": _auto("array-like"),
    "trainer": [callable, None],
    "memory": [str, Path, Memory, None],
    "n_jobs": JOBS,
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}
#: Parameters that are not the model's: how a fit is run, and what is known before it.
NOT_OF_THE_FIT = OF_THE_MACHINE | {"image_shape", "restarts", "protocol"}


class Generative(WarningClusterer):
    """Common base class of the estimators SCDC and BayesSCDC.

    Attributes
    ----------
    model_ : the fitted model (:mod:`semicrowd.models`), on the CPU, with all restarts
    params_ : the value of every parameter that the fit has used, of those that were None as well
    history_ : a row for each epoch
    preparation_ : fitted transformer of the features, whose output is the input of ``model_``; None: no transformation
    worker_names_ : names of the annotators whose rates were estimated
    """

    requires_answers: ClassVar[bool] = False
    #: Name of the model: of its file in conf/model.
    name: ClassVar[str]
    #: Parameters of each.
    restarts: int
    protocol: str
    image_shape: tuple[int, ...] | None
    trainer: Callable[..., Any] | None
    memory: Any
    n_jobs: int | None

    model_: GenerativeModel
    params_: Bunch
    preparation_: Pipeline | None
    worker_names_: tuple

    def fit(self, X: Any, y: Any = None, pairs: Any = None, *, ckpt_path: Path | str | None = None) -> Self:
        """Cluster the rows of X with the help of answers about them.

        Parameters
        ----------
        X, y, pairs : as :meth:`CrowdClusterer.fit` takes them
        ckpt_path : a checkpoint of Lightning, after whose last finished epoch the fit goes on; None: from the start
        """
        return self._fit(X, y, pairs, ckpt_path=ckpt_path)

    def _run(
        self, features: np.ndarray, answers: PairAnnotations | None, ckpt_path: Path | str | None = None
    ) -> Result | None:
        # Imported here: Lightning takes long to import, and a model that is loaded does not need it.
        from semicrowd.training.distributed import is_first
        from semicrowd.training.module import ClusteringModule
        from semicrowd.training.train import train

        shape = None if self.image_shape is None else tuple(self.image_shape)
        given = {name: value for name, value in self.get_params().items() if name not in NOT_OF_THE_FIT}
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
        self.params_ = with_defaults(self.name, given, Facts.of(features, answers, shape), self.protocol)
        standard = self.params_.preparation == "standard"
        self.preparation_ = fit_preparation(features, self.indicators) if standard else None
        items = prepared(self.preparation_, features)
        self._check_features(items)
        model = model_class(self.name)(
            self.params_, items.shape[1], 0 if answers is None else answers.num_annotators,
            restarts=self.restarts, seed=self.seed_, image_shape=shape,
        )  # fmt: skip
        data = TrainingData(
            torch.from_numpy(items), answers, build_views(self.params_.augmentation, shape), self.seed_,
            self.params_.batch_size, check_memory(self.memory),
            partial(_clustered, features, answers, self.params_.n_clusters, shape, self.indicators, self.seed_,
                    check_memory(self.memory), self.n_jobs),
        )  # fmt: skip
        module = ClusteringModule(model, data, begin=ckpt_path is None)
        with status("initialisation", self.verbose) as module.progress:
            train(module, self.trainer, ckpt_path, verbose=bool(self.verbose))
        self.history_ = module.history
        result = evaluate(model, module.data) if is_first() else None
        if result is not None and module.verdicts:
            result = replace(result, verdict=module.verdicts[result.best])
        self.model_ = model.cpu()
        self.worker_names_ = () if answers is None else answers.worker_names
        return result

    def _check_features(self, items: np.ndarray) -> None:
        """Refuse parameters that do not fit the prepared features [N, D]."""
        params = self.params_
        if len(items) < params.n_clusters:
            raise UserError(f"n_clusters={params.n_clusters}: more clusters than the {len(items)} items")
        if params.architecture == "resnet" and not params.blocks:
            raise UserError("blocks=0: expected 1 at least with architecture=resnet (one at each resolution)")
        if params.likelihood != "gaussian" and not (items.min() >= 0 and items.max() <= 1):
            raise UserError(f"likelihood={params.likelihood}: expected features between 0 and 1; these are not")
        if params.augmentation != "none" and params.preparation != "none":
            raise UserError(
                f"augmentation={params.augmentation}: prepared features are no images; use preparation=none or "
                "augmentation=none"
            )

    def predict_proba(self, X: Any, pairs: Any = None) -> np.ndarray:
        """Cluster probabilities [N, K] of items, given their features and the answers in ``pairs`` about them.

        K is the largest number of clusters that the model can have; columns from ``n_clusters_`` on are of clusters
        without an item of the fit.

        Parameters
        ----------
        pairs : answers about rows of X by annotators of the training data, in any form that ``fit`` accepts

        Raises
        ------
        UserError
            If X has other columns than the training data, or an annotator was not in the training data.
        """
        items = self._new_items(X)
        features = torch.from_numpy(prepared(self.preparation_, items))
        names = None if pairs is None else names_of_rows(X, self.columns_)
        answers, best = checked_answers(pairs, len(features), names), self.result_.best
        with threads_of_a_fit():
            assignment = Assignment.of(self.model_.assign(features)[best].numpy())
            if answers is not None:
                known = self._renumbered(answers)
                views = build_views(self.model_.params.augmentation, self.model_.image_shape)
                joint = self.model_.annotated_posterior(features, known, views).probabilities[best].numpy()
                assignment = assignment.replace(known.annotated, Assignment.of(joint))
        assert assignment.memberships is not None
        return self._in_order(assignment.memberships)

    def predict(self, X: Any, pairs: Any = None) -> np.ndarray:
        """Clusters [N] of items; see :meth:`predict_proba`."""
        return Assignment.of(self.predict_proba(X, pairs), self.components_).cluster

    def generate(self, num_per_cluster: int, seed: int = 0) -> np.ndarray:
        """Sample S items from each cluster; returns their means given the latent variables, [K, S, D]."""
        check_is_fitted(self)
        draws = torch_stream(seed, "evaluation/samples")
        samples = self.model_.sample(num_per_cluster, draws)[self.result_.best].numpy()
        if self.preparation_ is not None:
            rows = samples.reshape(-1, samples.shape[-1])
            samples = self.preparation_.inverse_transform(rows).reshape(*samples.shape[:2], -1)
        return self._in_order(samples, 0)

    @property
    def cluster_weights_(self) -> np.ndarray:
        """Expected mixing proportions, [K]."""
        check_is_fitted(self)
        return self._in_order(self.model_.cluster_weights()[self.result_.best].numpy(), 0)

    def _renumbered(self, answers: PairAnnotations) -> PairAnnotations:
        """A copy of the answers with the annotators' numbers of the fit and without true rates."""
        number_of = {name: number for number, name in enumerate(self.worker_names_)}
        for name in answers.worker_names:
            if name not in number_of:
                raise UserError(
                    f"pairs: annotator {name} is not among the {len(number_of)} of the fit, so their rates "
                    "are unknown; leave out these answers, or fit again with all answers"
                )
        numbers = np.array([number_of[name] for name in answers.worker_names])
        return replace(
            answers, worker=numbers[answers.worker], worker_names=self.worker_names_,
            true_sensitivity=None, true_specificity=None,
        )  # fmt: skip


def _clustered(
    features: np.ndarray, answers: PairAnnotations | None, n_clusters: int, shape: tuple[int, ...] | None,
    indicators: Sequence[int], seed: int, memory: Memory, jobs: int | None,
    restart: int, tell: Callable[[str], None], *, with_answers: bool,
) -> tuple[np.ndarray, Rates | None, Verdict | None]:  # fmt: skip
    """Clusters by co-training for a start: see :class:`semicrowd.models.training_data.OtherClusters`."""
    known = answers if with_answers else None
    # The first restart has the seed of the fit, as CoTraining with the same seed has.
    own = int(stream(seed, "cotraining/restart", restart).integers(2**31)) if restart else seed
    most = n_clusters if known is None else min(n_clusters, default_max_clusters(len(known.annotated)))
    found = co_train(features, known, most, shape, indicators, own, memory, jobs, tell)
    return found.probabilities, found.rates, found.verdict


@torch.no_grad()
def evaluate(model: GenerativeModel, data: TrainingData) -> Result:
    """The result of a trained model for all items: that of the restart with the highest ELBO."""
    elbo = model.elbo(data)["total"].double().cpu().numpy()
    if not np.isfinite(elbo).any():
        raise UserError("training diverged: the ELBO is not finite in any restart; try a lower learning_rate")
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
