"""The estimator CoTraining, and the ten steps of a fit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from joblib import Memory, Parallel, delayed, parallel_config
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_memory

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.two_coin import Rates
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.errors import UserError
from semicrowd.estimators.base import CLUSTERS, JOBS, CrowdClusterer, WarningClusterer, status
from semicrowd.inference.features_alone import clusters_of_features
from semicrowd.methods.cotraining.answers import Answers
from semicrowd.methods.cotraining.candidates import Candidate, cotrain, folds, initial_clusters
from semicrowd.methods.cotraining.classifiers import ItemClassifier, LabelPropagation, classifiers_of
from semicrowd.methods.cotraining.pool import Pool
from semicrowd.methods.cotraining.preparations import (
    STANDARDISED,
    WEIGHTED,
    Prepared,
    preparations,
    prepared,
    weighted,
)
from semicrowd.methods.cotraining.selection import select, table_of
from semicrowd.models.pair_quality import reported_quality
from semicrowd.random import stream
from semicrowd.result import Assignment, Result, Verdict
from semicrowd.starts.shared import ProgressCallback, shared

#: Candidates that are co-trained again with all classifiers.
_FINALISTS = 3
#: A random sample of at most so many items is added to the annotated ones: time does not grow with the number of items.
_MAX_SAMPLE = 20_000
#: End of the name of a candidate whose answers of a grouping count as independent.
INDEPENDENT = ", answers independent"
#: End of a name → whether they do.
COUNTS = {"": False, INDEPENDENT: True}
#: Number of nearest training items whose probabilities are averaged for a new item.
_NEIGHBOURS = 5
#: Number of new items whose neighbours are searched at once.
_PIECE = 4096


class Clustered(NamedTuple):
    """Clusters of all items.

    Attributes
    ----------
    alone, probabilities : cluster probabilities from the features alone (of annotated items cross-validated), and with
        the answers
    rows : the items that classifiers were fitted to
    preparations : the preparations of their features that are used, by name
    shares : weight of each, which sum to 1
    description : how the clusters were made
    posterior : a row for each number of clusters: ``clusters``, ``probability``
    rates, verdict : of the annotators, and of the comparison of candidates; None without answers
    """

    alone: Float[np.ndarray, "N K"]
    probabilities: Float[np.ndarray, "N K"]
    rows: Int[np.ndarray, "n"]
    preparations: dict[str, Prepared]
    shares: dict[str, float]
    description: str
    posterior: pd.DataFrame
    rates: Rates | None = None
    verdict: Verdict | None = None


class CoTraining(WarningClusterer):
    """Semi-supervised clustering by co-training of classifiers of the features with the answers of annotators.

    Parameters
    ----------
    max_clusters : int or None, default=None
        Maximal number of clusters; None: 1.5 times the square root of the number of annotated items (of all items,
        without answers), but from 4 to 50.
    image_shape : tuple of int or None, default=None
        (height, width) or (colours, height, width) if the rows of X are images.
    memory : joblib.Memory, str or None, default=None
        Keeps the co-training, which SCDC and BayesSCDC fitted to the same data, answers and seed share.
    n_jobs : int or None, default=None
        Processes in which candidates are co-trained; None: one; -1: one for each core. The result does not depend on
        it.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    posterior_ : DataFrame
        Posterior over the number of clusters: ``clusters``, ``probability`` and, with answers, ``evidence`` in nats.
    candidates_ : DataFrame or None
        The finalists, in decreasing order of ``evidence`` (nats above the model without clusters): ``candidate``
        (name), ``clusters`` (their number), ``behind`` (nats below the best), ``agreement`` (adjusted Rand index with
        the selected clusters); None without answers.
    winner_ : str
        Name of the selected candidate.
    preparations_ : dict
        Preparation → pipeline and prepared training items, or the sample of them that was used.
    memberships_ : ndarray of shape (n_samples or the sample's size, n_clusters)
        Cluster probabilities of the training items from their features alone.
    shares_ : dict
        Weight of each preparation.

    Notes
    -----
    1. The features are prepared in several ways (:mod:`semicrowd.methods.cotraining.preparations`).
    2. Initial clusters: k-means cells of each preparation, spectral clusters of the answers, clusters of networks that
       learn the answers; joined where the answers support it (SCDC paper, eq. 14).
    3. Classifiers learn the annotated items' clusters and predict each, p_i, from those of others (cross-validation).
    4. The annotators' rates are updated (eqs. 28, 29), with Beta priors fitted to all annotators.
    5. Message passing updates the clusters, ln q_ik ∝ ln p_ik + Σ_j w_ij q_jk (eq. 14); 4 and 5 are repeated.
    6. The answers' weight is calibrated, clusters that the answers call one are joined; 3 to 6 until they settle.
    7. The best candidates are co-trained again with the stacked classifiers of all preparations (Wolpert 1992).
    8. Each candidate's evidence is the variational bound F = ln p(answers | q) + Σ q ln(p / q), with the annotators'
       rates integrated out; clusters are merged in the order of the evidence of their unions.
    9. p(K) ∝ p(K | features) exp F, with the highest F of K clusters; the most probable clusters are selected. If F
       hardly exceeds that of the model without clusters, the features alone are clustered, as without answers
       (:mod:`semicrowd.inference.features_alone`).
    10. Classifiers that have learned the selected clusters predict all items.

    References
    ----------
    A. Blum and T. Mitchell, "Combining labeled and unlabeled data with co-training", COLT 1998.

    Examples
    --------
    Irises without answers, clustered by their features alone; ``fit(X, pairs=answers)`` takes some seconds.

    >>> from sklearn.datasets import load_iris
    >>> from semicrowd import CoTraining
    >>> X, kind = load_iris(return_X_y=True)
    >>> model = CoTraining().fit(X)
    >>> model.labels_.shape
    (150,)
    >>> model.predict_proba(X[:5]).shape == (5, model.n_clusters_)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "max_clusters": [CLUSTERS, None], "image_shape": ["array-like", None],
        "memory": [str, Path, Memory, None], "n_jobs": JOBS,
    }  # fmt: skip
    requires_answers = False
    posterior_: pd.DataFrame
    candidates_: pd.DataFrame | None
    winner_: str
    preparations_: dict
    memberships_: np.ndarray
    shares_: dict

    def __init__(
        self, *, max_clusters: int | None = None, image_shape: Sequence[int] | None = None,
        memory: Memory | str | None = None, n_jobs: int | None = None, random_state: Any = 0, verbose: Any = False,
    ) -> None:  # fmt: skip
        self.max_clusters = max_clusters
        self.image_shape = image_shape
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict_proba(self, X: Any) -> np.ndarray:
        """Cluster probabilities [N, K] of new items: means over the nearest training items in each preparation."""
        features = self._new_items(X)
        alone = self.memberships_
        probabilities = np.zeros((len(features), alone.shape[1]))
        for name, (pipeline, known) in self.preparations_.items():
            search = NearestNeighbors(n_neighbors=min(_NEIGHBOURS, len(known))).fit(known)
            for first in range(0, len(features), _PIECE):
                rows = slice(first, first + _PIECE)
                near = search.kneighbors(prepared(pipeline, features[rows]), return_distance=False)
                probabilities[rows] += self.shares_[name] * alone[near].mean(1)
        return probabilities if self.preparations_ else probabilities + alone.mean(0)

    def predict(self, X: Any) -> np.ndarray:
        """Clusters [N] of new items."""
        return Assignment.of(self.predict_proba(X), self.components_).cluster

    def number_clusters(self) -> None:
        """Number the clusters, those of ``memberships_`` as well; see :meth:`CrowdClusterer.number_clusters`."""
        if self.components_ is None:
            super().number_clusters()
            self.memberships_ = self._in_order(self.memberships_)

    def _run(self, features: np.ndarray, answers: PairAnnotations | None) -> Result:
        shape = None if self.image_shape is None else tuple(self.image_shape)
        if shape is not None and math.prod(shape) != features.shape[1]:
            raise UserError(
                f"image_shape={list(shape)}: {math.prod(shape)} pixels; expected {features.shape[1]}, the columns of X"
            )
        if self.max_clusters is None:
            self.params_["max_clusters"] = default_max_clusters(
                len(features) if answers is None else len(answers.annotated)
            )
        with status("co-training", self.verbose) as tell:
            used = co_train(features, answers, self.params_["max_clusters"], shape, self.indicators, self.seed_,
                            check_memory(self.memory), self.n_jobs, tell)  # fmt: skip
        self.preparations_ = {name: tuple(one) for name, one in used.preparations.items()}
        self.shares_, self.memberships_, self.posterior_ = used.shares, used.alone[used.rows], used.posterior
        self.candidates_, self.winner_ = None, used.description
        workers = None
        if answers is not None and used.rates is not None and used.verdict is not None:
            self.candidates_ = used.verdict.table
            rates = WorkerPosterior(used.rates.sensitivity[None], used.rates.specificity[None])
            known = torch.from_numpy(used.probabilities[answers.annotated])[None]
            workers = reported_quality(rates, known, answers.index, robust=True)
        final = Assignment.of(used.probabilities)
        return Result(
            used.probabilities.shape[1], final, Assignment.of(used.alone), workers, verdict=used.verdict,
            posterior=used.posterior,
        )  # fmt: skip


