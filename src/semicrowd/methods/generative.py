"""SCDC and BayesSCDC as estimators."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.preparation import fit_preparation, prepared
from semicrowd.errors import UserError
from semicrowd.estimators.base import WarningClusterer
from semicrowd.estimators.inputs import checked_answers, ids_of_rows, names_of_rows
from semicrowd.fitting.generative import check_features, evaluate
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.fitting.ranks import is_first
from semicrowd.fitting.result import Assignment, Result
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.state import model_class
from semicrowd.models.training_data import TrainingData
from semicrowd.models.views import build_views
from semicrowd.random import torch_stream
from semicrowd.settings.fields import choice, each, setting, whole
from semicrowd.settings.methods import METHODS
from semicrowd.settings.parameters import Parameters, Recipe
from semicrowd.settings.rule import PAPER_DATA, Facts, recipe
from semicrowd.settings.training import TrainerSettings

_BY_RULE = "None: set by the rules in docs/DEFAULTS.md"
#: Parameter → the setting whose value it is, unless it is None.
_SETTING_OF = {"n_clusters": "model.K", "epochs": "epochs", "batch_size": "batch_size"}


def _mapping(value: Any) -> str | None:
    return None if isinstance(value, Mapping | Recipe) else "a mapping, such as {'model.latent_dim': 8}, or a Recipe"


def _trainer(value: Any) -> str | None:
    return None if isinstance(value, TrainerSettings) else "TrainerSettings"


@dataclass(eq=False, repr=False, kw_only=True)
class GenerativeParameters(Parameters):
    """Parameters of SCDC and BayesSCDC."""

    n_clusters: int | None = setting(
        None, f"maximal number of clusters. {_BY_RULE}", whole(2, 100_000), optional=True
    )
    restarts: int = setting(
        1, "independent initialisations, fitted at once; the one with the highest ELBO is kept", whole(1, 100_000)
    )
    epochs: int | None = setting(
        None, f"training epochs; 0: only the initialisation. {_BY_RULE}", whole(0), optional=True
    )
    batch_size: int | None = setting(
        None, f"items without answers in a training step. {_BY_RULE}", whole(1), optional=True
    )
    protocol: str = setting(
        "semicrowd", "default settings: semicrowd (docs/DEFAULTS.md) | paper (those of the SCDC paper)",
        choice("semicrowd", "paper"),
    )
    data: str | None = setting(
        None, "with protocol=paper: the paper's data set in X, whose settings are used: pinwheel, face or mnist",
        choice(*PAPER_DATA), optional=True,
    )  # fmt: skip
    image_shape: tuple[int, ...] | None = setting(
        None, "(height, width) or (colours, height, width) if the rows of X are images",
        each(whole(1), "(28, 28)", least=2), optional=True,
    )  # fmt: skip
    settings: Mapping[str, Any] | Recipe | None = setting(
        None, "further settings by their names on the command line, such as {'model.latent_dim': 8}; or a Recipe with "
        "all settings, which replaces the rules, restarts and protocol", _mapping, optional=True,
    )  # fmt: skip
    trainer: TrainerSettings | None = setting(None, "devices and threads", _trainer, optional=True)


class _Generative(GenerativeParameters, WarningClusterer):
    """Common base class of the estimators SCDC and BayesSCDC.

    Attributes
    ----------
    model_ : the fitted model, on the CPU, with all restarts
    recipe_ : all settings of the fit
    preparation_ : fitted transformer of the features, whose output is the input of ``model_``; None: no transformation
    worker_names_ : names of the annotators whose rates were estimated
    """

    requires_answers: ClassVar[bool] = False
    #: Name of the model on the command line.
    name: ClassVar[str]

    model_: GenerativeModel
    recipe_: Recipe

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor) -> Result | None:
        if isinstance(self.settings, Recipe):
            self.recipe_ = self.settings
        else:
            given = {"restarts": self.restarts, **(self.settings or {})}
            given |= {_SETTING_OF[name]: getattr(self, name) for name in self._given_parameters()}
            facts = Facts.of(features, answers, self.image_shape, self.data)
            self.recipe_ = recipe(self.name, given, facts, self.protocol)
        # Imported here: Lightning takes long to import, and a model that is loaded does not need it.
        from semicrowd.fitting.module import ClusteringModule
        from semicrowd.fitting.training import check_trainer, train

        standard = self.recipe_.model.preparation == "standard"
        self.preparation_ = fit_preparation(features, self.indicators) if standard else None
        items = prepared(self.preparation_, features)
        trainer = self.trainer or TrainerSettings()
        plan = self.recipe_
        with threads_of_a_fit(trainer.threads):
            check_features(plan, items)
            check_trainer(trainer)
            model = model_class(self.name)(
                plan.model, plan.nets, items.shape[1], 0 if answers is None else answers.num_annotators,
                restarts=plan.training.restarts, seed=self.seed_, image_shape=self.image_shape,
            )  # fmt: skip
            model.in_pieces.budget = int(trainer.memory * 2**30)
            views = build_views(plan.views, self.image_shape)
            data = TrainingData(
                torch.from_numpy(items), answers, views, self.seed_, plan.training.batch_size, features,
                trainer.jobs, self.indicators,
            )  # fmt: skip
            module = ClusteringModule(model, data, plan)
            train(module, monitor, trainer)
            result = evaluate(model, module.data) if is_first() else None
            if result is not None and module.verdicts:
                result = replace(result, verdict=module.verdicts[result.best])
            self.model_ = model.cpu()
        self.worker_names_ = () if answers is None else answers.worker_names
        return result

    def check_parameters(self, group: str = "") -> None:
        """Check all values, and that a Recipe in ``settings`` is of this model and stands alone."""
        super().check_parameters(group)
        if not isinstance(self.settings, Recipe):
            return
        if given := self._given_parameters():
            raise UserError(f"settings: a Recipe contains all settings; expected it without {' and '.join(given)}")
        if not isinstance(self.settings.model, expected := METHODS[self.name].settings):
            raise UserError(f"settings: a Recipe of {type(self.settings.model).__name__}; expected {expected.__name__}")

    def _given_parameters(self) -> list[str]:
        return [name for name in _SETTING_OF if getattr(self, name) is not None]

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
        ids = None if pairs is None else ids_of_rows(self, X)
        answers, best = checked_answers(pairs, len(features), ids, index=names_of_rows(X)), self.result_.best
        with threads_of_a_fit((self.trainer or TrainerSettings()).threads):
            assignment = Assignment.of(self.model_.assign(features)[best].numpy())
            if answers is not None:
                known = self._renumbered(answers)
                views = build_views(self.recipe_.views, self.image_shape)
                joint = self.model_.annotated_posterior(features, known, views).probabilities[best].numpy()
                assignment = assignment.replace(known.annotated, Assignment.of(joint))
        assert assignment.memberships is not None
        return self._in_order(assignment.memberships)

    def predict(self, X: Any, pairs: Any = None) -> np.ndarray:
        """Clusters [N] of items; see :meth:`predict_proba`."""
        return Assignment.of(self.predict_proba(X, pairs), self.components_).cluster

    def generate(self, num_per_cluster: int, seed: int = 0) -> np.ndarray:
        """Sample S items from each cluster; returns their means given the latent variables, [K, S, D].

        """
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
                raise UserError(f"pairs: annotator {name} is not among the {len(number_of)} of the fit, so their rates "
                                "are unknown; leave out these answers, or fit again with all answers")
        numbers = np.array([number_of[name] for name in answers.worker_names])
        return replace(
            answers, worker=numbers[answers.worker], worker_names=self.worker_names_,
            true_sensitivity=None, true_specificity=None,
        )  # fmt: skip


class BayesSCDC(_Generative):
    """BayesSCDC, the fully Bayesian model of the SCDC paper (section 3).

    It estimates clusters, their number, and the annotators' sensitivity and specificity.

    Examples
    --------
    Irises, and three people who were asked about pairs of them and are always right: one about 100, two about 20 each.

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import check_random_state
    >>> from semicrowd import BayesSCDC
    >>> X, kind = load_iris(return_X_y=True)
    >>> random = check_random_state(0)
    >>> i = random.randint(150, size=140)
    >>> j = (i + random.randint(1, 150, size=140)) % 150
    >>> person = np.repeat([0, 1, 2], [100, 20, 20])
    >>> answers = np.column_stack([i, j, person, kind[i] == kind[j]])

    The setting selects a fast initialisation; by default several are compared, which takes half a minute. The number of
    clusters is not given: 15 is the maximum, and the mixing proportions of clusters without items are close to 0.

    >>> model = BayesSCDC(settings={"start.kind": "cells"}).fit(X, pairs=answers)
    >>> len(model.cluster_weights_), model.n_clusters_
    (15, 3)
    >>> bool(model.cluster_weights_[np.unique(model.labels_)].sum() > 0.9)
    True

    The uncertainty of the annotators' rates is estimated, too: the fewer answers, the wider the 90 % interval.

    >>> width = model.workers_["sensitivity_high"] - model.workers_["sensitivity_low"]
    >>> bool(width[0] < width[1:].min())
    True
    """

    name: ClassVar[str] = "bayes"


class SCDC(_Generative):
    """SCDC, the model of the SCDC paper (section 2) with amortised inference and point estimates.

    It clusters the rows of X, using answers in ``pairs``, which are weighted by the estimated rates of their
    annotators. Superfluous clusters of the ``n_clusters`` stay empty.

    Examples
    --------
    Irises, and three people who were asked about 100 pairs each. Two are always right, the third guesses.

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import check_random_state
    >>> from semicrowd import SCDC
    >>> X, kind = load_iris(return_X_y=True)
    >>> random = check_random_state(0)
    >>> i = random.randint(150, size=300)
    >>> j = (i + random.randint(1, 150, size=300)) % 150
    >>> person = np.arange(300) % 3
    >>> same = np.where(person == 2, random.random_sample(300) < 0.5, kind[i] == kind[j])
    >>> answers = np.column_stack([i, j, person, same])

    The setting selects a fast initialisation; by default several are compared, which takes half a minute. The weight of
    an annotator is logit(sensitivity) + logit(specificity), in nats; it is close to 0 for an annotator who guesses.

    >>> model = SCDC(settings={"start.kind": "cells"}).fit(X, pairs=answers)
    >>> model.workers_["pairs"].tolist()
    [100, 100, 100]
    >>> (model.workers_["weight"] > 2).tolist()
    [True, True, False]

    New items are assigned to clusters from their features, or also from answers about them by annotators of the fit.

    >>> bool((model.predict(X[:50]) == model.labels_[:50]).mean() > 0.9)
    True
    >>> model.predict_proba(X[:2], pairs=[[0, 1, 0, 1]]).shape == (2, len(model.cluster_weights_))
    True
    """

    name: ClassVar[str] = "scdc"
