"""Cells with which people say that they do not know the answer."""

import re

#: What an error says about rows without an answer.
DONT_KNOW = "an empty cell or don't know skips the row"
#: Part of the note on rows without an answer.
NO_ANSWER = "have no answer (empty, or a word such as don't know), and are skipped"
#: Words and sentences that cannot be anything else, as :func:`is_unsure` compares them: in lower case, without
#: apostrophes, with single spaces.
_SENTENCES = frozenset({
    "", "?", "??", "???", "idk", "dunno", "i dunno", "i dont know", "dont know", "i do not know", "do not know",
    "im not sure", "i am not sure", "not sure", "no idea", "cant tell", "cannot tell", "can not tell", "cant say",
    "cannot say", "weiß nicht", "weiss nicht", "weiß ich nicht", "weiss ich nicht", "keine ahnung",
    "unsure", "unsicher",
})  # fmt: skip
#: Words that say so in place of "same" or "different", but that may also be the names of groups or classes: pass and
#: fail, + and -, known and unknown.
_WORDS = _SENTENCES | {
    ".", "-", "--", "–", "—", "n/a", "#n/a", "na", "n.a.", "nan", "none", "null", "dk", "not known", "unknown",
    "uncertain", "unclear", "undecided", "no answer", "skip", "skipped", "pass", "keine antwort",
    "keine angabe", "k.a.", "k. a.", "unklar", "unbekannt",
}  # fmt: skip
_APOSTROPHES = re.compile(r"['’‘`´]")
#: What people and their programs put between words.
_BETWEEN = re.compile(r"[\s_]+")


def is_unsure(cell: str, of_pair: bool = True) -> bool:
    """Whether a cell is empty or says in one of the usual ways that its author does not know the answer.

    Capitals and apostrophes do not matter, and neither do points, exclamation and question marks at the end.

    Parameters
    ----------
    of_pair : whether the answer is about a pair; otherwise it is the name of a group or class, which may be any word,
        and only sentences that are no such name count
    """
    words = _WORDS if of_pair else _SENTENCES
    plain = _BETWEEN.sub(" ", _APOSTROPHES.sub("", cell.lower())).strip()
    return plain in words or (plain.rstrip(".!?") or plain) in words
