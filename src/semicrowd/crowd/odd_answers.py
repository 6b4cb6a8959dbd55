"""What is odd about answers before anything is fitted to them: one line each, with what to do.

Axes: P answers, M annotators, n annotated items.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.index import components
from semicrowd.errors import listed

#: Answers of one annotator from which on something is said of him.
_ENOUGH = 20
#: An annotator with fewer answers is hardly known.
_FEW = 10
#: One-sided level of the tests, divided by the number of annotators.
_LEVEL = 0.01
#: Share of contradictory answers up to which they are slips that can be mended; among more, noise is the rule.
_SLIPS = 0.05
#: Answers below which a line says that they may be too few.
_EVIDENCE = 30


def people(answers: PairAnnotations) -> pd.DataFrame:
    """A row for each annotator, most answers first.

    ``agree`` is the share of answers that are as those of most others about the pair, over the ``compared`` answers to
    pairs that others have answered without a tie, NaN where there are none; ``chance`` is that share if the same
    numbers of answers "same" and "different" had been given at random.
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
    """Lines about answers that contradict each other and annotators who tell nothing; none where all is well."""
    table = people(answers)
    suspects = _suspects(answers, table)
    return [
        *_few(answers), *_contradictions(answers, list(suspects)), *_one_way(answers, table), *suspects.values(),
        *_apart(answers),
    ]  # fmt: skip


def _few(answers: PairAnnotations) -> Iterator[str]:
    if answers.num_pairs < _EVIDENCE:
        yield f"{answers.num_pairs} answers in all: fewer than {_EVIDENCE} cannot be told from chance; ask for more"
    number = answers.index.counts.sum(1)
    few = [name for name, count in zip(answers.worker_names, number, strict=True) if count < _FEW]
    if few and len(few) < answers.num_annotators:
        yield (f"{len(few)} of {answers.num_annotators} people have fewer than {_FEW} answers ({listed(few)}): their "
               "rates will be hardly known; ask them for more, or go on, they count little")


def _contradictions(answers: PairAnnotations, suspects: list[str]) -> Iterator[str]:
    """Answers that cannot all be right: both ways about a pair, or of one annotator a ≠ c beside a = b = c.

    Pairs are counted without the answers of the suspects, of whom another line speaks, unless they are half of all.
    """
    same = answers.label == 1
    node = answers.worker * answers.num_items  # a node is an item as one annotator sees it
    nodes, position = np.unique(np.concatenate([node + answers.i, node + answers.j]), return_inverse=True)
    i, j = position.reshape(2, -1)
    part = components(i[same], j[same], len(nodes))
    wrong = np.flatnonzero(~same & (part[i] == part[j]))
    if 0 < len(wrong) <= _SLIPS * answers.num_pairs or (len(wrong) and answers.num_annotators == 1):
        who = [answers.worker_names[m] for m in np.unique(answers.worker[wrong])]
        yield (f"{len(wrong)} answers 'different' about items that the same person has joined by answers 'same' "
               f"({listed(who)}): some of these must be wrong; errors are expected, mend those that you know of")
    left_out = suspects if 2 * len(suspects) < answers.num_annotators else []
    frame = pd.DataFrame({"pair": answers.pair, "label": answers.label})[~_by(answers, left_out)]
    pairs = frame.groupby("pair")["label"].agg(["size", "mean"])
    several = pairs[pairs["size"] > 1]
    split = ((several["mean"] > 0) & (several["mean"] < 1)).sum()
    if 2 * split > len(several) > 0:
        beside = f", without {listed(left_out)}," if left_out else ""
        yield (f"{split} of the {len(several)} pairs that were answered more than once{beside} were answered both "
               "ways: people see different things; say in the question what 'the same' means, or expect little of the "
               "answers")


def _one_way(answers: PairAnnotations, table: pd.DataFrame) -> Iterator[str]:
    """Annotators who have always said one thing, unlikely by what the others say."""
    total, ones = answers.num_pairs, int(answers.label.sum())
    for row in table[table["answers"] >= _ENOUGH].itertuples():
        if row.same and row.different:
            continue
        rest = total - row.answers
        share = (ones - row.same) / rest if rest else np.nan  # how often the others say "same"
        chance = share if row.same else 1 - share
        if not rest or row.answers * np.log(max(chance, 1e-12)) < np.log(_LEVEL / len(table)):
            word = "same" if row.same else "different"
            yield (f"{row.worker} has answered '{word}' {row.answers} times and nothing else: this tells nothing about "
                   "the items; leave these answers out unless there is a reason")


def _suspects(answers: PairAnnotations, table: pd.DataFrame) -> dict[str, str]:
    """Annotators of whom :func:`_at_random` speaks, also where the answers of those who are worse are left out.

    Somebody who often answered beside people who guess agrees with others seldom, and is not to blame for it.
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
    """Of each answer, whether one of these annotators gave it."""
    return np.isin(np.array(answers.worker_names, object), names)[answers.worker]


def _at_random(table: pd.DataFrame) -> dict[str, str]:
    """Annotators who agree with the others less than by chance, or surely not half-way from chance to always."""
    both_ways = table[(table["compared"] >= _ENOUGH) & (table["same"] > 0) & (table["different"] > 0)]
    lines: dict[str, str] = {}
    for row in both_ways.itertuples():
        right, asked = round(row.agree * row.compared), int(row.compared)
        said = f"{row.worker} agrees with the others in {100 * row.agree:.0f} % of {asked} answers to the same pairs"
        if binomtest(right, asked, row.chance, "less").pvalue < _LEVEL / len(both_ways):
            lines[row.worker] = (
                f"{said}, less than by chance ({100 * row.chance:.0f} %): were 'same' and 'different' mixed up?"
            )
        elif binomtest(right, asked, (1 + row.chance) / 2, "less").pvalue < _LEVEL / len(both_ways):
            lines[row.worker] = (
                f"{said}, little more than by chance ({100 * row.chance:.0f} %): leave them out, or ask why"
            )
    return lines


def _apart(answers: PairAnnotations) -> Iterator[str]:
    number = answers.index.num_components
    sizes = np.bincount(answers.index.component)
    if number > 1 and sizes.max() < 0.5 * len(answers.annotated):
        yield (f"the answers fall into {number} groups of items without an answer between them, the largest of "
               f"{sizes.max()} items: which groups are of one kind the features decide; ask about pairs across groups")


def _compared(answers: PairAnnotations) -> pd.DataFrame:
    """Answers to pairs that others have answered, too: worker, label, what most others say, whether they agree."""
    frame = pd.DataFrame({"pair": answers.pair, "worker": answers.worker, "label": answers.label})
    whole = frame.groupby("pair")["label"].agg(["size", "sum"])
    own = frame.groupby(["pair", "worker"])["label"].agg(["size", "sum"]).reset_index()
    size = own["size"].to_numpy()
    others = whole["size"].to_numpy()[own["pair"]] - size
    ones = whole["sum"].to_numpy()[own["pair"]] - own["sum"].to_numpy()
    clear = (others > 0) & (2 * ones != others) & (2 * own["sum"].to_numpy() != size)
    found = pd.DataFrame({
        "worker": own["worker"], "label": (2 * own["sum"] > size).astype(int), "others": (2 * ones > others).astype(int)
    })[clear]  # fmt: skip
    return found.assign(agree=(found["label"] == found["others"]).astype(float))
