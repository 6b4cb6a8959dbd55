"""Data sets of the generality suite."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from semicrowd.data.embedding import MISSING, installed
from semicrowd.data.npz import find, where_to_put
from semicrowd.settings.data import EFFICIENTNET_LITE0

#: Number of items that are sampled from a larger table, to save time.
_DRAWN = 2000


@dataclass(frozen=True)
class Table:
    """A data set of the suite.

    Attributes
    ----------
    loader, options : arguments of :func:`semicrowd.data.load_dataset`
    regimes : regimes under which it is measured; None for all but those in ``regimes.OWN``
    embedded : whether the features are those of a network that was trained on labelled photographs
    """

    loader: str = "benchmark"
    options: Mapping[str, Any] = field(default_factory=dict)
    regimes: tuple[str, ...] | None = None
    embedded: bool = False


def _crowd(name: str, *regimes: str, embedded: bool = False) -> Table:
    """A file with answers of people; it is measured with these answers and under the given regimes."""
    return Table("npz", {"path": name}, regimes=("crowd", *regimes), embedded=embedded)


def _file(name: str, **options: Any) -> Table:
    """A table in a file that the user provides."""
    return Table("npz", {"path": name, **options})


#: Data sets on which decisions about the methods are made.
DEVELOPMENT: dict[str, Table] = {
    **{name: Table(options={"which": name}) for name in ("iris", "wine", "digits")},
    "pen": Table(options={"which": "pen", "subset": _DRAWN}),
    "letter_first": Table(options={"which": "letter", "classes": [*ascii_uppercase[:10]], "subset": _DRAWN}),
    "pinwheel": Table("pinwheel"),
    "face": Table("face"),
    "mnist": Table("mnist", {"subset": _DRAWN}),
    "families": Table(options={"which": "families"}, regimes=("hard",)),
    # Locked until they were evaluated in November 2026.
    "letter_last": Table(options={"which": "letter", "classes": [*ascii_uppercase[-10:]], "subset": _DRAWN}),
    **{name: Table(options={"which": name, "columns": 500}) for name in ("leukaemia", "lung")},
    **{name: Table(options={"which": name, "subset": _DRAWN}) for name in ("activities", "texts", "wifi_1", "wifi_11")},
    "wifi_14": Table(options={"which": "wifi_14"}),
    # The photographs and features of the first three are the same.
    "birds5_pairs": _crowd("birds5_pairs", "none", embedded=True),
    "birds5_triples_quads": _crowd("birds5_triples_quads", embedded=True),
    "birds5_sorted": _crowd("birds5_sorted", embedded=True),
    "cifar10s": _crowd("cifar10s", "none", embedded=True),
    "weather_tweets": _crowd("weather_tweets", "none"),
    "felix_cats": _crowd("felix_cats", "none", embedded=True),
    "cifar10_embedded": Table(
        "cifar10", {"features": EFFICIENTNET_LITE0, "subset": _DRAWN}, ("pairs90", "misplaced5", "misplaced", "none"),
        embedded=True,
    ),
    # It has 1,162 classes, most of them with one or two items.
    "product_matching": _crowd("product_matching"),
    "segment": _file("segment", subset=_DRAWN),
    **{name: _file(name) for name in ("vehicle", "ecoli", "olive", "mice_protein", "banknote", "ionosphere")},
}  # fmt: skip
#: Locked data sets, which are evaluated once, at the end. No decision may be based on them.
LOCKED: dict[str, Table] = {
    "labelme": _crowd("labelme", "none", embedded=True),
    "music_genre": _crowd("music_genre", "none"),
    "faces_expression": _crowd("faces_expression", "none"),
    "satimage": _file("satimage", subset=_DRAWN),
    "texture": _file("texture", subset=_DRAWN),
    "movement_libras": _file("movement_libras"),
    "seeds": _file("seeds"),
    "cardiotocography": _file("cardiotocography", subset=_DRAWN),
    "steel_faults": _file("steel_faults"),
    "crabs": _file("crabs"),
}
TABLES = DEVELOPMENT | LOCKED


def missing_file(name: str, root: Path) -> str:
    """Message about a data set whose file is missing, or whose network is not installed; else empty."""
    table = TABLES[name]
    if table.options.get("features") == EFFICIENTNET_LITE0 and not installed():
        return MISSING
    if table.loader != "npz" or find(table.options["path"], root) is not None:
        return ""
    return where_to_put(table.options["path"], root)
