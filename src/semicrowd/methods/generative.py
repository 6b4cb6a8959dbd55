"""SCDC and BayesSCDC as estimators."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.preparation import fit_preparation, prepared
from semicrowd.defaults.facts import Facts
from semicrowd.defaults.resolution import recipe
from semicrowd.defaults.rule import PAPER_DATA
from semicrowd.errors import UserError
from semicrowd.estimators.continued import ContinuedClusterer
from semicrowd.estimators.frames import names_of_rows
from semicrowd.estimators.inputs import checked_answers
from semicrowd.fitting.generative import fit_generative
from semicrowd.fitting.monitor import Monitor
from semicrowd.fitting.result import Assignment, Result
from semicrowd.fitting.threads import threads_of_a_fit
from semicrowd.models.generative import GenerativeModel
from semicrowd.models.views import build_views
from semicrowd.random import torch_stream
from semicrowd.settings.fields import choice, each, setting, whole
from semicrowd.settings.methods import METHODS
from semicrowd.settings.parameters import Parameters
from semicrowd.settings.recipe import Recipe
from semicrowd.settings.training import TrainerSettings

_BY_RULE = "None: by the rule (docs/DEFAULTS.md)"


def _mapping(value: Any) -> str | None:
    return None if isinstance(value, Mapping | Recipe) else "a mapping, such as {'model.latent_dim': 8}, or a Recipe"


def _trainer(value: Any) -> str | None:
    return None if isinstance(value, TrainerSettings) else "TrainerSettings"


@dataclass(eq=False, repr=False, kw_only=True)
class GenerativeParameters(Parameters):
    """Parameters of both models."""

    n_clusters: int | None = setting(
        None, f"clusters; of BayesSCDC an upper bound. {_BY_RULE}", whole(2, 100_000), optional=True
    )
    restarts: int = setting(1, "initial values fitted at once; the best by ELBO is kept", whole(1, 100_000))
    epochs: int | None = setting(None, f"0: the start alone. {_BY_RULE}", whole(0), optional=True)
    batch_size: int | None = setting(None, f"items without answers in a step. {_BY_RULE}", whole(1), optional=True)
    protocol: str = setting("semicrowd", "semicrowd | paper", choice("semicrowd", "paper"))
    data: str | None = setting(
        None, "protocol=paper: X is the paper's pinwheel, face or mnist, whose settings count as on the command line",
        choice(*PAPER_DATA), optional=True,
    )  # fmt: skip
    image_shape: tuple[int, ...] | None = setting(
        None, "(height, width) or (colours, height, width) where a row of X is an image",
        each(whole(1), "(28, 28)", least=2), optional=True,
    )  # fmt: skip
    settings: Mapping[str, Any] | Recipe | None = setting(
        None, "others, by their names on the command line, such as {'model.latent_dim': 8}; or a Recipe: all settings, "
        "taken as they are, in place of the rule and of restarts and protocol", _mapping, optional=True,
    )  # fmt: skip
    trainer: TrainerSettings | None = setting(None, "devices and threads", _trainer, optional=True)


class _Generative(GenerativeParameters, ContinuedClusterer):
    """What SCDC and BayesSCDC share as estimators.

    Attributes
    ----------
    model_ : the fitted model, on the CPU, with all restarts
    recipe_ : all settings of the fit
    preparation_ : of the features, None where they are taken as they are; ``model_`` knows the prepared ones alone
    worker_names_ : names of the annotators that it has learned
    """

    requires_answers: ClassVar[bool] = False
    #: Name of the model.
    name: ClassVar[str]

    model_: GenerativeModel
    recipe_: Recipe

    def _run(self, features: np.ndarray, answers: PairAnnotations | None, monitor: Monitor | None) -> Result | None:
        self.recipe_ = self._recipe(features, answers)
        self.preparation_ = fit_preparation(features) if self.recipe_.model.preparation == "standard" else None
        items = prepared(self.preparation_, features)
        trainer = self.trainer or TrainerSettings()
        with threads_of_a_fit(trainer.threads):
            self.model_, result = fit_generative(
                self.name, items, answers, self.recipe_,
                seed=self.seed_, image_shape=self.image_shape, monitor=monitor, trainer=trainer,
                original=features, previous=self._previous,
            )  # fmt: skip
        self.worker_names_ = () if answers is None else answers.worker_names
        return result

    def _recipe(self, features: np.ndarray, answers: PairAnnotations | None) -> Recipe:
        """What ``settings`` is, or comes to on these data."""
        spelled = {"n_clusters": "model.K", "epochs": "epochs", "batch_size": "batch_size"}
        told = {name: value for name in spelled if (value := getattr(self, name)) is not None}
        if not isinstance(self.settings, Recipe):
            given = {"restarts": self.restarts, **(self.settings or {})}
            given |= {spelled[name]: value for name, value in told.items()}
            facts = Facts.of(features, answers, self.image_shape, self.data)
            return recipe(self.name, given, facts, self.protocol)
        if told:
            raise UserError(f"settings: a Recipe, which has {' and '.join(told)} of its own; leave them out")
        if not isinstance(self.settings.model, expected := METHODS[self.name].settings):
            raise UserError(f"settings: a Recipe of {type(self.settings.model).__name__}; expected {expected.__name__}")
        return self.settings

    def predict_proba(self, X: Any, pairs: Any = None) -> np.ndarray:
        """Cluster probabilities [N, K] of items, those of ``pairs`` with the answers about them.

        Parameters
        ----------
        pairs : answers about the rows of X by annotators of the fit, in any form that ``fit`` takes

        Raises
        ------
        UserError
            For items of other columns, and for an annotator that the fit has not known.
        """
        items = self._new_items(X)
        features = torch.from_numpy(prepared(self.preparation_, items))
        answers, best = checked_answers(pairs, len(features), names_of_rows(X)), self.result_.best
        with threads_of_a_fit((self.trainer or TrainerSettings()).threads):
            found = Assignment.of(self.model_.posterior(features).probabilities[best].numpy())
            if answers is not None:
                known = self._as_known(answers)
                views = build_views(self.recipe_.views, self.image_shape)
                joint = self.model_.annotated_posterior(features, known, views).probabilities[best].numpy()
                found = found.replace(known.annotated, Assignment.of(joint))
        assert found.memberships is not None
        return found.memberships

    def predict(self, X: Any, pairs: Any = None) -> np.ndarray:
        """Clusters [N] of items; see :meth:`predict_proba`."""
        return self.predict_proba(X, pairs).argmax(-1)

    def generate(self, num_per_cluster: int, seed: int = 0) -> np.ndarray:
        """Means of items drawn from every cluster, [K, S, D]."""
        check_is_fitted(self)
        draws = torch_stream(seed, "evaluation/samples")
        found = self.model_.sample(num_per_cluster, draws)[self.result_.best].numpy()
        if self.preparation_ is None:
            return found
        return self.preparation_.inverse_transform(found.reshape(-1, found.shape[-1])).reshape(*found.shape[:2], -1)

    @property
    def cluster_weights_(self) -> np.ndarray:
        """Expected mixing proportions, [K]."""
        check_is_fitted(self)
        return self.model_.cluster_weights()[self.result_.best].numpy()

    def _as_known(self, answers: PairAnnotations) -> PairAnnotations:
        """The answers with the numbers that their annotators had in the fit.

        Where the annotators place the items of tasks, a pair asked alone is a task of two items.
        """
        number_of = {name: number for number, name in enumerate(self.worker_names_)}
        for name in answers.worker_names:
            if name not in number_of:
                raise UserError(f"pairs: annotator {name} is not among the {len(number_of)} of the fit, so nothing is "
                                "known of them; leave their answers out, or fit again with all answers")
        numbers = np.array([number_of[name] for name in answers.worker_names])
        task = np.arange(answers.num_pairs) if self.model_.places and answers.task is None else answers.task
        return replace(
            answers, task=task, worker=numbers[answers.worker], worker_names=self.worker_names_,
            true_sensitivity=None, true_specificity=None,
        )  # fmt: skip


class BayesSCDC(_Generative):
    """The fully Bayesian model of the SCDC paper (section 3): clusters, their number, and the annotators' quality.

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

    A quick start; without ``settings`` many are tried, for half a minute. The number of clusters is not told: the model
    has room for 15, and the posterior of their weights leaves nearly nothing to those that no iris needs.

    >>> model = BayesSCDC(settings={"start.kind": "cells"}).fit(X, pairs=answers)
    >>> len(model.cluster_weights_), model.n_clusters_
    (15, 3)
    >>> bool(model.cluster_weights_[np.unique(model.labels_)].sum() > 0.9)
    True

    What is not known of a person is part of the result, too: the fewer answers, the wider the 90 % interval.

    >>> width = model.workers_["sensitivity_high"] - model.workers_["sensitivity_low"]
    >>> bool(width[0] < width[1:].min())
    True
    """

    name: ClassVar[str] = "bayes"


class SCDC(_Generative):
    """The model of the SCDC paper (section 2) with amortised inference and point estimates.

    Clusters of the rows of X, which the answers of ``pairs`` hold together or apart, each weighted by what its
    annotator is worth. Of ``n_clusters`` those that no item needs stay empty.

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

    A quick start; without ``settings`` many are tried, for half a minute. The weight of a person is what an answer
    "same" and an answer "different" say together, in nats; who guesses has next to none.

    >>> model = SCDC(settings={"start.kind": "cells"}).fit(X, pairs=answers)
    >>> model.workers_["pairs"].tolist()
    [100, 100, 100]
    >>> (model.workers_["weight"] > 2).tolist()
    [True, True, False]

    New items are placed by their features, or with answers about them by people of the fit.

    >>> bool((model.predict(X[:50]) == model.labels_[:50]).mean() > 0.9)
    True
    >>> model.predict_proba(X[:2], pairs=[[0, 1, 0, 1]]).shape == (2, len(model.cluster_weights_))
    True
    """

    name: ClassVar[str] = "scdc"
