"""The page of a run: what it says, of every kind of result, and that nothing of a file becomes part of its markup."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import semicrowd
from semicrowd import MCVC, CoTraining, KMeansOnly, UserError, write_report
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data import Dataset
from semicrowd.data.columns import Columns
from semicrowd.evaluation.scores import score
from semicrowd.page.build import Page
from semicrowd.result import Assignment, Restarts, Result, Samples, Verdict

HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'; --", "&amp;<b>", "{{ 7 * 7 }}", "{% raw %}",
    "</table></details>", "javascript:alert(1)", "\u202egnp.exe", "a" * 300,
)  # fmt: skip
_EMPTY = {"meta", "img", "br", "line", "circle", "path", "link", "input", "hr"}


class Reader(HTMLParser):
    """Checks that tags close in order; collects tags, attributes and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = self.unfolded = ""
        self.cells: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if self.open[-1:] != ["style"] else ""
        self.unfolded += data if not {"details", "style"} & set(self.open) else ""
        if self.open[-1:] == ["td"]:
            self.cells.append(data)


def data_of(ids: Sequence[str] | None = None, names: Sequence[str] = ("size", "weight")) -> Dataset:
    """30 items of three kinds; the first column tells them apart, the second does not."""
    kinds = np.repeat([0, 1, 2], 10)
    noise = np.random.default_rng(0).normal(size=(30, 2))
    table = pd.DataFrame(noise + np.outer(kinds, [10, 0]), columns=list(names))
    columns = Columns.of(table, "")[0]
    features = table.to_numpy(np.float32)
    return Dataset("table", features, ids=None if ids is None else tuple(ids), columns=columns)


def answers_of(names: Sequence[str]) -> PairAnnotations:
    """Forty answers of each annotator."""
    draws = np.random.default_rng(1)
    rows = [(*draws.choice(30, 2, replace=False), w, draws.integers(2)) for w in range(len(names)) for _ in range(40)]
    i, j, worker, label = np.array(rows).T
    return PairAnnotations(i, j, worker, label, None, 30, tuple(names))


def probabilities(sure: float = 0.99) -> Assignment:
    """Memberships of the three kinds; item 4 may be of kind 1, too."""
    members = np.full((30, 3), (1 - sure) / 2)
    members[np.arange(30), np.repeat([0, 1, 2], 10)] = sure
    members[4] = 0.55, 0.4, 0.05
    return Assignment.of(members)


def page_of(found: Result, data: Dataset, answers: PairAnnotations | None = None, **more: Any) -> Reader:
    return Reader(text_of(found, data, answers, **more))


def text_of(found: Result, data: Dataset, answers: PairAnnotations | None = None, **more: Any) -> str:
    values: dict[str, Any] = {"metrics": {}, "warnings": (), "method": "cotrain", "params": {}, "seed": 0} | more
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        Page("a run", data, answers, score(found, data, answers), **values).write(path)
        return path.read_text(encoding="utf-8")


def test_names_of_all_kinds_are_text_and_nothing_else() -> None:
    """Ids, columns, annotators, paths and warnings that try to become markup, styles, scripts or template code."""
    ids = [f"{HOSTILE[k % len(HOSTILE)]}{k}" for k in range(30)]
    data = data_of(ids, [HOSTILE[0], HOSTILE[1]])
    answers = answers_of(HOSTILE)
    shapes = np.ones((1, len(HOSTILE), 2))
    found = Result(3, probabilities(), probabilities(), WorkerPosterior(shapes, shapes))
    plain = page_of(replace(found, workers=WorkerPosterior(shapes, shapes)), data_of([str(k) for k in range(30)]),
                    answers_of([str(k) for k in range(len(HOSTILE))]))  # fmt: skip
    page = page_of(found, data, answers, warnings=HOSTILE, command=HOSTILE[0], started=HOSTILE[1],
                   source="<i>.csv")  # fmt: skip
    # The same page with numbers for names has the same tags, but for those of warnings and of the command.
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in plain.tags} | {"strong", "code"}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    for text in (ids[4], HOSTILE[0], HOSTILE[3], HOSTILE[4], "<i>.csv"):
        assert text in page.text


def test_a_page_needs_no_network() -> None:
    data = Dataset("images", np.random.default_rng(0).random((30, 64)), image_shape=(8, 8))
    text = text_of(Result(3, probabilities(), probabilities()), data)
    assert "default-src 'none'" in text
    page = Reader(text)
    addresses = [value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "href")]
    assert addresses
    assert all(value is not None and value.startswith("data:") for value in addresses)
    assert not re.search(r"url\(|@import|https?:", text.replace("http-equiv", ""))


def samples() -> Samples:
    partitions = np.stack([np.repeat([0, 1, 2], 10), np.repeat([0, 1, 1], 10)])
    chains = pd.DataFrame({"chain": [0, 0, 0, 0], "sweep": [1, 2, 3, 4], "clusters": 3, "log_likelihood": 0.0})
    return Samples(partitions, np.zeros(2, int), np.arange(2), np.ones(2, bool), chains)


