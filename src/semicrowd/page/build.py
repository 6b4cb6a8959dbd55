"""Make ``report.html``."""

import base64
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd
from jaxtyping import Int

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.evaluation.scores import Evaluation
from semicrowd.files import expanded
from semicrowd.metrics import USED_SHARE, cluster_counts
from semicrowd.page.clusters import MAX_CLUSTERS, SURE, Distances, clusters
from semicrowd.page.items import Items
from semicrowd.page.questions import NUMBER, pairs_to_ask
from semicrowd.result import RESTART_SCORES, Result
from semicrowd.starts.selection import FEATURES_ALONE

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
#: Pairs to ask about that the page shows.
_PAIRS = 10
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
    method : name of the method
    params : its parameters, with the values that the fit has used (``params_``)
    seed : random seed of the fit
    source : file or folder of the items; empty for data that have only a name
    number : how many pairs to ask about
    command, started : command line and time of the start of the run
    questions : file beside the page that has :attr:`pairs`, which the page then mentions; empty without one
    """

    title: str
    data: Dataset
    answers: PairAnnotations | None
    result: Evaluation
    metrics: Mapping[str, float]
    warnings: Sequence[str]
    method: str
    params: Mapping[str, Any]
    seed: int
    source: str = ""
    number: int = NUMBER
    command: str = ""
    started: str = ""
    questions: str = ""

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
    def items(self) -> Items:
        """How the items are shown."""
        return Items(self.data, expanded(self.source) if self.source else None)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of items to ask about, the most useful first."""
        found = self.result.found
        return pairs_to_ask(found.final, found.features, self.distance, self.answers_of, self.answers, self.number)


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
    result, items = page.result.found, page.items
    annotated = page.answers_of > 0
    every = list(clusters(items, result.final, page.distance, annotated))
    known = every[0].sure is not None
    return {
        "title": page.title, "command": page.command, "started": page.started, "warnings": page.warnings,
        "facts": _facts(page), "sure_from": SURE, "known": known, "clusters": every, "most": MAX_CLUSTERS,
        "table": not items.have_pictures,
        "name": items.name, "picture": cache(items.picture), "cell": items.cell,
        "probability": result.final.probability, "annotated": annotated,
        "number": list(number_of_clusters(result, page.params)),
        "decided": decided(result, page.answers, page.params, page.metrics), "candidates": candidates(result),
        "annotators": _annotators(page.result.workers), "bar": _bar, "width": _WIDTH, "answers": page.answers,
        "open": _OPEN,
        "pairs": page.pairs[:_PAIRS], "number_of_pairs": len(page.pairs), "file": page.questions,
        "uncertain": float((result.final.probability < SURE).mean()) if known else None,
    }  # fmt: skip


def _facts(page: Page) -> list[tuple[str, str]]:
    data, answers = page.data, page.answers
    facts = [("data", page.source or data.name), ("items", f"{data.num_items:,}"),
             ("features", f"{data.num_features:,}"), ("method", page.method)]  # fmt: skip
    if answers is None:
        facts.append(("answers", "none"))
    else:
        simulated = " (simulated)" if answers.simulated else ""
        facts.append(("answers", f"{answers.num_pairs:,} of {answers.num_annotators:,} annotators{simulated}"))
    facts.append(("seed", str(page.seed)))
    if "final/acc" in page.metrics:
        accuracy, nmi = (page.metrics[f"final/{name}"] for name in ("acc", "nmi"))
        facts.append(("against the labels", f"accuracy {accuracy:.3f}, NMI {nmi:.3f}"))
    return facts


def _annotators(table: pd.DataFrame | None) -> list[dict[Hashable, Any]]:
    """Rows of workers.csv, the most reliable annotator first; an interval that is not known is the estimate."""
    if table is None:
        return []
    ends = {f"{name}_{end}": table[f"{name}_{end}"].fillna(table[name])
            for name in ("sensitivity", "specificity") for end in ("low", "high")}  # fmt: skip
    return table.assign(**ends).sort_values("weight", ascending=False, kind="stable").to_dict("records")


