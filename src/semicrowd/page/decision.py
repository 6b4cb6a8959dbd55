"""How the clusters were determined: the selected start, and the influence of features and of answers."""

from collections.abc import Iterator, Mapping
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.result import Result
from semicrowd.settings.fields import dotted


def candidates(result: Result) -> list[dict[str, Any]]:
    """All candidates as in the verdict's table, the best first; empty for a method that does not select among some."""
    if result.verdict is None:
        return []
    table = result.verdict.table.sort_values("score", ascending=False, kind="stable")
    return table.assign(winner=table["candidate"] == result.verdict.winner).to_dict("records")


def decided(
    result: Result, answers: PairAnnotations | None, settings: Mapping[str, Any], metrics: Mapping[str, float]
) -> Iterator[str]:
    """Lines about how the clusters were determined.

    Parameters
    ----------
    settings : settings of the run, nested
    metrics : content of metrics.json
    """
    if result.verdict is not None:
        yield f"Start: “{result.verdict.winner}” won among {len(result.verdict.table)} candidates."
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
        yield (f"{there}. No item's cluster by its features alone differs from the final one: answers shaped the "
               "clusters as a whole, if at all, not single items.")
    for key, how in (("held_out", "held out from a second fit"), ("cross_validated", "that each fold had not seen")):
        gain, error = (metrics.get(f"answers/{key}_gain{end}") for end in ("", "_error"))
        if gain is None or error is None:
            continue
        verdict = "the answers support these clusters" if gain > error else "the answers do not support these clusters"
        yield (f"An answer {how} is {gain:+.3f} nats likelier with the clusters than without (standard error "
               f"{error:.3f}): {verdict}.")