def verdict() -> Verdict:
    table = pd.DataFrame({
        "candidate": ["few <cells>", "features alone"], "clusters": [3, 2], "evidence": [60.0, 40.0],
        "behind": [0.0, 20.0], "agreement": [1.0, 0.5],
    })  # fmt: skip
    posterior = pd.DataFrame({"clusters": [2, 3], "probability": [0.2, 0.8], "evidence": [-60.0, -40.0]})
    return Verdict("few <cells>", table, posterior, 60.0, 400, 30)


def kinds_of_results() -> dict[str, Result]:
    sure, hard = probabilities(), Assignment.hard(np.repeat([0, 1, 2], 10))
    shapes = np.tile([30.0, 3.0], (1, 3, 1))
    unknown = np.full((1, 3, 2), np.nan)
    return {
        "k-means": Result(3, hard, hard),
        "one cluster": Result(1, Assignment.hard(np.zeros(30)), Assignment.hard(np.zeros(30))),
        "far numbers": Result(50, Assignment.hard(np.repeat([48, 3, 11], 10)), hard),
        "mixture": Result(3, sure, sure),
        "annotators": Result(
            3, sure, sure, WorkerPosterior(shapes, shapes), verdict=verdict(), posterior=verdict().posterior
        ),
        "no intervals": Result(3, sure, sure, WorkerPosterior(unknown, unknown, np.full((2, 1, 3), 0.8))),
        "restarts": Result(3, sure, sure, restarts=Restarts(np.array([-2.0, -1.0]), 1, np.stack([hard.cluster] * 2))),
        "samples": Result(3, hard, hard, samples=samples()),
        "latent": Result(3, sure, sure, latent_mean=np.random.default_rng(0).normal(size=(30, 4))),
    }


@pytest.mark.parametrize("kind", kinds_of_results())
@pytest.mark.parametrize("with_answers", [False, True])
def test_every_kind_of_result_has_a_page(kind: str, with_answers: bool) -> None:
    found = kinds_of_results()[kind]
    answers = answers_of(["ann", "bob", "eve"]) if with_answers else None
    if not with_answers:
        found = replace(found, workers=None)
    gain = {"answers/held_out_gain": 0.2, "answers/held_out_gain_error": 0.1}
    page = page_of(found, data_of(), answers, metrics=gain)
    headings = ["Clusters", "How many clusters, and how sure", "What decided", "What to ask next"]
    assert all(heading in page.text for heading in headings)
    assert "nan" not in page.text.lower().split()


def test_what_sets_a_cluster_apart_is_the_standardised_mean_difference() -> None:
    data = data_of()
    page = page_of(Result(3, probabilities(), probabilities()), data)
    inside, outside = data.features[:10, 0].astype(float), data.features[10:, 0].astype(float)
    expected = (inside.mean() - outside.mean()) / np.sqrt((inside.var() + outside.var()) / 2)
    assert f"{expected:+.2f}" in page.text
    assert f"{inside.mean():.4g}" in page.text


def test_categories_and_gaps_of_a_table_are_shown_as_they_were() -> None:
    table = pd.DataFrame({
        "town": ["Rome"] * 10 + ["Oslo"] * 20, "age": [*np.arange(29.0), np.nan],
        "sold": pd.date_range("2020-05-17", periods=30), "lights": ["Ja"] * 10 + ["Nein"] * 20,
    })  # fmt: skip
    columns = Columns.of(table, "")[0]
    features, _ = columns.features(table, "")
    data = Dataset("table", features, columns=columns).with_gaps_filled()
    page = page_of(Result(3, probabilities(), probabilities()), data)
    assert "town=Rome" in page.text
    assert "100.0 %" in page.text
    assert re.search(r"Oslo\s", page.text)
    assert "2020-05-17" in page.cells
    assert {"Ja", "Nein"} <= set(page.cells)


def test_pictures_are_inside_the_page_from_the_features_or_else_from_the_folder(tmp_path: Path) -> None:
    for k in range(29):
        Image.fromarray(np.full((300, 200, 3), 8 * k, np.uint8)).save(tmp_path / f"{k}.png")
    (tmp_path / "29.png").write_text("no picture")
    values = np.random.default_rng(0).random((30, 64)).astype(np.float32)
    for kind, more in (("png", {"image_shape": (8, 8)}), ("jpeg", {"files": tuple(f"{k}.png" for k in range(30))})):
        data = Dataset("images", values, **more)
        page = page_of(Result(3, probabilities(), probabilities()), data, source=str(tmp_path))
        images = [attributes for tag, attributes in page.tags if tag == "img"]
        assert len(images) >= 24
        assert all(str(one["src"]).startswith(f"data:image/{kind};base64,") and "alt" in one for one in images)


