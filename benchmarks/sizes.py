"""Co-training from 2,000 to a million items: NMI, clusters, seconds and memory of default fits.

MNIST's first 50 principal components, as many answers an item at every size: a tenth of the images, each in four
tasks of 20, by 30 people who misplace one image in ten (20,000 images: 400 tasks, 76,000 answers). And eight Gaussian
kinds in 64 columns, a million items, 100,000 answers of 100 people about 10,000 of them, right with .85. Each fit has
a process of its own, without OMP_NUM_THREADS. Beside it, of images: a support vector classifier (scikit-learn's
defaults) that is told the true kinds of the annotated ones.
"""

import json
import resource
import sys
import time

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import normalized_mutual_info_score
from sklearn.svm import SVC

from process import measured_apart
from semicrowd.crowd import simulate
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.mnist import load_mnist
from semicrowd.methods.cotraining import CoTraining
from semicrowd.random import stream
from table import at_least, at_most, print_table

_COMPONENTS, _PEOPLE, _TASK_SIZE = 50, 30, 20
_IMAGES = (2_000, 9_900, 10_100, 20_000, 60_000)
#: NMI and seconds of 20,000 images; seconds and GiB of a million items; how far the images' sizes may be apart.
_BARS = {20_000: (0.85, 180.0)}
_MILLION, _SECONDS, _GIB, _APART = 1_000_000, 2400.0, 8.0, 0.03

Problem = tuple[np.ndarray, np.ndarray, PairAnnotations]


def sizes(quick: bool = False) -> None:
    """Images, then the million; with ``quick`` Gaussians alone."""
    rows, found = [], []
    for kind, items in [("gaussians", 2_000)] if quick else [*(("mnist", n) for n in _IMAGES), ("gaussians", _MILLION)]:
        nmi, clusters, seconds, memory, told = measured_apart(__file__, kind, items, as_a_user=True)
        bars = []
        if items in _BARS:
            bars = [f"NMI {at_least(nmi, _BARS[items][0])}", f"s {at_most(seconds, _BARS[items][1])}"]
        elif kind == "gaussians":
            bars = [f"s {at_most(seconds, _SECONDS)}", f"GiB {at_most(memory, _GIB)}"]
        else:
            found.append(nmi)
        rows.append((kind, str(items), f"{nmi:.3f}", str(clusters), f"{seconds:.0f}", f"{memory:.2f}",
                     "–" if told is None else f"{told:.3f}", "; ".join(bars)))  # fmt: skip
    print_table(("data", "items", "NMI", "clusters", "s", "GiB at most", "SVC told the kinds", "bars"), rows)
    if found:
        print(f"\nImages, largest NMI less smallest: {np.ptp(found):.3f}, {at_most(np.ptp(found), _APART)}")


def _images(items: int) -> Problem:
    data = load_mnist()
    assert data.labels is not None
    rows = stream(0, "data").permutation(data.num_items)[:items]
    features = PCA(_COMPONENTS, random_state=0).fit_transform(data.features.reshape(len(data.labels), -1))[rows]
    labels = data.labels[rows]
    answers = simulate.tasks(
        labels, stream(0, "answers"), num_annotators=min(_PEOPLE, items // 50), num_tasks=items // 50,
        task_size=_TASK_SIZE, num_annotated=items // 10, sensitivity=0.9, specificity=0.95,
    )  # fmt: skip
    return features, labels, answers


def _gaussians(items: int) -> Problem:
    centres = 0.45 * stream(0, "centres").normal(size=(8, 64))
    features, labels = make_blobs(items, centers=centres, random_state=0)
    answers = simulate.two_coin(
        labels, stream(0, "answers"), num_annotators=100, pairs_per_annotator=items // 1000,
        num_annotated=items // 100, sensitivity=0.85, specificity=0.85,
    )  # fmt: skip
    return features, labels, answers


def _fit(kind: str, items: int) -> tuple[float, int, float, float, float | None]:
    features, labels, answers = {"mnist": _images, "gaussians": _gaussians}[kind](items)
    started = time.perf_counter()
    found = CoTraining(random_state=0).fit(features.astype(np.float32), answers)
    seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    told = _told(features, labels, answers.annotated) if kind == "mnist" else None
    return float(normalized_mutual_info_score(labels, found.labels_)), found.n_clusters_, seconds, memory, told


def _told(features: np.ndarray, labels: np.ndarray, annotated: np.ndarray) -> float:
    """NMI of a support vector classifier that is told the true kinds of the annotated items: what these can tell."""
    found = SVC().fit(features[annotated], labels[annotated]).predict(features)
    found[annotated] = labels[annotated]
    return float(normalized_mutual_info_score(labels, found))


if __name__ == "__main__":
    print(json.dumps(_fit(sys.argv[1], int(sys.argv[2]))))
