"""``report.html`` of an estimator that was fitted in Python."""

from pathlib import Path
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data import Dataset
from semicrowd.errors import UserError, naming_extras
from semicrowd.estimators.base import CrowdClusterer, digest_of_rows
from semicrowd.estimators.inputs import checked_answers, ids_of_rows, names_of_rows
from semicrowd.evaluation.scores import score
from semicrowd.evaluation.trust import reliability_warnings
from semicrowd.files import write_text
from semicrowd.page.build import FILE, Page, render
from semicrowd.page.questions import write_questions


@naming_extras()
def write_report(
    estimator: CrowdClusterer,
    X: Any,
    pairs: Any = None,
    path: Path | str = FILE,
    *,
    labels: Any = None,
    questions: Path | str | None = None,
) -> Path:
    """Write the page of a fitted estimator: clusters, annotators, and what would help most.

    It is the ``report.html`` of a run on the command line, without the run's figures. Clusters have the numbers that
    they have in ``estimator.labels_``.

    Parameters
    ----------
    estimator : any method of this package, after ``fit``
    X, pairs : the items and answers of the fit, in any form that ``fit`` takes; an estimator does not keep them
    path : file to write, replaced if it exists
    labels : [N] true classes, for the scores on the page; None: no scores
    questions : csv file to write, with the pairs of items whose answers are expected to help most, to be filled in and
        given to ``fit`` beside the other answers

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UserError
        If items, answers or labels are not those of the fit, or a file cannot be written.
    """
    features = estimator._new_items(X)
    _check_number("X", len(features), estimator)
    if getattr(estimator, "_digest", None) not in (None, digest_of_rows(features)):
        raise UserError("X: not the items of the fit, or in another order; expected the same rows in the same order")
    ids, index = ids_of_rows(estimator, X), names_of_rows(X)
    answers = checked_answers(pairs, len(features), ids, index=index)
    _check_answers(estimator, answers)
    if labels is not None:
        _check_number("labels", len(labels), estimator)
        labels = np.unique(labels, return_inverse=True)[1]
    data = Dataset(
        type(X).__name__, features, labels, ids=ids or index, columns=getattr(estimator, "columns_", None),
        image_shape=getattr(estimator, "image_shape", None),
    )  # fmt: skip
    result = score(estimator.result_, data, answers)
    page = Page(type(estimator).__name__, data, answers, result, result.scores,
                reliability_warnings(result.found, answers, gaps=data.gaps), type(estimator).__name__,
                estimator.params_, estimator.seed_,
                questions="" if questions is None else Path(questions).name)  # fmt: skip
    if questions is not None:
        write_questions(Path(questions), page.pairs, page.items)
    write_text(Path(path), render(page))
    return Path(path)


def _check_number(name: str, number: int, estimator: CrowdClusterer) -> None:
    if number != len(estimator.labels_):
        raise UserError(f"{name}: {number} items; expected the {len(estimator.labels_)} of the fit")


def _check_answers(estimator: CrowdClusterer, answers: PairAnnotations | None) -> None:
    # The page would say of the answers what they did to the clusters; a model of an earlier version does not know.
    if answers is not None and not getattr(estimator, "_had_answers", True):
        raise UserError("pairs: answers, but the model was fitted without any; expected pairs=None, or a model that "
                        "was fitted with these answers: fit(X, pairs=…)")
    if estimator.workers_ is None:
        return
    fitted = list(estimator.workers_["annotator"].astype(str))
    there = [] if answers is None else list(answers.worker_names)
    if fitted != there:
        raise UserError(f"pairs: answers of {len(there)} annotators; expected the answers of the fit, which are of "
                        f"{len(fitted)}: {', '.join(fitted[:3])}{', …' if len(fitted) > 3 else ''}")  # fmt: skip