def test_clusters_and_the_best_and_worst_annotators_are_not_folded() -> None:
    rates = np.linspace(0.1, 0.95, 12)
    shapes = np.stack([90 * rates, 90 * (1 - rates)], axis=-1)[None]
    found = Result(3, probabilities(), probabilities(), WorkerPosterior(shapes, shapes))
    names = [f"worker {letter}" for letter in "abcdefghijkl"]
    page = page_of(found, data_of(), answers_of(names))
    assert [name for name in names if name in page.unfolded] == [*names[:3], *names[-4:]]
    assert [cell for cell in page.cells if cell in names] == names[::-1]  # the most reliable first
    assert all(f"Cluster {k}: 10 items" in page.unfolded for k in range(3))
    assert "Least certain" not in page.unfolded
    alike = replace(found, workers=WorkerPosterior(shapes / 90, shapes / 90))  # wide intervals
    assert names[0] not in page_of(alike, data_of(), answers_of(names)).unfolded


def people() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Items with an id, a category and a gap; their classes; answers about them by their ids."""
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 3
    table = pd.DataFrame({
        "id": [f"person {number}" for number in range(60)], "age": kind * 20 + rng.normal(30, 2, 60),
        "income": kind * 5 + rng.normal(0, 1, 60), "region": np.array(["north", "south", "<west>"])[kind],
    })  # fmt: skip
    table.loc[7, "age"] = np.nan
    i = rng.integers(60, size=300)
    j = (i + rng.integers(1, 60, size=300)) % 60
    answers = pd.DataFrame({
        "i": table["id"].to_numpy()[i], "j": table["id"].to_numpy()[j], "worker": np.array(["Ann", "Bo"])[i % 2],
        "label": np.where(kind[i] == kind[j], "same", "different"),
    })  # fmt: skip
    return table, kind, answers


@pytest.mark.filterwarnings("ignore:X. column id is taken")
def test_it_names_items_columns_people_and_scores(tmp_path: Path) -> None:
    table, kind, answers = people()
    model = CoTraining(random_state=0).fit(table, answers)
    page = write_report(model, table, answers, tmp_path / "page.html", labels=np.array(["a", "b", "c"])[kind])
    text = page.read_text()
    for expected in ("CoTraining", "person 7", "age", "Ann", "Bo", "300 answers of 2 annotators", "accuracy 1.000"):
        assert expected in text, expected
    assert "<west>" not in text
    assert f"{model.n_clusters_} clusters with at least one item" in text


@pytest.mark.filterwarnings("ignore:X. column id is taken")
def test_new_items_are_called_by_the_column_that_gave_the_ids_in_the_fit() -> None:
    table, _, answers = people()
    model = semicrowd.BayesSCDC(random_state=0, epochs=0, init="mixture").fit(table, answers)
    new = table.iloc[::-1].reset_index(drop=True)  # the numbers of the rows are others
    assert (model.predict(new, answers) == model.predict(table, answers)[::-1]).mean() > 0.9
    assert np.allclose(model.predict_proba(new, answers), model.predict_proba(table, answers)[::-1], atol=1e-3)


def test_a_method_without_answers_and_an_array_have_a_page(tmp_path: Path) -> None:
    features = np.repeat([[0.0, 0.0], [9.0, 1.0]], 10, axis=0) + np.random.default_rng(1).normal(size=(20, 2))
    page = write_report(KMeansOnly(n_clusters=2, random_state=0).fit(features), features, path=tmp_path / "page.html")
    assert "2 clusters with at least one item" in page.read_text()
    with pytest.raises(UserError, match="pairs"):  # that the fit did not have
        write_report(KMeansOnly(n_clusters=2).fit(features), features, [(0, 1, "a", 1)], tmp_path / "page.html")


@pytest.fixture(scope="module")
def fitted() -> tuple[MCVC, np.ndarray, list[tuple[int, int, str, int]]]:
    """A model, and the items and answers of its fit."""
    features = np.repeat([[0.0, 0.0], [9.0, 1.0]], 10, axis=0) + np.random.default_rng(1).normal(size=(20, 2))
    answers = [(0, 1, "a", 1), (0, 11, "a", 0), (2, 12, "b", 0), (12, 13, "b", 1)]
    return MCVC(n_clusters=2, random_state=0).fit(features, answers), features, answers


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"X": np.zeros((9, 2))}, "X"), ({"X": np.ones((20, 2))}, "X: not the items"),
        ({"pairs": None}, "pairs"),
        ({"pairs": [(0, 1, "a", 1), (1, 2, "c", 0)]}, "pairs"),
        ({"labels": [0, 1]}, "labels"),
        ({"path": f"{__file__}/page.html"}, "page.html"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_fit_is_refused(
    more: dict[str, object], expected: str, fitted: tuple[MCVC, np.ndarray, list[tuple[int, int, str, int]]]
) -> None:
    model, features, answers = fitted
    with pytest.raises(UserError, match=expected):
        write_report(model, **{"X": features, "pairs": answers, **more})
