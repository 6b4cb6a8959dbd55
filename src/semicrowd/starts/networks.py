"""Small networks as classifiers of items, and as a source of initial clusters: they are trained on the answers alone.

k-means cells and Gaussian clusters follow what varies most in the features. Where the answers are about something
else, such as the pose in pictures of many people, networks that are trained to predict the answers
(:mod:`semicrowd.starts.answer_classifier`) find it, and networks learn its borders best.
"""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.cells import reversed_annotators
from semicrowd.random import stream
from semicrowd.starts.answer_classifier import average_of_learners, learners, train_on_answers
from semicrowd.starts.answers import joint_probabilities
from semicrowd.starts.item_classifiers import ItemClassifier

#: Units of the hidden layers.
_HIDDEN = (40, 40)
#: Networks whose predictions of all items are averaged.
_NETWORKS = 5
#: Networks that are trained on the answers; the one with the highest bound is kept.
_CANDIDATES = 4
#: Approximate number of items whose answers are used for training, so that training time is bounded.
_MAX_ITEMS = 1000


class NetworkClassifier(ItemClassifier):
    """The mean of small networks that learn the probabilities of the known items (``starts/answer_classifier.py``).

    Training uses batches of the known items, so its time does not depend on their number.
    """

    def __init__(self, features: Float[np.ndarray, "N D"], seed: int) -> None:
        self.features, self.seed = features, seed

    def __call__(self, items: np.ndarray, known: np.ndarray) -> np.ndarray:
        """See :class:`ItemClassifier`."""
        features, rows = _tensor(self.features), torch.from_numpy(items)
        return _array(average_of_learners(features, rows, _tensor(known)[None], _HIDDEN, _NETWORKS, self.seed)[0])

    def out_of_sample(self, items: np.ndarray, known: np.ndarray, fold: np.ndarray) -> np.ndarray:
        """See :class:`ItemClassifier`; the networks of all folds are trained at once."""
        folds = np.arange(int(fold.max()) + 1)
        # Items of its own fold have no weight in a network's loss.
        target = _tensor(known * (fold != folds[:, None])[..., None])
        features = _tensor(self.features[items])
        net = learners(features, target, _HIDDEN, 1, self.seed)
        with torch.no_grad():
            return _array(net(features).exp())[fold, np.arange(len(items))]


def clusters_by_networks(
    x: Float[np.ndarray, "N C"],
    answers: PairAnnotations,
    cells: Int[np.ndarray, "N"],
    max_clusters: int,
    seed: int,
    restart: int = 0,
) -> Int[np.ndarray, "n"]:
    """Clusters of the annotated items, by the network with the highest bound among several.

    Parameters
    ----------
    x : prepared features
    cells : k-means cells; annotators who contradict them are assumed to reverse their answers when training begins
    """
    some = answers_about_few(answers, stream(seed, "networks/items", restart))
    reverse, features = reversed_annotators(cells, some)[None], _tensor(x)
    trained = train_on_answers(features, some, max_clusters, _HIDDEN, _CANDIDATES, seed, reverse, restart=restart)
    with torch.no_grad():
        clusters = trained.net(features[torch.from_numpy(answers.annotated)])[0].argmax(-1).numpy()
    known = joint_probabilities(trained, features, some)[0].argmax(-1).numpy()
    clusters[np.searchsorted(answers.annotated, some.annotated)] = known
    return clusters


def answers_about_few(answers: PairAnnotations, rng: np.random.Generator, most: int = _MAX_ITEMS) -> PairAnnotations:
    """Answers to random questions (tasks, or pairs) about ``most`` items, and all other answers between these items.

    A random sample of items would contain hardly any answers if items have few; a sample of questions would contain too
    few items of each cluster if items have many.
    """
    if len(answers.annotated) <= most:
        return answers
    order = rng.permutation(int(answers.question.max()) + 1)[answers.question].argsort(kind="stable")
    index = answers.index
    both = np.stack([index.i[order], index.j[order]], 1).ravel()
    first = np.zeros(len(both), bool)
    first[np.unique(both, return_index=True)[1]] = True
    # A question is taken as a whole, so the number of items may exceed ``most`` by those of one question.
    last = answers.question[order][np.searchsorted(first.cumsum(), most) // 2]
    taken = order[: np.flatnonzero(answers.question[order] == last).max() + 1]
    inside = np.zeros(len(answers.annotated), bool)
    inside[index.i[taken]] = inside[index.j[taken]] = True
    return answers.some(inside[index.i] & inside[index.j])


def _tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array.astype(np.float32))


def _array(probabilities: Tensor) -> np.ndarray:
    array: np.ndarray = probabilities.double().numpy()
    return array
