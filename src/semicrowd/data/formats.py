"""Readers of published tables: each returns features [N, D] and the classes' names [N].

The files are known to be whole (:mod:`semicrowd.data.fetch`); what a reader does to the published values is in its
docstring.
"""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

Table = tuple[np.ndarray, np.ndarray]

#: Value of the WiFi table for an access point that was not received.
_NOT_HEARD = 100
#: Signal strength that replaces it, in dBm: weaker than the weakest received.
SILENCE = -105
#: Number of the most frequent words that are features of a text.
_WORDS = 2000


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
