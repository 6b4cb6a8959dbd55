"""``report.html``: the page of a run, or of an estimator that was fitted in Python."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError, listed, naming_extras
from semicrowd.estimators.base import CrowdClusterer, digest_of_rows
from semicrowd.estimators.inputs import checked_answers, names_of_rows
from semicrowd.evaluation.scores import Evaluation, score
from semicrowd.evaluation.trust import reliability_warnings
from semicrowd.files import write_text
from semicrowd.metrics import USED_SHARE, cluster_counts
from semicrowd.page.clusters import MAX_CLUSTERS, SURE, Distances, clusters
from semicrowd.page.items import Items
from semicrowd.page.questions import NUMBER, pairs_to_ask, write_questions
from semicrowd.result import RESTART_SCORES

FILE = "report.html"
#: Numbers of clusters of a smaller probability are not mentioned.
_LIKELY = 0.05
#: File name → caption, of the figures that are embedded; other figures are only in the run's folder.
_CAPTIONS = {
    "clusters": "The items, coloured by cluster",
    "latent": "The items in the plane that sets the clusters apart most, coloured by cluster",
    "likeliest": "The images that each cluster is surest of",
    "samples": "What each cluster generates",
    "curves": "The course of the fit",
    "restarts": "Restarts compared",
}


@dataclass(frozen=True)
class Page:
    """The content of the page, and its questions.

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

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of items to ask about, the most useful first."""
        found = self.result.found
        return pairs_to_ask(found.final, found.features, self._distance, self.answers, self.number)

    def write(self, path: Path, questions: Path | None = None, figures: Path | None = None) -> None:
        """Write the page, in which all text from data and files is escaped, and before it the questions.

        Parameters
        ----------
        questions : csv file of the pairs to ask about, which the page then mentions
        figures : folder with figures, of which the page shows some
        """
        if questions is not None:
            write_questions(questions, self.pairs, self._items)
        templates = jinja2.Environment(loader=jinja2.PackageLoader("semicrowd.page"), autoescape=True, trim_blocks=True,
                                       lstrip_blocks=True, undefined=jinja2.StrictUndefined)  # fmt: skip
        templates.filters["percent"] = lambda share: f"{100 * share:.1f} %"
        found, annotated = self.result.found, np.zeros(self.data.num_items, bool)
        if self.answers is not None:
            annotated[self.answers.annotated] = True
        annotators, candidates = [], []
        if (workers := self.result.workers) is not None:  # an interval that is not known is the estimate
            ends = {f"{rate}_{end}": workers[f"{rate}_{end}"].fillna(workers[rate])
                    for rate in ("sensitivity", "specificity") for end in ("low", "high")}  # fmt: skip
            annotators = workers.assign(**ends).sort_values("weight", ascending=False, kind="stable").to_dict("records")
        if found.verdict is not None:
            candidates = found.verdict.table.to_dict("records")
        images = {} if figures is None else {caption: figures / f"{name}.png" for name, caption in _CAPTIONS.items()}
        shown = {caption: base64.b64encode(image.read_bytes()).decode()
                 for caption, image in images.items() if image.is_file()}  # fmt: skip
        text = templates.get_template("page.html").render(
            page=self, items=self._items, picture=cache(self._items.picture), final=found.final, annotated=annotated,
            clusters=clusters(self._items, found.final, self._distance, annotated), most=MAX_CLUSTERS, sure_from=SURE,
            known=bool(np.isfinite(found.final.probability).all()), number=list(self._number()),
            decided=list(self._decided()), winner=found.verdict and found.verdict.winner,
            candidates=candidates, annotators=annotators, figures=shown, questions=questions and questions.name,
        )  # fmt: skip
        write_text(path, text)

    @cached_property
    def _items(self) -> Items:
        return Items(self.data, self.source)

    @cached_property
    def _distance(self) -> Distances:
        found = self.result.found
        return Distances(self.data.features if found.latent_mean is None else found.latent_mean, found.final.cluster)

    def _decided(self) -> Iterator[str]:
        """Lines about how the clusters were determined."""
        result, answers = self.result.found, self.answers
        if (verdict := result.verdict) is not None:
            yield (f"Start: “{verdict.winner}”, the one of {len(verdict.table)} finalists with the highest evidence, "
                   f"{verdict.evidence:.0f} nats above that of no clusters"
                   f"{'' if verdict.informative else ': too little, so the features alone decided'}.")  # fmt: skip
        if answers is None:
            yield "Features alone decided: there were no answers."
            return
        items = answers.annotated
        moved = float((result.final.cluster != result.features.cluster)[items].mean())
        yield (f"{len(items)} of {answers.num_items} items have answers; {100 * moved:.1f} % of these are in another "
               "cluster than their features alone would say.")
        if "answers/held_out_gain" in self.metrics:
            gain, error = (self.metrics[f"answers/held_out_gain{end}"] for end in ("", "_error"))
            support = "do not support" if gain <= error else "hardly support" if gain < 2 * error else "support"
            yield (f"The clusters change the probability of an answer held out from a second fit by the factor "
                   f"{np.exp(gain):.2f} on average ({gain:+.3f} nats, standard error {error:.3f}): the answers "
                   f"{support} these clusters.")  # fmt: skip

    def _number(self) -> Iterator[str]:
        """Lines about the number of clusters."""
        result = self.result.found
        counts = cluster_counts(result.final.cluster, int(result.final.cluster.max()) + 1)
        occupied, used = int(counts["occupied"]), int(counts["used"])
        few = f"; {occupied - used} of them have less than {100 * USED_SHARE:g} % of the items"
        yield f"{occupied} cluster{'s' * (occupied != 1)} with at least one item{few * (used != occupied)}."
        if "init" in self.params and occupied >= self.params["n_clusters"]:  # a model whose n_clusters is a maximum
            yield f"All of n_clusters={occupied} are used: try a larger number, unless you know it."
        if result.samples is not None:
            number = result.samples.partitions[result.samples.kept].max(axis=1) + 1
            low, high = np.quantile(number, (0.05, 0.95), method="nearest")
            mode = int(np.bincount(number).argmax())
            yield (f"Posterior over {len(number)} sampled partitions: {low} to {high} clusters with 90 % probability, "
                   f"most often {mode} ({100 * float((number == mode).mean()):.0f} % of them).")
        if result.posterior is not None and len(result.posterior) > 1:
            likely = result.posterior[result.posterior["probability"] >= _LIKELY]
            numbers = [f"{row.clusters} clusters {row.probability:.2f}" for row in likely.itertuples()]
            numbers += [f"others below {_LIKELY:g}"] * (len(likely) < len(result.posterior))
            yield f"Probability of each number: {', '.join(numbers)}."
        if result.restarts is not None and len(result.restarts.score) > 1:
            each = [int(cluster_counts(one, result.num_clusters)["used"]) for one in result.restarts.clusters]
            ends = " to ".join(map(str, sorted({min(each), max(each)})))
            yield (f"{len(each)} restarts ended with {ends} clusters in use; the one with the highest "
                   f"{RESTART_SCORES[result.restarts.column]} is kept.")
        elif result.samples is None and result.posterior is None:
            yield "Nothing here says how sure this number is: compare other seeds, and other values of n_clusters."


@naming_extras()
def write_report(
    estimator: CrowdClusterer, X: Any, pairs: Any = None, path: Path | str = FILE, *, labels: Any = None,
    questions: Path | str | None = None,
) -> Path:  # fmt: skip
    """Write the page of a fitted estimator: clusters, annotators, and what would help most. Returns its path.

    It is the ``report.html`` of a run on the command line, without the run's figures. Clusters have the numbers that
    they have in ``estimator.labels_``.

    Parameters
    ----------
    estimator : any method of this package, after ``fit``
    X, pairs : the items and answers of the fit, in any form that ``fit`` takes; an estimator does not keep them
    path : file to write, replaced if it exists
    labels : [N] true classes, for the scores on the page; None: no scores
    questions : path or None
        csv file to write, with the pairs to ask about next, to be filled in and given to ``fit`` with the other answers

    Raises
    ------
    UserError
        If items, answers or labels are not those of the fit, or a file cannot be written.
    """
    features, number = estimator._new_items(X), len(estimator.labels_)
    for name, given in (("X", features), ("labels", labels)):
        if given is not None and len(given) != number:
            raise UserError(f"{name}: {len(given)} items; expected the {number} of the fit")
    if estimator._digest != digest_of_rows(features):
        raise UserError("X: not the items of the fit, or in another order; expected the same rows in the same order")
    names = names_of_rows(X, estimator.columns_)
    answers = checked_answers(pairs, number, names)
    if answers is not None and not estimator._had_answers:  # the page would say what they did to the clusters
        raise UserError("pairs: answers, but the model was fitted without any; expected pairs=None, or a model that "
                        "was fitted with these answers: fit(X, pairs=…)")  # fmt: skip
    if estimator.workers_ is not None:
        fitted = list(estimator.workers_["annotator"].astype(str))
        there = [] if answers is None else list(answers.worker_names)
        if fitted != there:
            raise UserError(f"pairs: answers of {len(there)} annotators; expected the answers of the fit, which are of "
                            f"{len(fitted)}: {listed(fitted, 3)}")  # fmt: skip
    classes = None if labels is None else np.unique(labels, return_inverse=True)[1]
    data = Dataset(type(X).__name__, features, classes, ids=names, columns=estimator.columns_,
                   image_shape=getattr(estimator, "image_shape", None))  # fmt: skip
    result, name = score(estimator.result_, data, answers), type(estimator).__name__
    warnings = reliability_warnings(result.found, answers, gaps=data.gaps)
    page = Page(name, data, answers, result, result.scores, warnings, name, estimator.params_, estimator.seed_)
    page.write(Path(path), None if questions is None else Path(questions))
    return Path(path)
