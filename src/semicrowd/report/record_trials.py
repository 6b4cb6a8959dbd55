"""``make record EXPERIMENT=slpd.iris``: the tables of the SLPD paper with all of the paper's trials.

A data set has two files in ``recorded/slpd``: the balanced Rand index of each fold (csv), and where it is from (json).
"""

from pathlib import Path

import pandas as pd

from semicrowd.data import load_dataset
from semicrowd.errors import UserError
from semicrowd.files import write_csv, write_json
from semicrowd.fitting.threads import threads_of_a_fit
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.profile import RECORDED
from semicrowd.pipeline.slpd.plan import SETS, num_trials_of
from semicrowd.pipeline.slpd.tables import CHOSEN, COLUMNS, KEYS, read_rows, run
from semicrowd.run.files.provenance import provenance

#: Beginning of the names of these experiments.
PREFIX = "slpd."
FOLDER = Path("recorded/slpd")
#: Methods whose rows are recorded; the profile's runs have further ones.
METHODS = ("ckm", "slpd", CHOSEN)


def record_trials(experiment: str, place: Path, processor: str, folder: Path = FOLDER) -> Path:
    """Run the trials of a data set and keep their rows; trials that ``place`` has are not run again.

    Parameters
    ----------
    experiment : ``slpd.`` and the data set
    place : folder of the rows while they are made
    processor : of this machine, for the json file

    Raises
    ------
    UserError
        For an unknown data set, and if its data are not available.
    """
    name = experiment.removeprefix(PREFIX)
    if name not in SETS:
        raise UserError(f"{experiment}: expected one of {', '.join(f'{PREFIX}{one}' for one in SETS)}")
    origin = provenance(load_dataset("benchmark", DATA, **SETS[name].options), None)
    trials = num_trials_of(name, RECORDED)
    with threads_of_a_fit():
        run(name, trials, place)
    rows = read_rows(name, place)
    kept = rows[rows["method"].isin(METHODS)].sort_values(list(KEYS)).round(6)
    path = folder / f"{name}.csv"
    write_csv(path, COLUMNS, kept.itertuples(index=False))
    known = {key: origin[key] for key in ("git_commit", "started", "data_hashes", "versions")}
    write_json(path.with_suffix(".json"), {**known, "processor": processor, "trials": trials})
    return path


def read_trials(name: str, folder: Path = FOLDER) -> pd.DataFrame:
    """The recorded rows of a data set; no rows if it is not recorded."""
    path = folder / f"{name}.csv"
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=COLUMNS)