def default_max_clusters(num_annotated: int) -> int:
    """Default for the maximum number of clusters: one and a half times √(annotated items), between 4 and 50."""
    return int(np.clip(round(1.5 * np.sqrt(num_annotated)), 4, 50))


def co_train(
    features: Float[np.ndarray, "N D"], answers: PairAnnotations | None, max_clusters: int,
    image_shape: tuple[int, ...] | None, indicators: Sequence[int], seed: int, memory: Memory, jobs: int | None,
    tell: ProgressCallback,
) -> Clustered:  # fmt: skip
    """Clusters of the items: the parameters are those of :class:`CoTraining`, ``indicators`` mark missing numbers."""
    inputs = features, max_clusters, image_shape, tuple(indicators), seed
    if answers is None:
        return _of_features(*inputs, tell)
    compute = partial(_of_both, *inputs, answers, jobs, tell)
    found = shared(memory, "co-training", (*inputs, astuple(answers)), compute)
    assert found.verdict is not None
    if found.verdict.informative:
        return found
    # Answers without information are ignored: clusters of the annotated items alone would be worse.
    return _of_features(*inputs, tell)._replace(rates=found.rates, verdict=found.verdict)


def _of_features(
    features: Float[np.ndarray, "N D"], max_clusters: int, image_shape: tuple[int, ...] | None,
    indicators: Sequence[int], seed: int, tell: ProgressCallback,
) -> Clustered:  # fmt: skip
    """Clusters of the features alone, in their first preparation: patches of images, else standardised columns."""
    tell("clusters of the features")
    rows, number = np.arange(len(features)), max(2, min(max_clusters, len(features) - 1))
    name, found = next(preparations(features, image_shape, indicators), ("none", None))
    if found is None:
        one = np.ones((len(features), 1))
        posterior = pd.DataFrame({"clusters": [1], "probability": [1.0]})
        return Clustered(one, one, rows, {}, {}, "no feature varies: one cluster", posterior)
    clusters, of_number = clusters_of_features(found.items, number, stream(seed, "unsupervised"))
    known = np.eye(int(clusters.max()) + 1)[clusters]
    posterior = pd.DataFrame({"clusters": list(of_number), "probability": list(of_number.values())})
    # Probabilities by label propagation, averaged with the clusters so that the most probable cluster stays.
    near = LabelPropagation(found.items).out_of_sample(rows, known, rows % 2)
    alone = 0.5 * (known + near)
    return Clustered(alone, alone, rows, {name: found}, {name: 1.0}, f"{name} features alone", posterior)


