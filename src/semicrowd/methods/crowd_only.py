"""Baselines that cluster by the answers alone: signed spectral clustering, and a classifier trained on its clusters."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils._param_validation import StrOptions

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import signed_embedding
from semicrowd.crowd.two_coin import QUALITY_PRIOR, answer_weights, hits_and_misses, log_evidence
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data.preparation import ColumnScaler
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer, InductiveClusterer
from semicrowd.result import Assignment, Result

#: Rounds in which answers are weighted by their annotators' rates, and random starts of k-means.
_REWEIGHTINGS, _STARTS = 3, 20
#: Folds of the cross-validation with which the ridge penalty of the classifier is chosen.
_FOLDS = 5
#: Hidden units of the network, as in a layer of the paper's networks for MNIST.
_HIDDEN = 500


class SignedSpectral(CrowdClusterer):
    """Spectral clustering of the answers as a signed graph; the features are ignored.

    An answer "same" is an edge of weight +1, "different" of −1. The items are embedded by the eigenvectors of the
    smallest eigenvalues of the normalised signed Laplacian I − D^(−½) A D^(−½), D = Σ|A| (Kunegis et al. 2010;
    :func:`semicrowd.crowd.cells.signed_embedding`), and clustered by k-means. Then the annotators' rates are
    estimated from the clusters, the answers are weighted by their log odds, and the embedding is repeated, three times.
    The result is the round in which the answers have the highest probability, with sensitivities and specificities
    integrated out under Beta(10, 1); labels are not used. With few answers it is usually the first round.

    Parameters
    ----------
    n_clusters : int, default=4
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    annotated_ : ndarray of shape (n_annotated,)
        Numbers of the annotated items; all others are assigned to the largest cluster.
    sensitivity_shape_, specificity_shape_ : ndarray of shape (n_annotators, 2)
        Beta posteriors of the annotators, given the clusters.
    sensitivity_, specificity_ : ndarray of shape (n_annotators,)
        Their means.
    evidence_ : float
        Log probability of the answers.
    """

    annotated_: np.ndarray
    sensitivity_shape_: np.ndarray
    specificity_shape_: np.ndarray
    sensitivity_: np.ndarray
    specificity_: np.ndarray
    evidence_: float

    def _run(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        if len(answers.annotated) < self.n_clusters:
            raise UserError(
                f"pairs: {len(answers.annotated)} annotated items; expected n_clusters={self.n_clusters} at least"
            )
        self.annotated_ = answers.annotated
        clusters, quality, self.evidence_ = self._best_round(answers)
        labels = np.full(len(features), np.bincount(clusters).argmax())
        labels[self.annotated_] = clusters
        self.sensitivity_shape_, self.specificity_shape_ = quality.sensitivity[0], quality.specificity[0]
        self.sensitivity_, self.specificity_ = (rates[0] for rates in quality.mean())
        final = Assignment.hard(labels)
        return self._result(final, final, quality)

    def _best_round(self, pairs: PairAnnotations) -> tuple[np.ndarray, WorkerPosterior, float]:
        i, j = pairs.index.i, pairs.index.j
        weight = 2.0 * pairs.label - 1
        kmeans = KMeans(self.n_clusters, n_init=_STARTS, random_state=self.seed_)
        rounds = []
        for _ in range(_REWEIGHTINGS + 1):
            embedding = signed_embedding(i, j, weight, len(self.annotated_), self.n_clusters)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # few answers: fewer distinct rows than clusters
                clusters = kmeans.fit_predict(embedding).astype(np.int64)
            quality, evidence = quality_given(pairs, clusters[i] == clusters[j])
            rounds.append((clusters, quality, evidence))
            sensitivity, specificity = (rates[0] for rates in quality.mean())
            weight = answer_weights(sensitivity, specificity, pairs.worker, pairs.label)
        return max(rounds, key=lambda result: result[2])


def quality_given(pairs: PairAnnotations, same: np.ndarray) -> tuple[WorkerPosterior, float]:
    """Posterior of the annotators' rates if ``same`` [P] is true of the pairs, and log probability of all answers.

    The prior is Beta(10, 1). The posterior has a leading restart dimension of size 1.
    """
    counts = hits_and_misses(same.astype(np.float64), pairs.worker, pairs.label, pairs.num_annotators)
    shapes = np.asarray(QUALITY_PRIOR) + counts
    evidence = sum(float(log_evidence(shape, QUALITY_PRIOR).sum()) for shape in shapes)
    return WorkerPosterior(shapes[:1], shapes[1:]), evidence


class CrowdLogistic(InductiveClusterer):
    """:class:`SignedSpectral` for the annotated items, and a classifier of the features for all other items.

    The classifier learns the clusters of the annotated items from their standardised features. ``labels_`` has the
    clusters of :class:`SignedSpectral` for annotated items, and the predictions of the classifier for all others.

    Parameters
    ----------
    n_clusters : int, default=4
    classifier : {"logistic", "mlp"}, default="logistic"
        "logistic": multinomial logistic regression with a ridge penalty chosen by five-fold cross-validated log loss of
        the clusters; labels are not used. "mlp": a network with one hidden layer of 500 units, trained by Adam until
        the accuracy on a held-out tenth of the annotated items no longer increases.
    random_state : int, RandomState instance or None, default=0
    verbose : bool, default=False

    Attributes
    ----------
    crowd_ : SignedSpectral
        The clustering of the answers.
    sensitivity_, specificity_ : ndarray of shape (n_annotators,)
        Those of ``crowd_``.
    classifier_ : Pipeline
        The fitted classifier, scaling included.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrowdClusterer._parameter_constraints, "classifier": [StrOptions({"logistic", "mlp"})],
    }  # fmt: skip
    crowd_: SignedSpectral
    sensitivity_: np.ndarray
    specificity_: np.ndarray
    classifier_: Pipeline

    def __init__(
        self, n_clusters: int = 4, *, classifier: str = "logistic", random_state: Any = 0, verbose: Any = False
    ) -> None:
        self.n_clusters = n_clusters
        self.classifier = classifier
        self.random_state = random_state
        self.verbose = verbose

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(self.classifier_.predict(features))

    def _run(self, features: np.ndarray, answers: PairAnnotations) -> Result:
        self.crowd_ = SignedSpectral(self.n_clusters, random_state=self.seed_).fit(features, answers)
        self.sensitivity_, self.specificity_ = self.crowd_.sensitivity_, self.crowd_.specificity_
        known, assignment = self.crowd_.annotated_, self.crowd_.result_.final
        clusters = assignment.cluster[known]
        if (clusters == clusters[0]).all():
            classifier = DummyClassifier(strategy="most_frequent")  # there is nothing to tell apart
        elif self.classifier == "mlp":
            classifier = self._network(clusters)
        else:
            classifier = self._regression(clusters)
        scaler = ColumnScaler(indicators=self.indicators)
        self.classifier_ = make_pipeline(scaler, classifier).fit(features[known], clusters)
        vars(self.classifier_[-1]).pop("_optimizer", None)  # Adam's moments take twice the memory of the network
        alone = self._assign(features)
        return self._result(alone.replace(known, Assignment.hard(clusters)), alone, self.crowd_.result_.workers)

    def _network(self, clusters: np.ndarray) -> MLPClassifier:
        size = np.unique(clusters, return_counts=True)[1]
        early = bool(size.min() > 1 and np.ceil(0.1 * len(clusters)) >= len(size))
        return MLPClassifier(_HIDDEN, early_stopping=early, max_iter=500, random_state=self.seed_)

    def _regression(self, clusters: np.ndarray) -> LogisticRegression:
        """A cross-validated regression, unless a cluster has a single item."""
        smallest = int(np.unique(clusters, return_counts=True)[1].min())
        if smallest < 2:
            return LogisticRegression(max_iter=2000)
        folds = StratifiedKFold(min(_FOLDS, smallest), shuffle=True, random_state=self.seed_)
        return LogisticRegressionCV(
            Cs=np.logspace(-3, 3, 7),
            l1_ratios=(0,),
            cv=folds,
            scoring="neg_log_loss",
            max_iter=2000,
            use_legacy_attributes=False,
        )
