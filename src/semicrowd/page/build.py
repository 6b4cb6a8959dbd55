"""Make ``report.html``."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from jaxtyping import Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.data.columns import as_list
from semicrowd.evaluation.scores import Evaluation
from semicrowd.files import expanded
from semicrowd.page import advice
from semicrowd.page.annotators import PERHAPS, annotators
from semicrowd.page.clusters import MAX_CLUSTERS, SURE, Distances, clusters
from semicrowd.page.decision import candidates, decided, number_of_clusters
from semicrowd.page.items import Items
from semicrowd.page.mixed_clusters import mixed_clusters
from semicrowd.page.pairs import number_of_pairs, pairs_to_ask

FILE = "report.html"
#: Width of the picture of an annotator's rates, in units of the picture.
_WIDTH = 200.0
#: File name → caption, of the figures that are embedded; other figures are only in the run's folder.
_CAPTIONS = {
    "clusters": "The items, coloured by cluster",
    "latent": "The items in the plane that sets the clusters apart most, coloured by cluster",
    "likeliest": "The images that each cluster is surest of",
    "samples": "What each cluster generates",
    "curves": "The course of the fit",
    "restarts": "Restarts compared",
}
#: Clusters whose items are shown without a click.
_OPEN = 10
#: Figures with larger files, in bytes, are left out, because the page would open slowly.
_LARGEST = 1_000_000


@dataclass(frozen=True)
class Page:
    """The content of the page.

    Attributes
    ----------
    title : title of the run
    data, answers : training data
    result : result of the fit, and its scores
    metrics : content of metrics.json
    warnings : reasons not to trust the result, a line each
    settings : settings of the run, nested
    given : settings that the user has given, by dotted names
    command, started : command line and time of the start of the run
    questions : file beside the page that has :attr:`pairs`, which the page then mentions; empty without one
    names : names of clusters, by their numbers; not all have one
    """

    title: str
    data: Dataset
    answers: PairAnnotations | None
    result: Evaluation
    metrics: Mapping[str, float]
    warnings: Sequence[str]
    settings: Mapping[str, Any]
    given: Mapping[str, Any]
    command: str = ""
    started: str = ""
    questions: str = ""
    names: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def distance(self) -> Distances:
        """Distances of the items to the means of their clusters."""
        found = self.result.found
        place = found.latent_mean if found.latent_mean is not None else self.data.features
        return Distances(place, found.final.cluster)

    @cached_property
    def answers_of(self) -> Int[np.ndarray, "N"]:
        """Number of answers about each item."""
        pairs = np.zeros(0, np.int64) if self.answers is None else np.concatenate([self.answers.i, self.answers.j])
        return np.bincount(pairs, minlength=self.data.num_items)

    @cached_property
    def need(self) -> advice.Need | None:
        """How many more answers would help; None where the result behind this number is not to be trusted."""
        return None if self.warnings else advice.need(self.result.found.final, self.result.workers)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of items to ask about, the most useful first."""
        found = self.result.found
        number = self.settings.get("questions") or number_of_pairs(self.need)
        return pairs_to_ask(found.final, found.features, self.distance, self.answers_of, self.answers, number)


def pictures(folder: Path) -> list[dict[str, str]]:
    """Caption and ``data:`` URL of the figures in a folder that the page shows; empty without the folder."""
    shown = []
    for name, caption in _CAPTIONS.items():
        path = folder / f"{name}.png"
        if path.is_file() and path.stat().st_size <= _LARGEST:
            coded = base64.b64encode(path.read_bytes()).decode()
            shown.append({"caption": caption, "address": f"data:image/png;base64,{coded}"})
    return shown


