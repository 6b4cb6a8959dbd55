"""Readers of published tables: each returns features [N, D] and the classes' names [N].

The files are known to be whole (:mod:`semicrowd.data.fetch`), except those of :func:`read_own`, which the user brings:
they may not be passed on, or are too large to fetch unasked. What a reader does to the published values is in its
docstring.
"""

import gzip
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from semicrowd.errors import UserError
from semicrowd.random import stream

Table = tuple[np.ndarray, np.ndarray]

#: Value of the WiFi table for an access point that was not received.
_NOT_HEARD = 100
#: Signal strength that replaces it, in dBm: weaker than the weakest received.
SILENCE = -105
#: Number of the most frequent words that are features of a text.
_WORDS = 2000
#: Name → what the user is to put into the folder of that name below the data root.
WANTED = {
    "har": "X_train.txt, y_train.txt, X_test.txt, y_test.txt and activity_labels.txt of UCI's data set 240 (Human "
           "Activity Recognition Using Smartphones, archive.ics.uci.edu/dataset/240), in folders or not",
    "stl10": "train_y.bin and test_y.bin of the binary version (cs.stanford.edu/~acoates/stl10), and either "
             "features.npy, a row for each image, training images first, or train_X.bin and test_X.bin",
    "reuters10k": "rcv1-v2.topics.qrels and one or more lyrl2004_tokens_*.dat of RCV1-v2 (Lewis et al. 2004, online "
                  "appendices 8 and 12), packed by gzip or not",
}  # fmt: skip
#: Height and width of STL-10's images, in pixels.
_STL_SIDE = 96
#: Pixels of a side that are averaged to one.
_STL_BLOCK = 3
_STL_CLASSES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")
#: Topics of RCV1-v2 at the root of its hierarchy: corporate, economics, government, markets.
_ROOTS = ("CCAT", "ECAT", "GCAT", "MCAT")
#: Number of stories that are drawn.
_STORIES = 10_000


def read_keel(path: Path) -> Table:
    """A line for each item: its features, then its class, between commas."""
    frame = pd.read_csv(path, header=None, skipinitialspace=True)
    return frame.iloc[:, :-1].to_numpy(np.float64), frame.iloc[:, -1].astype(str).to_numpy(str)


def read_expressions(path: Path) -> Table:
    """A line for each gene, tabs between; the first has each sample's class."""
    with path.open(encoding="utf-8") as file:
        names = file.readline().rstrip("\n").split("\t")[1:]
    genes = pd.read_csv(path, sep="\t", header=None, skiprows=1).iloc[:, 1 : len(names) + 1]
    return genes.to_numpy(np.float64).T, np.array(names)


def read_activities(path: Path) -> Table:
    """Weka's format; the first two columns, number and user, are left out.

    ``?`` stands where no peak was found, in three of the columns: 474 rows, most of people who sit or stand. It becomes
    the column's median.
    """
    head, _, body = path.read_text(encoding="utf-8").partition("@data")
    num_columns = head.lower().count("@attribute")
    rows = [line.split(",") for line in body.splitlines() if line.strip()]
    cells = pd.DataFrame(rows).iloc[:, :num_columns]
    features = cells.iloc[:, 2:-1].replace("?", np.nan).astype(np.float64)
    return features.fillna(features.median()).to_numpy(), cells.iloc[:, -1].str.strip(" ;").to_numpy(str)


def read_wifi(path: Path, user: int) -> Table:
    """A user's scans in the order of time: the signals of the access points that this user ever heard, in dBm.

    The classes are floors of buildings. An access point that was not heard has −105, one below the weakest signal.
    """
    with zipfile.ZipFile(path) as archive, archive.open("UJIndoorLoc/trainingData.csv") as file:
        frame = pd.read_csv(file)
    mine = frame[frame["USERID"] == user].sort_values("TIMESTAMP", kind="stable")
    signals = mine.filter(regex="^WAP").to_numpy(np.float64)
    signals = signals[:, (signals != _NOT_HEARD).any(axis=0)]
    places = [f"building {b} floor {f}" for b, f in zip(mine["BUILDINGID"], mine["FLOOR"], strict=True)]
    return np.where(signals == _NOT_HEARD, SILENCE, signals), np.array(places)


def read_texts(paths: Sequence[Path]) -> Table:
    """A line for each text: its class, a tab, its words; all files' texts one after the other.

    The features are tf-idf of the 2,000 words that occur most often, rows of length 1, as scikit-learn has it.
    """
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    names, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return tf_idf(texts), np.array(names)


def tf_idf(texts: Sequence[str]) -> np.ndarray:
    """Weights [N, 2000] of the words that occur most often, rows of length 1, as scikit-learn has it."""
    # Imported here: the other tables do without.
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(max_features=_WORDS, dtype=np.float32).fit_transform(texts).toarray()


