"""Checks of answers before a fit: each problem is one line with advice.

Axes: P answers, M annotators, n annotated items.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order
from scipy.stats import binom

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.csv_file import KNOWN
from semicrowd.crowd.index import components
from semicrowd.errors import listed, spelled_alike

#: An annotator is only tested with at least this number of answers.
_ENOUGH = 20
#: Share of one's answers from which on they count as nearly always the same.
_NEARLY_ALWAYS = 0.95
#: The rates of an annotator with fewer answers are very uncertain.
_FEW = 10
#: Level of the one-sided tests, before it is divided by the number of annotators (Bonferroni).
_LEVEL = 0.01
#: Contradictory answers are reported up to this share of the answers; more are usual for noisy annotators.
_SLIPS = 0.05
#: Of this number of contradictory answers, the one with the shortest chain of answers "same" is shown as an example.
_EXAMPLES = 10
#: Answers "same" of an example that are listed; of a longer chain, those between the first two and the last are not.
_LINKS = 3
#: A line reports that there may be too few answers if there are fewer in total.
#: This is advice before the fit: of 30 answers about two equally frequent classes, 20 have to be right for a test at
#: 5 % to distinguish them from guesses. MIN_ANSWERS = 10 in starts/selection.py is a rule: with fewer, the answers are
#: never used; from 10 on the fit measures whether they are informative.
_EVIDENCE = 30


def people(answers: PairAnnotations, votes: np.ndarray | None = None) -> pd.DataFrame:
    """A row for each annotator, in decreasing order of the number of answers.

    ``compared`` is the number of answers about pairs for which the other annotators have a majority, and ``agree`` the
    share of these answers that equal the majority, NaN if there are none. ``chance`` is the expected share if the same
    numbers of "same" and "different" answers were given at random.

    Parameters
    ----------
    votes : the columns of :func:`_votes` that count; None: all
    """
    pair, worker, size, ones = _votes(answers) if votes is None else votes
    others, same = (np.bincount(pair, of)[pair] - of for of in (size, ones))  # answers of others, and those "same"
    clear = (others > 0) & (2 * same != others) & (2 * ones != size)
    own, other, number = 2 * ones > size, 2 * same > others, answers.num_annotators
    total, given, compared = (np.bincount(worker, of, number).astype(np.int64) for of in (size, ones, clear))
    with np.errstate(invalid="ignore"):  # 0 / 0 is NaN
        p, q, agree = (np.bincount(worker, clear & of, number) / compared for of in (own, other, own == other))
    table = pd.DataFrame({
        "worker": answers.worker_names, "answers": total, "same": given, "different": total - given, "agree": agree,
        "chance": p * q + (1 - p) * (1 - q), "compared": compared,
    })  # fmt: skip
    return table.sort_values("answers", ascending=False, kind="stable").reset_index(drop=True)


def _votes(answers: PairAnnotations) -> np.ndarray:
    """[4, V] pair, annotator, number of answers and of answers "same", of each annotator about each pair."""
    number = answers.num_annotators
    key, place, size = np.unique(answers.pair * number + answers.worker, return_inverse=True, return_counts=True)
    return np.stack([*np.divmod(key, number), size, np.bincount(place, answers.label).astype(np.int64)])


def odd_answers(answers: PairAnnotations, names: Sequence[str] | None = None) -> list[str]:
    """Lines about contradictory answers and uninformative annotators; empty if there are no problems.

    Parameters
    ----------
    names : [N] names of the items; None: they are called by their rows
    """
    table = people(answers)
    one_way = _one_way(answers, table)
    suspects = {name: line for name, line in _suspects(answers, table).items() if name not in one_way}
    return [
        *_few(answers), *_names(answers), *_contradictions(answers, [*suspects, *one_way], names), *one_way.values(),
        *suspects.values(), *_apart(answers),
    ]  # fmt: skip


def _names(answers: PairAnnotations) -> Iterator[str]:
    for alike in spelled_alike(answers.worker_names):
        yield (f"{' and '.join(alike)} count as {len(alike)} people, since the names are written differently; if they "
               "are one person, write one name in the answers")


def _few(answers: PairAnnotations) -> Iterator[str]:
    if answers.num_pairs < _EVIDENCE:
        yield (f"{answers.num_pairs} answers in total: fewer than {_EVIDENCE} can seldom be distinguished from chance; "
               "collect more")
    number = answers.index.counts.sum(1)
    assumed = {KNOWN}
    few = [name for name, count in zip(answers.worker_names, number, strict=True)
           if count < _FEW and name not in assumed]
    if few and len(few) < answers.num_annotators:
        yield (f"{len(few)} of {answers.num_annotators} people have fewer than {_FEW} answers ({listed(few)}): their "
               "rates will be very uncertain; collect more of them, or continue: these answers have little weight")


def _contradictions(
    answers: PairAnnotations, suspects: list[str], names: Sequence[str] | None
) -> Iterator[str]:
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
        graph = csr_array((np.ones(same.sum(), np.int8), (i[same], j[same])), shape=(len(nodes), len(nodes)))
        chain = nodes[min((_chain(graph, int(i[p]), int(j[p])) for p in wrong[:_EXAMPLES]), key=len)]
        speaker = answers.worker_names[chain[0] // answers.num_items]
        items = (chain % answers.num_items).tolist()
        example = _example(speaker, [f"row {n}" if names is None else names[n] for n in items])
        many = "1 answer 'different' contradicts" if len(wrong) == 1 else f"{len(wrong)} answers 'different' contradict"
        each = example if len(wrong) == 1 else f"for example, {example}"
        yield (f"{many} answers 'same' of the same person ({listed(who)}): {each}; some of these must be wrong; errors "
               "are expected, but correct those that you know")
    left_out = suspects if 2 * len(suspects) < answers.num_annotators else []
    out = np.isin(np.array(answers.worker_names, object), left_out)[answers.worker]
    frame = pd.DataFrame({"pair": answers.pair, "label": answers.label})[~out]
    pairs = frame.groupby("pair")["label"].agg(["size", "mean"])
    several = pairs[pairs["size"] > 1]
    split = ((several["mean"] > 0) & (several["mean"] < 1)).sum()
    if 2 * split > len(several) > 0:
        without = f" (without {listed(left_out)})" if left_out else ""
        yield (f"{split} of the {len(several)} pairs with several answers{without} have both answers: people disagree; "
               "define in the question what 'the same' means, or expect little information from the answers")


def _chain(graph: csr_array, first: int, last: int) -> np.ndarray:
    """The nodes of a shortest path from the first to the last one, which edges of the graph connect."""
    before = breadth_first_order(graph, first, directed=False)[1]
    path = [last]
    while path[-1] != first:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


def _example(speaker: str, items: list[str]) -> str:
    """What a person has said of items, each the same as the next one, but the first not the same as the last."""
    first, last = items[0], items[-1]
    if len(items) == 2:
        return f"{speaker} said once that {first} and {last} are the same, and once that they are different"
    links = [f"{one} and {other} are the same" for one, other in pairwise(items)]
    between = [*links[:2], "…", links[-1]] if len(links) > _LINKS else links
    same = f"{', that '.join(between[:-1])} and that {between[-1]}"
    return f"{speaker} said that {same}, but that {first} and {last} are different"


def _one_way(answers: PairAnnotations, table: pd.DataFrame) -> dict[str, str]:
    """Name → line for annotators who have nearly always given the same answer.

    Only if so many are unlikely (one-sided binomial test) for somebody with the share of the others' answers.
    """
    total, ones, assumed = answers.num_pairs, int(answers.label.sum()), {KNOWN}
    lines: dict[str, str] = {}
    for row in table[table["answers"] >= _ENOUGH].itertuples():
        often = max(row.same, row.different)
        if often < _NEARLY_ALWAYS * row.answers or row.worker in assumed:
            continue
        rest = total - row.answers
        share = (ones - row.same) / max(rest, 1)  # share of answers "same" of the others
        chance = share if row.same == often else 1 - share
        unlikely = binom.sf(often - 1, row.answers, chance) < _LEVEL / len(table)
        if unlikely if rest else often == row.answers:
            word = "same" if row.same == often else "different"
            times = f"{often} times and nothing else" if often == row.answers else f"{often} of {row.answers} times"
            lines[row.worker] = (
                f"{row.worker} has answered '{word}' {times}: this gives hardly any information about the items; "
                "leave these answers out (annotations.leave_out) unless there is a reason for them"
            )
    return lines


def _suspects(answers: PairAnnotations, table: pd.DataFrame) -> dict[str, str]:
    """Name → line for the annotators of :func:`_at_random`, except those who only disagree with worse ones.

    The worst annotator is removed, and the others are compared again, until no one is left to remove: an annotator who
    was often asked together with people who guess has a low agreement without being at fault.
    """
    lines, votes, out = _at_random(table), _votes(answers), list[str]()
    while set(lines) - set(out):
        left = people(answers, votes)
        left = left[left["worker"].isin(set(_at_random(left)) & set(lines))]
        if left.empty:
            break
        out.append(left["worker"].iloc[int(((left["agree"] - left["chance"]) / (1 - left["chance"])).argmin())])
        votes = votes[:, votes[1] != answers.worker_names.index(out[-1])]
    return {name: line for name, line in lines.items() if name in out}


def _at_random(table: pd.DataFrame) -> dict[str, str]:
    """Annotators whose agreement is significantly below chance, or below the mean of chance and 1."""
    both_ways = table[(table["compared"] >= _ENOUGH) & (table["same"] > 0) & (table["different"] > 0)]
    asked, chance = both_ways["compared"], both_ways["chance"]
    right = (both_ways["agree"] * asked).round()
    level = _LEVEL / max(len(both_ways), 1)
    # The p-values of one-sided binomial tests.
    below_chance = binom.cdf(right, asked, chance) < level
    below_middle = binom.cdf(right, asked, (1 + chance) / 2) < level
    lines: dict[str, str] = {}
    for row in both_ways.assign(below_chance=below_chance)[below_chance | below_middle].itertuples():
        line = (f"{row.worker} agrees with the others in {100 * row.agree:.0f} % of {row.compared:.0f} answers to the "
                "same pairs")
        if row.below_chance:
            lines[row.worker] = (
                f"{line}, less than by chance ({100 * row.chance:.0f} %): were 'same' and 'different' mixed up?"
            )
        else:
            more = "little more" if row.agree > row.chance else "no more"
            lines[row.worker] = (
                f"{line}, {more} than by chance ({100 * row.chance:.0f} %): ask {row.worker} how the question was "
                "understood; a fit gives random answers little weight"
            )
    return lines


def _apart(answers: PairAnnotations) -> Iterator[str]:
    """A line if several groups of items, without an answer between them, have more pairs than items each.

    Pairs drawn at random hardly ever form more than one such group (Erdős and Rényi 1960). Beside it they leave small
    groups, a few items each, whose place among the others the features tell.
    """
    index, first = answers.index, np.unique(answers.pair, return_index=True)[1]
    items, pairs = (np.bincount(index.component[of]) for of in (slice(None), index.i[first]))
    asked_within = items[pairs > items]
    if len(asked_within) > 1:
        yield (f"the answers form {len(asked_within):,} groups of items, each with many answers within and none about "
               f"items of two groups; the largest has {asked_within.max():,} of the {len(index.items):,} items with "
               "answers; only the features decide which groups are of the same class: ask about pairs of items of two "
               "groups")