def render(page: Page, figures: Sequence[Mapping[str, str]] = ()) -> str:
    """The HTML of the page. All text from data and files is escaped.

    Parameters
    ----------
    figures : caption and ``data:`` URL of each figure
    """
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("semicrowd.page"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    templates.filters["percent"] = lambda share: f"{100 * share:.1f} %"
    return templates.get_template("page.html").render(_content(page), figures=figures)


def _content(page: Page) -> dict[str, Any]:
    data, result, answers = page.data, page.result.found, page.answers
    folder = dict(page.settings.get("data", {})).get("path")
    items = Items(data, expanded(folder) if folder is not None else None)
    annotated = page.answers_of > 0
    every = list(clusters(items, result.final, page.distance, annotated))
    people = []
    if page.result.workers is not None and result.workers is not None:
        people = annotators(page.result.workers, result.workers, result.best, remarks=not page.warnings)
    known = every[0].sure is not None
    asked = advice.questions(result.final, result.features, page.distance, page.answers_of)
    shared = _shared_reasons(asked)
    return {
        "title": page.title, "command": page.command, "started": page.started, "warnings": page.warnings,
        "facts": _facts(page), "sure_from": SURE, "known": known, "clusters": every, "most": MAX_CLUSTERS,
        "table": not items.have_pictures, "weighted": data.weights is not None,
        "name": items.name, "picture": cache(items.picture), "cell": items.cell,
        "probability": result.final.probability, "annotated": annotated,
        "number": [*number_of_clusters(result, page.settings, page.given), *_mixed(page)],
        "decided": decided(result, answers, page.settings, page.metrics), "candidates": candidates(result),
        "annotators": people, "bar": _bar, "width": _WIDTH, "answers": answers,
        "drop": [one for one in people if one.drop],
        "doubtful": [one for one in people if one.remark == PERHAPS],
        "informative": result.verdict is None or result.verdict.informative,
        "questions": asked, "shared": shared, "need": page.need, "open": _OPEN,
        "reasons": [[reason for reason in one.why if reason not in shared] for one in asked],
        "more_answers": _more_answers(page),
        "names": page.names, "file": page.questions, "number_of_pairs": len(page.pairs) if page.questions else 0,
        "uncertain": float((result.final.probability < SURE).mean()) if known else None,
    }  # fmt: skip


def _shared_reasons(asked: Sequence[advice.Question]) -> list[str]:
    """Reasons that all of several questions have, which are said once."""
    if len(asked) < 2:
        return []
    return [reason for reason in asked[0].why if all(reason in one.why for one in asked[1:])]


def _mixed(page: Page) -> Iterator[str]:
    if page.answers is None:
        return
    for one in mixed_clusters(page.result.found.final.cluster, page.answers):
        name = f" ({page.names[one.number]})" if one.number in page.names else ""
        yield (f"Cluster {one.number}{name} may hold items of two classes: {100 * one.different:.0f} % of the "
               f"{one.answers:,} answers about two of its items are “different”, but {100 * one.elsewhere:.0f} % of "
               "those about two items of another cluster. Look at its items; answers about random pairs of them would "
               "show.")


def _more_answers(page: Page) -> str:
    """Value of annotations.path for a run with further answers; empty for a fit in Python."""
    if not page.settings.get("data"):
        return ""
    paths = dict(page.settings.get("annotations", {})).get("path") or ()
    return as_list([*([paths] if isinstance(paths, str) else map(str, paths)), "COPY.csv"])


def _facts(page: Page) -> list[tuple[str, str]]:
    data, answers = page.data, page.answers
    source = dict(page.settings.get("data", {}))
    facts = [("data", str(source.get("path") or data.name)), ("items", f"{data.num_items:,}"),
             ("features", f"{data.num_features:,}"), ("method", str(page.settings["model"]["name"]))]  # fmt: skip
    if answers is None:
        facts.append(("answers", "none"))
    else:
        simulated = " (simulated)" if answers.simulated else ""
        facts.append(("answers", f"{answers.num_pairs:,} of {answers.num_annotators:,} annotators{simulated}"))
    facts.append(("seed", str(page.settings["seed"])))
    if "final/acc" in page.metrics:
        accuracy, nmi = (page.metrics[f"final/{name}"] for name in ("acc", "nmi"))
        facts.append(("against the labels", f"accuracy {accuracy:.3f}, NMI {nmi:.3f}"))
    return facts


def _bar(rate: float) -> str:
    """Horizontal position of a rate from 0 to 1 in the figure."""
    return f"{_WIDTH * min(max(rate, 0.0), 1.0):.1f}"
