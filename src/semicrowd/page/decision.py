"""How the clusters and their number were determined: a line for each source of information that a method has."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.evaluation.held_out import Gain
from semicrowd.fitting.result import RESTART_SCORES, Result
from semicrowd.metrics import USED_SHARE, cluster_counts
from semicrowd.settings.fields import dotted
from semicrowd.settings.methods import METHODS, NAMES
from semicrowd.starts.selection import FEATURES_ALONE, Verdict


def candidates(result: Result) -> list[dict[str, Any]]:
    """All candidates as in the verdict's table, the best first; empty for a method that does not select among some."""
    if result.verdict is None:
        return []
    table = result.verdict.table.sort_values("score", ascending=False, kind="stable")
    return table.assign(winner=table["candidate"] == result.verdict.winner).to_dict("records")


def decided(
    result: Result,
    answers: PairAnnotations | None,
    settings: Mapping[str, Any],
    metrics: Mapping[str, float],
) -> Iterator[str]:
    """Lines about how the clusters were determined.

    Parameters
    ----------
    settings : settings of the run, nested
    metrics : content of metrics.json
    """
    if result.verdict is not None:
        yield _selected(result.verdict)
    elif (kind := dotted(settings).get("start.kind")) is not None:
        yield f"Start: start.kind={kind}; it was the only one that was tried."
    if answers is None:
        yield "Features alone decided: there were no answers."
        return
    items = answers.annotated
    moved = float((result.final.cluster != result.features.cluster)[items].mean())
    there = f"{len(items)} of {answers.num_items} items have answers"
    if moved:
        yield (f"{there}; {100 * moved:.1f} % of these are in another cluster than their features alone would say. "
               "Items without answers are placed by their features.")
    else:
        yield (f"{there}. Each of them is in the cluster that its features predict: the answers may have decided which "
               "clusters there are, but moved no single item.")
    if result.verdict is not None and Gain.of(result.verdict, answers) is None:
        yield ("All answers are about one pair of items, so none could be held out and predicted from the others: it "
               "is not known whether they support these clusters.")
    for key, how in (("held_out", "held out from a second fit"), ("cross_validated", "that was held out")):
        gain, error = (metrics.get(f"answers/{key}_gain{end}") for end in ("", "_error"))
        if gain is None or error is None:
            continue
        if gain == error == 0:
            yield (f"An answer {how} is exactly as probable with clusters as without any: the answers do not support "
                   "these clusters.")  # fmt: skip
            continue
        support = "do not support" if gain <= error else "hardly support" if gain < 2 * error else "support"
        yield (f"The clusters change the probability of an answer {how} by the factor {np.exp(gain):.2f} on average "
               f"({gain:+.3f} nats, standard error {error:.3f}): the answers {support} these clusters.")


def _selected(verdict: Verdict) -> str:
    """Which candidate was selected, and by which rule."""
    rows = verdict.table.set_index("candidate")
    own, among = rows.loc[verdict.winner], f"“{verdict.winner}” was selected among {len(rows)} candidates"
    again = bool(rows["unseen"].notna().any())
    last_resort = verdict.winner == FEATURES_ALONE and (again or not verdict.informative)
    if own["behind"] <= own["standard_error"] and not last_resort:
        confirmed = (" Fitted again without the answers that it has to predict, it was still better than the features "
                     "alone.") if again else ""  # fmt: skip
        return (f"Start: {among}. Of those that predict held-out answers about equally well (within one standard error "
                f"of the best), the one with the fewest clusters is selected.{confirmed}")
    failed = "fitted again without the answers that it has to predict, the best one was no longer better"
    if verdict.winner != FEATURES_ALONE:
        return f"Start: {among}. Others come first in the table, but {failed} than the features alone; this one was."
    why = f"{failed}, or not clearly" if verdict.informative else "the answers are not known to carry information"
    return f"Start: the clusters of the features alone were kept, the last resort among {len(rows)} candidates: {why}."


def number_of_clusters(result: Result, settings: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    """Lines about the number of clusters.

    Parameters
    ----------
    settings : settings of the run, nested
    given : settings that the user has given, by dotted names
    """
    counts = cluster_counts(result.final.cluster, int(result.final.cluster.max()) + 1)
    occupied, used = int(counts["occupied"]), int(counts["used"])
    few = f"; {occupied - used} of them have less than {100 * USED_SHARE:g} % of the items"
    small = "" if used == occupied else few
    yield f"{_count(occupied)} with at least one item{small}."
    most, name = dotted(settings).get("model.K"), str(settings.get("model", {}).get("name"))
    method = METHODS.get(NAMES.get(name, name))  # by its name, or that of its class; None: a user's own class
    if most is not None and not (method and method.expects_number):
        origin = "you gave" if "model.K" in given else "the rule or the default set"
        yield (
            f"{origin.capitalize()} model.K={most}: this method can find at most {most} clusters, "
            + ("and uses all of them: try a larger one, unless you know the number." if occupied >= most
               else f"and leaves {most - occupied} without an item.")
        )  # fmt: skip
    if result.samples is not None:
        number = result.samples.partitions[result.samples.kept].max(axis=1) + 1
        low, high = np.quantile(number, (0.05, 0.95), method="nearest")
        mode = int(np.bincount(number).argmax())
        yield (f"Posterior over {len(number)} sampled partitions: {low} to {high} clusters with 90 % probability, most "
               f"often {mode} ({100 * float((number == mode).mean()):.0f} % of them).")
    if result.verdict is not None:
        rows = result.verdict.table
        near = sorted({int(n) for n in rows.loc[rows["behind"] <= rows["standard_error"], "clusters"]})
        every = sorted({int(n) for n in rows["clusters"]})
        own = rows.loc[rows["candidate"] == result.verdict.winner].iloc[0]
        if rows["score"].nunique() == 1 < len(rows):
            yield (f"All {len(rows)} candidates, with {_range(every)} clusters, predict the answers equally well: the "
                   "answers say nothing about the number of clusters.")
            return
        kept = "" if own["behind"] <= own["standard_error"] else f"; the one that was kept has {own['clusters']}"
        yield (f"{len(rows)} candidates with {_range(every)} clusters were compared by how well they predict held-out "
               f"answers; those within one standard error of the best have {_range(near)}{kept}.")
    if result.restarts is not None and len(result.restarts.score) > 1:
        each = [int(cluster_counts(one, result.num_clusters)["used"]) for one in result.restarts.clusters]
        yield (f"{len(each)} restarts ended with {_range(sorted(set(each)))} clusters in use; the one with the highest "
               f"{RESTART_SCORES[result.restarts.column]} is kept.")
    elif result.samples is None and result.verdict is None:
        others = "other seeds" if most is None else "other seeds, and other values of model.K"
        yield f"Nothing here says how sure this number is: compare runs with {others}."
        if most is None:
            yield "It follows from the features alone, and often is not the number of the classes that people see."


def _count(number: int) -> str:
    return f"{number} cluster" + ("" if number == 1 else "s")


def _range(numbers: list[int]) -> str:
    """``3``, ``3 or 4``, ``3 to 7``."""
    if len(numbers) == 1:
        return str(numbers[0])
    return f"{numbers[0]} {'or' if len(numbers) == 2 else 'to'} {numbers[-1]}"
