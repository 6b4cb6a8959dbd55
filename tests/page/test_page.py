"""The page of a run: what it says, of every kind of result, and that nothing of a file becomes part of its markup."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data import Dataset
from semicrowd.data.columns import Columns
from semicrowd.evaluation.scores import score
from semicrowd.page.build import Page, render
from semicrowd.page.clusters import Distances
from semicrowd.result import Assignment, Restarts, Result, Samples
from semicrowd.starts.selection import FEATURES_ALONE, Verdict

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
        self.text = ""
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
    return render(Page("a run", data, answers, score(found, data, answers), **values))


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
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in plain.tags} | {"section", "li", "ul", "strong", "code"}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    for text in (ids[4], HOSTILE[0], HOSTILE[3], HOSTILE[4], "<i>.csv"):
        assert text in page.text


def test_a_page_needs_no_network() -> None:
    text = text_of(Result(3, probabilities(), probabilities()), data_of())
    assert "default-src 'none'" in text
    page = Reader(text)
    addresses = [value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "href")]
    assert addresses
    assert all(value is not None and value.startswith(("#", "data:")) for value in addresses)
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert {str(value)[1:] for value in addresses if str(value).startswith("#")} <= ids
    assert not re.search(r"url\(|@import|https?:", text.replace("http-equiv", ""))


@pytest.mark.parametrize("number", [5, 15])
def test_clusters_are_open_unless_there_are_many(number: int) -> None:
    clusters = Assignment.hard(np.arange(30) % number)
    page = page_of(Result(number, clusters, clusters), data_of())
    details = ["open" in attributes for tag, attributes in page.tags if tag == "details"]
    assert details == [True] * min(number, 10) + [False] * (number - min(number, 10))


def samples() -> Samples:
    partitions = np.stack([np.repeat([0, 1, 2], 10), np.repeat([0, 1, 1], 10)])
    chains = pd.DataFrame({"chain": [0, 0, 0, 0], "sweep": [1, 2, 3, 4], "clusters": 3, "log_likelihood": 0.0})
    return Samples(partitions, np.zeros(2, int), np.arange(2), np.ones(2, bool), chains)


def verdict() -> Verdict:
    table = pd.DataFrame({
        "candidate": ["few <cells>", "features alone"], "clusters": [3, 2], "score": [-0.5, -0.6],
        "behind": [0.0, 0.1], "standard_error": [0.0, 0.02], "answer_power": 1.0, "agreement": [1.0, 0.5],
        "unseen": np.nan,
    })  # fmt: skip
    return Verdict("few <cells>", table, 0.3, 0.02, 400)


def kinds_of_results() -> dict[str, Result]:
    sure, hard = probabilities(), Assignment.hard(np.repeat([0, 1, 2], 10))
    shapes = np.tile([30.0, 3.0], (1, 3, 1))
    unknown = np.full((1, 3, 2), np.nan)
    return {
        "k-means": Result(3, hard, hard),
        "one cluster": Result(1, Assignment.hard(np.zeros(30)), Assignment.hard(np.zeros(30))),
        "far numbers": Result(50, Assignment.hard(np.repeat([48, 3, 11], 10)), hard),
        "mixture": Result(3, sure, sure),
        "annotators": Result(3, sure, sure, WorkerPosterior(shapes, shapes), verdict=verdict()),
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


def test_where_no_answer_could_be_held_out_the_page_has_no_number_for_it() -> None:
    twelve = PairAnnotations(np.zeros(12, int), np.full(12, 9), np.arange(12), np.arange(12) % 2, None, 30,
                             tuple(f"person {k}" for k in range(12)))  # fmt: skip
    alike = verdict().table.assign(score=-0.7, behind=0.0, standard_error=0.0)
    found = Result(3, probabilities(), probabilities(), verdict=Verdict(FEATURES_ALONE, alike, 0.0, 0.0, 12))
    scores = score(found, data_of(), twelve).scores
    assert "answers/cross_validated_gain" not in scores
    assert "nats, standard error" not in page_of(found, data_of(), twelve, metrics=scores).text


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


def test_pictures_are_inside_the_page() -> None:
    pixels = np.random.default_rng(0).random((30, 64)).astype(np.float32)
    data = Dataset("images", pixels, image_shape=(8, 8))
    page = page_of(Result(3, probabilities(), probabilities()), data)
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert len(images) >= 24
    assert all(str(one["src"]).startswith("data:image/png;base64,") and "alt" in one for one in images)
    assert "What sets it apart" not in page.text


def test_pictures_come_from_the_folder_where_features_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PIL import Image

    for k in range(29):
        Image.fromarray(np.full((300, 200, 3), 8 * k, np.uint8)).save(tmp_path / f"{k}.png")
    (tmp_path / "29.png").write_text("no picture")
    files = tuple(f"{k}.png" for k in range(30))
    data = Dataset("images", np.random.default_rng(0).random((30, 5)).astype(np.float32), files=files)
    page = page_of(Result(3, probabilities(), probabilities()), data, source=str(tmp_path))
    images = [str(attributes["src"]) for tag, attributes in page.tags if tag == "img"]
    assert len(images) >= 24
    assert all(image.startswith("data:image/jpeg;base64,") for image in images)
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    at_home = page_of(Result(3, probabilities(), probabilities()), data, source=f"~/{tmp_path.name}")
    assert at_home.tags == page.tags


def test_annotators_are_listed_the_most_reliable_first() -> None:
    shapes = np.array([[[50.0, 50.0], [90.0, 10.0], [10.0, 90.0]]])
    found = Result(3, probabilities(), probabilities(), WorkerPosterior(shapes, shapes))
    page = page_of(found, data_of(), answers_of(["random", "good", "reverse"]))
    assert [cell for cell in page.cells if cell in ("random", "good", "reverse")] == ["good", "random", "reverse"]


def test_typical_items_are_not_those_of_one_value_of_a_category() -> None:
    """Two groups of a line with a category of twenty values that is independent of them."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 100)
    line = 6 * group + rng.normal(size=200)
    values = rng.integers(20, size=200)
    distance = Distances(np.hstack([line[:, None], np.eye(20)[values]]), group)
    own = np.flatnonzero(group == 0)
    nearest = own[np.argsort(distance.to_own(own))[:20]]
    assert np.abs(line[nearest] - line[own].mean()).mean() < 0.5 * np.abs(line[own] - line[own].mean()).mean()
    assert len(set(values[nearest])) > 5
