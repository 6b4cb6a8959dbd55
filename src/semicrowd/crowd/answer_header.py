"""The header of answers: which columns there are, by which names, and in which format the rows are."""

import re
from collections.abc import Collection, Sequence

from semicrowd.errors import UserError

# Required columns of each table format. The first format whose columns are all in the header is used.
#: Each row is an answer about a pair of items.
PAIRS = ("i", "j", "label")
#: Each row gives the group into which an annotator has put an item.
GROUPS = ("item", "group")
#: Each row gives the class that an annotator has assigned to an item.
CLASSES = ("item", "label")
_OPTIONAL = ("worker", "task")
#: Columns of each format, for messages.
HEADERS = {
    PAIRS: "i,j,worker,label[,task]", GROUPS: "item,worker,group[,task]", CLASSES: "item,worker,label[,task]",
}  # fmt: skip
#: Alternative column names, in lower case; they count only if the standard name is not in the header.
_ALIASES = {
    "i": ("item_i", "item1", "item_1", "item_a", "id1", "id_1", "image1", "image_1", "left", "first"),
    "j": ("item_j", "item2", "item_2", "item_b", "id2", "id_2", "image2", "image_2", "right", "second"),
    "label": ("answer", "response", "same", "link", "class", "category"),
    "worker": ("annotator", "rater", "user", "person", "labeler", "labeller", "worker_id", "annotator_id", "user_id"),
    "item": ("item_id", "object", "image", "file", "id"),
    "group": ("cluster", "pile", "group_id"),
    "task": ("task_id", "question", "batch", "session"),
}
_NAMED = "columns of other names: 'annotations.columns={i: …}', or in Python read_answers(…, columns={…})"
_ANY_HEADER = ", or ".join(HEADERS.values())
_SEPARATORS = ",;\t"
_KNOWN = {*PAIRS, *GROUPS, *_OPTIONAL}

#: A row number, or an id that is a number.
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def shown(text: str, most: int = 50) -> str:
    """The beginning of a cell, printable in one line of a message."""
    start = text[:most]
    return (start if start.isprintable() else repr(start)[1:-1]) or "empty"


def separator_of(header: str, named: Collection[str] = ()) -> str:
    """The separator with which most cells of the header are known column names."""
    return max(_SEPARATORS, key=lambda one: len({*_KNOWN, *named}.intersection(proper_names(
        [cell.strip(' "\r\n') for cell in header.split(one)]
    ))))


def header_of(
    source: str, row: Sequence[str], links: bool = False, line: str = ""
) -> tuple[tuple[str, ...], dict[str, int]]:
    """The table format, and the position of each column to read.

    Parameters
    ----------
    source : path of the file, or name of the data frame
    links : whether the file only lists pairs i,j
    line : where the header is in it; follows ``source`` in error messages
    """
    header = proper_names(row)
    if not any(header):
        raise UserError(f"{source}: empty; expected a header {HEADERS[PAIRS]} and a row for each answer")
    if links and len(header) == 2 and "" not in header and not any(WHOLE_NUMBER.fullmatch(name) for name in header):
        return PAIRS, {"i": 0, "j": 1}
    if links and not {"i", "j"} <= set(header):
        raise UserError(f"{source}{line}: expected i,j[,worker], found {shown(','.join(header), most=100)}")
    kind = PAIRS if links else next((one for one in HEADERS if set(one) <= set(header)), None)
    if kind is None:
        if "item" in header:
            missing, expected = "group or label", f"{HEADERS[GROUPS]}, or {HEADERS[CLASSES]}"
        elif "i" in header or "j" in header:
            missing, expected = ", ".join(name for name in PAIRS if name not in header), HEADERS[PAIRS]
        else:
            missing, expected = "i and j, or item", _ANY_HEADER
        names = shown(",".join(name.strip() for name in row), most=100)
        other = [name for name in header if name not in _KNOWN]
        not_known = f" ({shown(', '.join(other), most=100)} not understood)" if len(other) < len(header) else ""
        raise UserError(f"{source}{line}: no column {missing}; expected {expected}, found {names}{not_known}; {_NAMED}")
    wanted = [name for name in (*kind, *_OPTIONAL) if name in header]
    repeated = [name for name in wanted if header.count(name) > 1]
    if repeated:
        raise UserError(f"{source}{line}: two columns are called {repeated[0]}; expected one")
    return kind, {name: header.index(name) for name in wanted}


def looks_like_answers(row: Sequence[str]) -> bool:
    """Whether a header is that of answers and hardly that of items, which may have columns item and label, too."""
    header = set(proper_names(row))
    return header >= set(PAIRS) or any(header >= {*kind, "worker"} for kind in (GROUPS, CLASSES))


def proper_names(row: Sequence[str]) -> list[str]:
    """The column names of a header, with alternative names (``_ALIASES``) replaced by the standard ones."""
    names = [name.strip() for name in row]
    lower = [name.lower() for name in names]
    for standard, others in _ALIASES.items():
        if standard in names:
            continue
        for name in (standard, *others):
            if name in lower:
                names[lower.index(name)] = standard
                break
    return names
