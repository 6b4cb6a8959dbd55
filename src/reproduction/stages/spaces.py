"""Stage ``spaces``: other methods in the two feature spaces of runs of deep DPM, the autoencoder's and the flow's.

Writes ``scores.csv``, scores of other methods in both spaces; for the first run on MNIST also ``embedding.npz``, the
t-SNE of 2,500 items after three epochs, and ``digits.npz``, the decoder's images of points around clusters (Li et al.
2022, Figs. 2b, 3 and 4).
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from hydra.utils import instantiate
from joblib import Parallel, delayed
from omegaconf import DictConfig, OmegaConf
from sklearn.manifold import TSNE

from reproduction.commandline import without_traceback
from reproduction.stages.autoencoder import decoded
from semicrowd.data import Dataset
from semicrowd.data.fetch import data_root
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.estimators.persistence import load
from semicrowd.files import MODEL, write_arrays, write_csv
from semicrowd.methods.deep_dpm.estimator import DeepDPM
from semicrowd.methods.gmeans import GMeans
from semicrowd.methods.unsupervised import KMeansOnly, VariationalMixture
from semicrowd.metrics import clustering_scores
from semicrowd.random import stream

COLUMNS = ("which", "seed", "space", "method", "told", "clusters", "ari", "f1", "nmi")
SPACES = ("autoencoder", "flow")
#: Number of initialisations of k-means.
NUM_STARTS = 5
#: Maximal number of components of scikit-learn's Dirichlet process mixture.
MAX_COMPONENTS = 25
#: Its iterations: on MNIST its NMI after 100 differs by at most .001 from that after 300, which take 2.4 times as long.
ITERATIONS = 100
#: Number of items that t-SNE embeds.
NUM_POINTS = 2500
#: Number of epochs after which t-SNE is run: the first, a middle one and the last.
NUM_EPOCHS = 3
#: Number of decoded points of a cluster, including the centre.
SAMPLES = 25
#: Noise of the decoded points, in standard deviations of the cluster; the paper does not state it.
NOISE = 0.5


def rows_of(model: DeepDPM, data: Dataset, seed: int) -> Iterator[tuple[Any, ...]]:
    """Scores of k-means (with deep DPM's number of clusters and the true one) and two more methods: :data:`COLUMNS`."""
    assert data.labels is not None
    assert data.num_classes is not None
    for space, items in zip(SPACES, (data.features, model.transform(data.features)), strict=True):
        methods: dict[tuple[str, int | None], CrowdClusterer] = {
            ("kmeans", model.n_clusters_): KMeansOnly(max(model.n_clusters_, 2), n_init=NUM_STARTS, random_state=seed),
            ("kmeans, oracle", data.num_classes): KMeansOnly(data.num_classes, n_init=NUM_STARTS, random_state=seed),
            ("bgmm", None): VariationalMixture(min(MAX_COMPONENTS, len(items)), max_iter=ITERATIONS, random_state=seed),
        }
        if space == "flow":  # in the autoencoder's space it is an experiment of its own, without seeds
            methods["gmeans", None] = GMeans(random_state=seed)
        for (method, given), clusterer in methods.items():
            scores = clustering_scores(data.labels, clusterer.fit_predict(items))
            values = [scores[name] for name in COLUMNS[-3:]]
            yield (data.name, seed, space, method, given, clusterer.n_clusters_, *values)


def embedding(model: DeepDPM, data: Dataset, seed: int) -> dict[str, np.ndarray]:
    """t-SNE of :data:`NUM_POINTS` items before and after the flow, at the first, a middle and the last epoch.

    Each t-SNE is initialised with the previous one, so that panels can be compared.
    """
    assert data.labels is not None
    chosen = np.sort(stream(seed, "embedding").permutation(len(data.features))[:NUM_POINTS])
    epochs = [model.epochs_[i] for i in np.unique(np.linspace(0, len(model.epochs_) - 1, NUM_EPOCHS).astype(int))]
    spaces = [data.features[chosen], *(model.transform(data.features[chosen], epoch) for epoch in epochs)]
    begin: Any = "pca"
    points = []
    for space in spaces:
        begin = TSNE(init=begin, random_state=seed).fit_transform(space)
        points.append(begin)
        begin = begin / begin.std() * 1e-4  # the scale of t-SNE's own initialisation
    labels = data.labels[chosen]
    within = [_within(space, labels) for space in spaces]
    return {
        "points": np.stack(points), "labels": labels, "epochs": np.array([0, *epochs]), "within": np.array(within)
    }  # fmt: skip


def _within(points: np.ndarray, labels: np.ndarray) -> float:
    """Share of the variance of points [n, D] that is within classes."""
    means = np.stack([points[labels == name].mean(0) for name in np.unique(labels)])
    own = means[np.searchsorted(np.unique(labels), labels)]
    return float(np.square(points - own).sum() / np.square(points - points.mean(0)).sum())


def digits(model: DeepDPM, data: Dataset, which: str, root: Path, seed: int) -> dict[str, np.ndarray]:
    """Decoded points around the largest Gaussian of each class, [classes, samples, D], the centre itself first.

    A Gaussian belongs to the most frequent label of its items, as in the paper; a class without Gaussians is left out.
    """
    assert data.labels is not None
    cluster = model.gaussian(data.features)
    sizes = np.bincount(cluster, minlength=len(model.means_))
    classes = np.array([
        np.bincount(data.labels[cluster == k]).argmax() if sizes[k] else -1 for k in range(len(sizes))
    ])  # fmt: skip
    rng, found, names = stream(seed, "digits"), [], []
    for name in np.unique(classes[classes >= 0]):
        k = int(np.where(classes == name, sizes, -1).argmax())
        noise = rng.normal(size=(SAMPLES, model.means_.shape[1])) * NOISE / np.sqrt(model.precisions_[k])
        noise[0] = 0
        found.append(decoded(model.inverse_transform(model.means_[k] + noise), which, root))
        names.append(name)
    return {"images": np.stack(found), "classes": np.array(names)}


def run(folder: Path, out: Path, pictures: bool) -> list[tuple[Any, ...]]:
    """Rows of :data:`COLUMNS` of one run; ``pictures``: also write the embedding and the digits."""
    torch.set_num_threads(1)
    cfg = OmegaConf.load(folder / "config.yaml")
    assert isinstance(cfg, DictConfig)
    model, data = load(folder / MODEL), instantiate(cfg.data, _convert_="all")
    assert isinstance(model, DeepDPM)
    if pictures:
        write_arrays(out / "embedding.npz", embedding(model, data, cfg.seed))
        write_arrays(out / "digits.npz", digits(model, data, cfg.data.which, data_root(), cfg.seed))
    return list(rows_of(model, data, cfg.seed))


def runs_of(results: Path) -> list[Path]:
    """Folders of the finished runs of deep DPM with a flow and without answers, by their seeds."""
    found = []
    for metrics in results.glob("*/metrics.json"):
        cfg = OmegaConf.load(metrics.with_name("config.yaml"))
        of_flow = cfg.model._target_.endswith("DeepDPM") and cfg.model.n_steps != 0
        if of_flow and cfg.annotations._target_.endswith(".none"):
            found.append((cfg.seed, metrics.parent))
    return [folder for _, folder in sorted(found)]


@without_traceback
def main(arguments: list[str] | None = None) -> int:
    """``python -m reproduction.stages.spaces results/codes_mnist results/spaces_mnist``."""
    parser = argparse.ArgumentParser(description="other methods in the feature spaces of runs of deep DPM")
    parser.add_argument("results", type=Path, help="folder of a sweep")
    parser.add_argument("out", type=Path)
    parser.add_argument("--pictures", action="store_true", help="of the first run, which is of MNIST")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args(arguments)
    folders = runs_of(options.results)
    if not folders:
        raise UserError(f"{options.results}: no finished run of model=deep_dpm")
    found = Parallel(options.jobs)(
        delayed(run)(folder, options.out, options.pictures and folder == folders[0]) for folder in folders
    )
    write_csv(options.out / "scores.csv", COLUMNS, [row for rows in found for row in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