def read_own(name: str, root: Path) -> tuple[Table, list[Path]]:
    """One of :data:`WANTED`."""
    folder = root / name
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    try:
        return _READERS[name]({path.name: path for path in files})
    except KeyError as missing:
        lacks = f"{missing.args[0]} is not there; " if files else ""
        raise UserError(f"{name}: {lacks}put into {folder}: {WANTED[name]}") from missing
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise UserError(f"{name}: {folder}: not as published: {error}; expected {WANTED[name]}") from error


def _har(files: dict[str, Path]) -> tuple[Table, list[Path]]:
    """561 measures of a telephone's sensors, six activities; training windows first."""
    used = [files[name] for name in ("X_train.txt", "X_test.txt", "y_train.txt", "y_test.txt", "activity_labels.txt")]
    features = np.concatenate([np.loadtxt(path, dtype=np.float32, ndmin=2) for path in used[:2]])
    numbers = np.concatenate([np.loadtxt(path, dtype=np.int64, ndmin=1) for path in used[2:4]])
    classes = dict(line.split() for line in used[4].read_text(encoding="utf-8").splitlines() if line.strip())
    return _table(features, [classes.get(str(number), str(number)) for number in numbers]), used


def _stl10(files: dict[str, Path]) -> tuple[Table, list[Path]]:
    """13,000 labelled images of ten classes: the user's features, or means of 3 × 3 pixels [0, 1] of each colour."""
    labels = [files["train_y.bin"], files["test_y.bin"]]
    numbers = np.concatenate([np.fromfile(path, np.uint8) for path in labels])
    names = [_STL_CLASSES[number - 1] for number in numbers]
    if "features.npy" in files:
        path = files["features.npy"]
        return _table(np.load(path, allow_pickle=False), names), [path, *labels]
    images = [files["train_X.bin"], files["test_X.bin"]]
    pixels = np.concatenate([np.fromfile(path, np.uint8).reshape(-1, 3, _STL_SIDE, _STL_SIDE) for path in images])
    side = _STL_SIDE // _STL_BLOCK
    # Published column by column; the images are upright here.
    blocks = pixels.swapaxes(2, 3).reshape(len(pixels), 3, side, _STL_BLOCK, side, _STL_BLOCK)
    return _table((blocks.mean((3, 5)) / 255).reshape(len(pixels), -1), names), [*images, *labels]


def _reuters10k(files: dict[str, Path]) -> tuple[Table, list[Path]]:
    """10,000 stories drawn of those with one of the four root categories, tf-idf of the 2,000 most frequent stems."""
    topics, tokens = _named(files, "rcv1-v2.topics.qrels")[0], _named(files, "lyrl2004_tokens_")
    roots: dict[str, list[str]] = {}
    for line in _lines(topics):
        category, story, *_ = line.split()
        if category in _ROOTS:
            roots.setdefault(story, []).append(category)
    there = [story for path in tokens for story, _ in _stories(path, words=False) if len(roots.get(story, ())) == 1]
    chosen = set(stream(0, "data/stories").permutation(sorted(there))[:_STORIES].tolist())
    texts = {story: text for path in tokens for story, text in _stories(path, words=True) if story in chosen}
    return (tf_idf(list(texts.values())), np.array([roots[story][0] for story in texts])), [topics, *tokens]


def _named(files: dict[str, Path], beginning: str) -> list[Path]:
    paths = [path for name, path in files.items() if name.startswith(beginning)]
    if not paths:
        raise KeyError(beginning)
    return paths


def _stories(path: Path, *, words: bool) -> Iterator[tuple[str, str]]:
    """Number and stems of each story: lines ``.I number``, ``.W``, stems, an empty one."""
    story, lines = "", list[str]()
    for line in _lines(path):
        if line.startswith(".I "):
            if story:
                yield story, " ".join(lines)
            story, lines = line[3:].strip(), []
        elif words and not line.startswith(".W"):
            lines.append(line.strip())
    if story:
        yield story, " ".join(lines)


def _lines(path: Path) -> Iterator[str]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as packed:
            yield from packed
    else:
        with path.open(encoding="utf-8") as file:
            yield from file


def _table(features: np.ndarray, names: list[str]) -> Table:
    if features.ndim != 2 or len(features) != len(names):
        raise ValueError(f"features {list(features.shape)} for {len(names)} classes")
    return features, np.array(names)


_READERS: dict[str, Callable[[dict[str, Path]], tuple[Table, list[Path]]]] = {
    "har": _har, "stl10": _stl10, "reuters10k": _reuters10k,
}  # fmt: skip
