"""Table 2: sequences, mixtures and hidden Markov models."""

from pathlib import Path

from semicrowd.report.cells import Cell
from semicrowd.report.exhibits import Exhibit, Result
from semicrowd.report.papers.discriminative_bnp.paper_values import OF_SEQUENCES
from semicrowd.report.papers.discriminative_bnp.protocols import NMI
from semicrowd.report.papers.discriminative_bnp.sampled import cells
from semicrowd.report.runs import Collected

#: What a point of the sweep is called.
WHICH = "data.which"
#: Data set → its name here.
DATA = {
    "wifi_1": "UJIIndoorLoc, user 1", "wifi_14": "UJIIndoorLoc, user 14", "wifi_11": "UJIIndoorLoc, user 11",
    "home_a": "ADL home A", "home_b": "ADL home B",
}  # fmt: skip
METHODS = OF_SEQUENCES | {"hmm": "HMM, told K"}
EXPERIMENTS = tuple(f"bnp_sequence_{model}" for model in METHODS)
RESTRICTED = (
    "data not available here: the Mobile Data Challenge's scans are given to researchers on request (Idiap, "
    "idiap.ch/en/scientific-research/data/mdc); a csv of a user's scans in the order of time, a row for each, with a "
    "column for each access point and the columns label and sequence, runs as data=table data.path=FILE "
    "model.family=multinomial"
)
TEXT = (
    "The paper's three users are of the Mobile Data Challenge, which is restricted. In their place stand real, public "
    "sequences: WiFi scans of three users of UJIIndoorLoc in the order of time, 1 where an access point was heard "
    "(classes: floors of buildings, each of which a user walks through once), and the sensors of two homes by five "
    "minutes (in how many of them each was on; classes: activities, which come again and again). Their numbers are not "
    "to be compared with the paper's, only their order. HMM is told the number of classes. "
    f"{NMI}"
)


def build(exhibit: Exhibit, collected: Collected, folder: Path) -> Result:  # noqa: ARG001 - no figure
    """The paper's cells, which stay empty, and ours."""
    rows = [Cell(value.cell, value.quantity, value, remark=RESTRICTED) for value in exhibit.values]
    for which, data in DATA.items():
        at = collected.at({WHICH: which})
        for model, method in METHODS.items():
            rows += cells(at, f"bnp_sequence_{model}", exhibit, "", f"{data}, {method}")
    return Result(cells=tuple(rows), text=TEXT, commands=collected.commands_of(*EXPERIMENTS))
