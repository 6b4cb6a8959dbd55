"""Cells with which people say that they do not know the answer."""

import re

#: What an error says about rows without an answer.
DONT_KNOW = "an empty cell or don't know skips the row"
#: Part of the note on rows without an answer.
NO_ANSWER = "have no answer (empty, or a word such as don't know), and are skipped"
#: Words for it, as :func:`is_unsure` compares them: in lower case, without apostrophes, with single spaces.
_WORDS = frozenset({
    "", "?", "??", "???", "-", "--", "n/a", "na", "n.a.", "idk", "dk", "i dont know", "dont know", "do not know",
    "not known", "unknown", "unsure", "im not sure", "not sure", "uncertain", "unclear", "undecided", "no idea",
    "no answer", "skip", "skipped", "pass", "cant tell", "cannot tell", "can not tell", "cant say", "cannot say",
    "weiß nicht", "weiss nicht", "weiß ich nicht", "weiss ich nicht", "keine ahnung", "keine angabe", "k.a.", "k. a.",
    "unsicher", "unklar", "unbekannt",
})  # fmt: skip
_APOSTROPHES = re.compile(r"['’‘`´]")
#: What people and their programs put between words, and sentences end with.
_BETWEEN = re.compile(r"[\s_]+")


def is_unsure(cell: str) -> bool:
    """Whether a cell is empty or says in one of the usual ways that its author does not know the answer.

    Capitals and apostrophes do not matter, and neither do a point or an exclamation mark at the end.
    """
    plain = _BETWEEN.sub(" ", _APOSTROPHES.sub("", cell.lower())).strip()
    return plain in _WORDS or plain.rstrip(".!") in _WORDS