def _of_both(
    all_features: Float[np.ndarray, "N D"], max_clusters: int, image_shape: tuple[int, ...] | None,
    indicators: Sequence[int], seed: int, all_answers: PairAnnotations, jobs: int | None, tell: ProgressCallback,
) -> Clustered:  # fmt: skip
    """Clusters of features and answers, by the steps of :class:`CoTraining`."""
    some = stream(seed, "cotraining/sample").permutation(len(all_features))[:_MAX_SAMPLE]
    rows = np.union1d(some, all_answers.annotated)
    features, (i, j) = all_features[rows], (np.searchsorted(rows, ends) for ends in (all_answers.i, all_answers.j))
    answers = replace(all_answers, num_items=len(rows), i=i, j=j)
    tell("co-training: preparations of the features")  # step 1
    ways = dict(preparations(features, image_shape, indicators))
    if STANDARDISED in ways and (by_answers := weighted(features, ways[STANDARDISED].pipeline, answers)):
        ways[WEIGHTED] = by_answers
    items = {name: way.items for name, way in ways.items()} or {"none": np.zeros((len(rows), 1))}
    of_way = {name: classifiers_of(x) for name, x in items.items()}

    def cotrained(
        first: Mapping[str, tuple[np.ndarray, Sequence[ItemClassifier], bool]], what: str
    ) -> dict[str, Candidate]:
        """Candidates (steps 3 to 6) from initial clusters, the classifiers of each, and how its answers count."""
        found = {}
        with parallel_config(backend="loky", inner_max_num_threads=1):
            made = Parallel(jobs or 1, return_as="generator", max_nbytes=None)(
                delayed(cotrain)(answers, clusters, classifiers, max_clusters, seed, independent)
                for clusters, classifiers, independent in first.values()
            )
            for number, (name, one) in enumerate(zip(first, made, strict=True), 1):
                found[name] = one
                tell(f"co-training: {what} {number} of {len(first)}: {name}")
        return found

    indexed = Answers.of(answers)
    starts, of_features = initial_clusters(items, answers, max_clusters, seed)  # step 2
    counts = {"": False} if indexed.counts.min() == 1 else COUNTS
    quick = cotrained(
        {
            name + how: (clusters, [one for way in own for one in of_way[way][:2]], independent)
            for name, (clusters, own) in starts.items() for how, independent in counts.items()
        },
        "candidate",
    )  # fmt: skip
    best = list[str]()
    for name, one in sorted(quick.items(), key=lambda item: -item[1].evidence):
        if len(best) < _FINALISTS and not any(one.same_clusters(quick[other]) for other in best):
            best.append(name)
    everything = [one for way in of_way.values() for one in way]
    candidates = cotrained(  # step 7
        {name: (quick[name].clusters, everything, quick[name].independent) for name in best}, "finalist"
    )
    selected, posterior = select(candidates, indexed, of_features)  # steps 8 and 9
    without = indexed.without_clusters()
    verdict = Verdict(
        selected.name, table_of(candidates, selected, without), posterior, selected.evidence - without,
        answers.num_pairs, len(answers.annotated),
    )  # fmt: skip

    tell("co-training: clusters of all items")  # step 10
    pool = candidates[selected.name].pool
    if selected.known.shape[1] < candidates[selected.name].known.shape[1]:  # merged
        pool = Pool(everything)
        pool.out_of_sample(answers.annotated, selected.known, folds(answers, seed))
    of_classifiers = iter(pool.shares)
    shares = {name: float(sum(next(of_classifiers) for _ in way)) for name, way in of_way.items()}
    used = {name: way for name, way in ways.items() if shares[name] > 0}
    if len(rows) < len(all_features):
        everywhere = {name: classifiers_of(prepared(way.pipeline, all_features)) for name, way in used.items()}
        if not ways:
            everywhere = {"none": classifiers_of(np.zeros((len(all_features), 1)))}
        pool = pool.of([one for name, way in of_way.items() for one in everywhere.get(name, way)])
    known = all_answers.annotated
    alone = pool(known, selected.known)
    probabilities = alone.copy()
    alone[known], probabilities[known] = selected.features, selected.known
    return Clustered(
        alone, probabilities, rows, used, {name: shares[name] for name in used}, selected.name, posterior,
        indexed.rates(selected.known), verdict,
    )  # fmt: skip
