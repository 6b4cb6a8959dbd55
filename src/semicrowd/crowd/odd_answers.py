"""Checks of answers before a fit: each problem is one line with advice.

Axes: P answers, M annotators, n annotated items.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.history import assumed_right
from semicrowd.crowd.index import components
from semicrowd.errors import listed

#: An annotator is only tested with at least this number of answers.
_ENOUGH = 20
#: The rates of an annotator with fewer answers are very uncertain.
_FEW = 10
#: Level of the one-sided tests, before it is divided by the number of annotators (Bonferroni).
_LEVEL = 0.01
#: Contradictory answers are reported up to this share of the answers; more are usual for noisy annotators.
_SLIPS = 0.05
#: A line reports that there may be too few answers if there are fewer in total.
#: This is advice before the fit: of 30 answers about two equally frequent classes, 20 have to be right for a test at
#: 5 % to distinguish them from guesses. MIN_ANSWERS = 10 in starts/selection.py is a rule: with fewer, the answers are
#: never used; from 10 on the fit measures whether they are informative.
_EVIDENCE = 30


def people(answers: PairAnnotations) -> pd.DataFrame:
    """A row for each annotator, in decreasing order of the number of answers.

    ``compared`` is the number of answers about pairs for which the other annotators have a majority, and ``agree`` the
    share of these answers that equal the majority, NaN if there are none. ``chance`` is the expected share if the same
    numbers of "same" and "different" answers were given at random.
    """
    frame = _compared(answers)
    count = answers.index.counts
    grouped = frame.groupby("worker")
    compared = grouped.size().reindex(range(answers.num_annotators), fill_value=0)
    own, other = (grouped[name].mean().reindex(compared.index) for name in ("label", "others"))
    table = pd.DataFrame({
        "worker": answers.worker_names, "answers": count.sum(1), "same": count[:, 1], "different": count[:, 0],
        "agree": grouped["agree"].mean().reindex(compared.index), "chance": own * other + (1 - own) * (1 - other),
        "compared": compared,
    })  # fmt: skip
    return table.sort_values("answers", ascending=False, kind="stable").reset_index(drop=True)


def odd_answers(answers: PairAnnotations) -> list[str]:
    """Lines about contradictory answers and uninformative annotators; empty if there are no problems."""
    table = people(answers)
    suspects = _suspects(answers, table)
    return [
        *_few(answers), *_contradictions(answers, list(suspects)), *_one_way(answers, table), *suspects.values(),
        *_apart(answers),
    ]  # fmt: skip


def _few(answers: PairAnnotations) -> Iterator[str]:
    if answers.num_pairs < _EVIDENCE:
        yield (f"{answers.num_pairs} answers in total: fewer than {_EVIDENCE} can seldom be distinguished from chance; "
               "collect more")
    number = answers.index.counts.sum(1)
    assumed = _assumed(answers)
    few = [name for name, count in zip(answers.worker_names, number, strict=True)
           if count < _FEW and name not in assumed]
    if few and len(few) < answers.num_annotators:
        yield (f"{len(few)} of {answers.num_annotators} people have fewer than {_FEW} answers ({listed(few)}): their "
               "rates will be very uncertain; collect more of them, or continue: these answers have little weight")


def _assumed(answers: PairAnnotations) -> set[str]:
    """Names of whom no wrong answer is expected: of known links, whose rates are given."""
    if answers.history is None:
        return set()
    return {name for name, one in zip(answers.worker_names, assumed_right(answers.history), strict=True) if one}


def _contradictions(answers: PairAnnotations, suspects: list[str]) -> Iterator[str]:
    """Contradictory answers: both answers about the same pair, or a = b, b = c, a ≠ c of one annotator.

    Pairs are counted without the answers of the suspects, whom another line names, unless these are half of all people.
    """
    same = answers.label == 1
    node = answers.worker * answers.num_items  # a node is a combination of annotator and item
    nodes, position = np.unique(np.concatenate([node + answers.i, node + answers.j]), return_inverse=True)
    i, j = position.reshape(2, -1)
    part = components(i[same], j[same], len(nodes))
    wrong = np.flatnonzero(~same & (part[i] == part[j]))
    if 0 < len(wrong) <= _SLIPS * answers.num_pairs or (len(wrong) and answers.num_annotators == 1):
        who = [answers.worker_names[m] for m in np.unique(answers.worker[wrong])]
        yield (f"{len(wrong)} answers 'different' about items that the same person has connected by answers 'same' "
               f"({listed(who)}): some of these must be wrong; errors are expected, but correct those that you know")
    left_out = suspects if 2 * len(suspects) < answers.num_annotators else []
    frame = pd.DataFrame({"pair": answers.pair, "label": answers.label})[~_by(answers, left_out)]
    pairs = frame.groupby("pair")["label"].agg(["size", "mean"])
    several = pairs[pairs["size"] > 1]
    split = ((several["mean"] > 0) & (several["mean"] < 1)).sum()
    if 2 * split > len(several) > 0:
        without = f" (without {listed(left_out)})" if left_out else ""
        yield (f"{split} of the {len(several)} pairs with several answers{without} have both answers: people disagree; "
               "define in the question what 'the same' means, or expect little information from the answers")


def _one_way(answers: PairAnnotations, table: pd.DataFrame) -> Iterator[str]:
    """Annotators who have always given the same answer, if that is unlikely given the answers of the others."""
    total, ones, assumed = answers.num_pairs, int(answers.label.sum()), _assumed(answers)
    for row in table[table["answers"] >= _ENOUGH].itertuples():
        if (row.same and row.different) or row.worker in assumed:
            continue
        rest = total - row.answers
        share = (ones - row.same) / rest if rest else np.nan  # share of answers "same" of the others
        chance = share if row.same else 1 - share
        if not rest or row.answers * np.log(max(chance, 1e-12)) < np.log(_LEVEL / len(table)):
            word = "same" if row.same else "different"
            yield (f"{row.worker} has answered '{word}' {row.answers} times and nothing else: this gives no "
                   "information about the items; leave these answers out unless there is a reason for them")


def _suspects(answers: PairAnnotations, table: pd.DataFrame) -> dict[str, str]:
    """Name → line for the annotators of :func:`_at_random`, except those who only disagree with worse ones.

    The worst annotator is removed, and the others are compared again, until no one is left to remove: an annotator who
    was often asked together with people who guess has a low agreement without being at fault.
    """
    lines = _at_random(table)
    out: list[str] = []
    while set(lines) - set(out):
        rows = np.flatnonzero(~_by(answers, out))
        left = people(answers.some(rows)) if len(rows) else table[:0]
        left = left[left["worker"].isin(set(_at_random(left)) & set(lines))]
        if left.empty:
            break
        out.append(left["worker"].iloc[int(((left["agree"] - left["chance"]) / (1 - left["chance"])).argmin())])
    return {name: line for name, line in lines.items() if name in out}


def _by(answers: PairAnnotations, names: list[str]) -> np.ndarray:
    """[P] bool, whether each answer was given by one of these annotators."""
    return np.isin(np.array(answers.worker_names, object), names)[answers.worker]


def _at_random(table: pd.DataFrame) -> dict[str, str]:
    """Annotators whose agreement is significantly below chance, or below the mean of chance and 1."""
    both_ways = table[(table["compared"] >= _ENOUGH) & (table["same"] > 0) & (table["different"] > 0)]
    lines: dict[str, str] = {}
    for row in both_ways.itertuples():
        right, asked = round(row.agree * row.compared), int(row.compared)
        line = f"{row.worker} agrees with the others in {100 * row.agree:.0f} % of {asked} answers to the same pairs"
        if binomtest(right, asked, row.chance, "less").pvalue < _LEVEL / len(both_ways):
            lines[row.worker] = (
                f"{line}, less than by chance ({100 * row.chance:.0f} %): were 'same' and 'different' mixed up?"
            )
        elif binomtest(right, asked, (1 + row.chance) / 2, "less").pvalue < _LEVEL / len(both_ways):
            more = "little more" if row.agree > row.chance else "no more"
            lines[row.worker] = (
                f"{line}, {more} than by chance ({100 * row.chance:.0f} %): "
                "the fit will give these answers the weight that they deserve; ask them why"
            )
    return lines


def _apart(answers: PairAnnotations) -> Iterator[str]:
    number = answers.index.num_components
    sizes = np.bincount(answers.index.component)
    if number > 1 and sizes.max() < 0.5 * len(answers.annotated):
        yield (f"the answers fall into {number} groups of items without an answer between them, the largest of "
               f"{sizes.max()} items: only the features decide which groups are the same class; ask about pairs "
               "across groups")


def _compared(answers: PairAnnotations) -> pd.DataFrame:
    """Answers to pairs that others have also answered: worker, label, majority of the others, whether they agree."""
    frame = pd.DataFrame({"pair": answers.pair, "worker": answers.worker, "label": answers.label})
    whole = frame.groupby("pair")["label"].agg(["size", "sum"])
    own = frame.groupby(["pair", "worker"])["label"].agg(["size", "sum"]).reset_index()
    size = own["size"].to_numpy()
    others = whole["size"].to_numpy()[own["pair"]] - size
    ones = whole["sum"].to_numpy()[own["pair"]] - own["sum"].to_numpy()
    clear = (others > 0) & (2 * ones != others) & (2 * own["sum"].to_numpy() != size)
    compared = pd.DataFrame({
        "worker": own["worker"], "label": (2 * own["sum"] > size).astype(int), "others": (2 * ones > others).astype(int)
    })[clear]  # fmt: skip
    return compared.assign(agree=(compared["label"] == compared["others"]).astype(float))
