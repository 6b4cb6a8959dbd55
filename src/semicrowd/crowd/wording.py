"""The column names and words with which a file writes its answers."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from semicrowd.crowd.answer_header import shown
from semicrowd.errors import UserError

_LABEL = re.compile(r"\+?0*([01])(?:\.0+)?")
_WORDS = {
    "1": 1, "true": 1, "same": 1, "yes": 1, "y": 1, "must-link": 1, "must_link": 1, "ja": 1,
    "gleich": 1,
    "0": 0, "false": 0, "different": 0, "no": 0, "n": 0, "cannot-link": 0, "cannot_link": 0, "nein": 0,
    "verschieden": 0,
}  # fmt: skip
#: What an error says of the words for answers.
ANSWERS = (
    "1 (same) or 0 (different), or true/false, same/different, yes/no, y/n, must-link/cannot-link, ja/nein, "
    "gleich/verschieden; for other words see annotations.same_words and annotations.different_words, in Python "
    "read_answers"
)


@dataclass(frozen=True)
class Wording:
    """How a file names its columns and writes its answers, if not in one of the usual ways.

    Attributes
    ----------
    columns : standard name of a column → its name in the file
    same, different : further words for the two answers; upper and lower case are not distinguished
    unsure : further words of people who do not know the answer, or could not place an item
    shared : whether it is that of several files, so that a file need not have all of these columns
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    same: Collection[str | float] = ()
    different: Collection[str | float] = ()
    unsure: Collection[str | float] = ()
    shared: bool = False

    def found_in(self, header: Sequence[str]) -> dict[str, str]:
        """Those of ``columns`` that are in a header."""
        names = {name.strip() for name in header}
        return {standard: name for standard, name in self.columns.items() if name in names}

    def renamed(self, at: str, header: Sequence[str]) -> list[str]:
        """The column names of a header, with those that are given here replaced by the standard ones.

        Parameters
        ----------
        at : where the header is, the beginning of an error message
        """
        names, columns = [name.strip() for name in header], self.found_in(header)
        if not self.shared and len(columns) < len(self.columns):
            missing = next(name for standard, name in self.columns.items() if standard not in columns)
            there = shown(",".join(names), most=100)
            raise UserError(f"{at}: no column {missing} (annotations.columns, in Python columns); found {there}")
        others = {name: standard for standard, name in columns.items()}
        # A column that has a standard name, but is said not to be that column, keeps out of the way.
        return [others.get(name, f"other {name}" if name in columns else name) for name in names]

    def meanings(self) -> dict[str, int]:
        """Word (as :func:`word_of` has it) → 1 for "same", 0 for "different"; words given here replace the usual ones.

        Raises
        ------
        UserError
            If a word is given for two answers.
        """
        given = {"same": self.same, "different": self.different, "unsure": self.unsure}
        words = {name: words_of(some) for name, some in given.items()}
        for one, other in combinations(words, 2):
            if both := words[one] & words[other]:
                raise UserError(f"annotations.{one}_words and annotations.{other}_words: {min(both)} is in both")
        usual = {word: label for word, label in _WORDS.items() if word not in words["unsure"]}
        return usual | dict.fromkeys(words["same"], 1) | dict.fromkeys(words["different"], 0)


def word_of(text: str) -> str:
    """An answer in lower case; of 0 and 1, which may be written as 0.0 or +1, the digit."""
    number = _LABEL.fullmatch(text)
    return number[1] if number else text.lower()


def words_of(words: Collection[str | float]) -> set[str]:
    """Words as :func:`word_of` has them."""
    return {word_of(str(word)) for word in words}
