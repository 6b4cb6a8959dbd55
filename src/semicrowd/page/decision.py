"""What decided the clusters: which start won, and how far features and answers did."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.fitting.result import Result
from semicrowd.settings.fields import dotted


@dataclass(frozen=True)
class Candidate:
    """A result that was tried; ``score`` in nats an unseen answer, ``behind`` the best and its standard error."""

    name: str
    clusters: int
    score: float
    behind: float
    standard_error: float
    winner: bool


def decided(
    found: Result, answers: PairAnnotations | None, settings: Mapping[str, Any], metrics: Mapping[str, float]
) -> list[str]:
    """Lines about what decided.

    Parameters
    ----------
    settings : of the run, nested
    metrics : content of metrics.json
    """
    return list(_lines(found, answers, settings, metrics))


def candidates(found: Result) -> list[Candidate]:
    """What was tried, the best first; nothing of a method that does not choose so."""
    if found.verdict is None:
        return []
    rows = found.verdict.table.sort_values("score", ascending=False, kind="stable").to_dict("records")
    return [
        Candidate(str(row["candidate"]), int(row["clusters"]), float(row["score"]), float(row["behind"]),
                  float(row["standard_error"]), row["candidate"] == found.verdict.winner)
        for row in rows
    ]  # fmt: skip


def _lines(
    found: Result, answers: PairAnnotations | None, settings: Mapping[str, Any], metrics: Mapping[str, float]
) -> Iterator[str]:
    if found.verdict is not None:
        yield f"Start: “{found.verdict.winner}” won among {len(found.verdict.table)} candidates."
    elif (kind := dotted(settings).get("start.kind")) is not None:
        yield f"Start: start.kind={kind}; it was the only one that was tried."
    if answers is None:
        yield "Features alone decided: there were no answers."
        return
    items = answers.annotated
    moved = float((found.final.cluster != found.features.cluster)[items].mean())
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