def _bar(rate: float) -> str:
    return f"{_WIDTH * min(max(rate, 0.0), 1.0):.1f}"


def candidates(result: Result) -> list[dict[str, Any]]:
    """All candidates as in the verdict's table, the best first; empty for a method that does not select among some."""
    if result.verdict is None:
        return []
    table = result.verdict.table.sort_values("score", ascending=False, kind="stable")
    return table.assign(winner=table["candidate"] == result.verdict.winner).to_dict("records")


def decided(
    result: Result, answers: PairAnnotations | None, params: Mapping[str, Any], metrics: Mapping[str, float]
) -> Iterator[str]:
    """Lines about how the clusters were determined."""
    if (verdict := result.verdict) is not None:
        kept = "the last resort" if verdict.winner == FEATURES_ALONE and not verdict.informative else (
            "which predicts held-out answers about as well as the best, with the fewest clusters")  # fmt: skip
        yield f"Start: “{verdict.winner}”, selected among {len(verdict.table)} candidates, {kept}."
    elif (init := params.get("init")) is not None:
        yield f"Start: init={init}; it was the only one that was tried."
    if answers is None:
        yield "Features alone decided: there were no answers."
        return
    items = answers.annotated
    moved = float((result.final.cluster != result.features.cluster)[items].mean())
    yield (f"{len(items)} of {answers.num_items} items have answers; {100 * moved:.1f} % of these are in another "
           "cluster than their features alone would say.")
    for key, how in (("held_out", "held out from a second fit"), ("cross_validated", "that was held out")):
        gain, error = (metrics.get(f"answers/{key}_gain{end}") for end in ("", "_error"))
        if gain is None or error is None:
            continue
        support = "do not support" if gain <= error else "hardly support" if gain < 2 * error else "support"
        yield (f"The clusters change the probability of an answer {how} by the factor {np.exp(gain):.2f} on average "
               f"({gain:+.3f} nats, standard error {error:.3f}): the answers {support} these clusters.")


def number_of_clusters(result: Result, params: Mapping[str, Any]) -> Iterator[str]:
    """Lines about the number of clusters."""
    counts = cluster_counts(result.final.cluster, int(result.final.cluster.max()) + 1)
    occupied, used = int(counts["occupied"]), int(counts["used"])
    few = f"; {occupied - used} of them have less than {100 * USED_SHARE:g} % of the items"
    yield f"{occupied} cluster{'s' * (occupied != 1)} with at least one item{few * (used != occupied)}."
    most = params.get("n_clusters")
    if most is not None and occupied >= most and "init" in params:  # a model whose n_clusters is a maximum
        yield f"All of n_clusters={most} are used: try a larger number, unless you know it."
    if result.samples is not None:
        number = result.samples.partitions[result.samples.kept].max(axis=1) + 1
        low, high = np.quantile(number, (0.05, 0.95), method="nearest")
        mode = int(np.bincount(number).argmax())
        yield (f"Posterior over {len(number)} sampled partitions: {low} to {high} clusters with 90 % probability, most "
               f"often {mode} ({100 * float((number == mode).mean()):.0f} % of them).")
    if result.verdict is not None:
        rows = result.verdict.table
        near = rows.loc[rows["behind"] <= rows["standard_error"], "clusters"]
        yield (f"{len(rows)} candidates with {_range(rows['clusters'])} clusters were compared by how well they "
               f"predict held-out answers; those within one standard error of the best have {_range(near)}.")
    if result.restarts is not None and len(result.restarts.score) > 1:
        each = [int(cluster_counts(one, result.num_clusters)["used"]) for one in result.restarts.clusters]
        yield (f"{len(each)} restarts ended with {_range(each)} clusters in use; the one with the highest "
               f"{RESTART_SCORES[result.restarts.column]} is kept.")
    elif result.samples is None and result.verdict is None:
        yield "Nothing here says how sure this number is: compare other seeds, and other values of n_clusters."


def _range(numbers: Iterable[int]) -> str:
    every = sorted({int(number) for number in numbers})
    return str(every[0]) if len(every) == 1 else f"{every[0]} to {every[-1]}"
