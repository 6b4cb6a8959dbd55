"""``make record EXPERIMENT=slpd.iris``: the tables of the SLPD paper with all of the paper's trials.

A data set has two files in ``recorded/slpd``: the balanced Rand index of each fold (csv), and its provenance (json).
"""

from pathlib import Path

import pandas as pd

from semicrowd.data import load_dataset
from semicrowd.errors import UserError
from semicrowd.files import read_object, write_csv, write_json
from semicrowd.fitting.progress import threads_of_a_fit
from semicrowd.pipeline.experiments import DATA
from semicrowd.pipeline.profile import RECORDED
from semicrowd.pipeline.slpd.plan import SETS, SHARES, num_trials_of
from semicrowd.pipeline.slpd.tables import CHOSEN, COLUMNS, KEYS, read_rows, run
from semicrowd.run.files.provenance import provenance

FOLDER = Path("recorded/slpd")
#: Methods whose rows are recorded; the profile's runs have further ones.
METHODS = ("ckm", "slpd", CHOSEN)


def command(name: str) -> str:
    """The command that records a data set's trials."""
    return f"make record EXPERIMENT=slpd.{name}"


def record(name: str, place: Path, processor: str) -> Path:
    """Run the trials of a data set and keep their rows; trials that ``place`` has are not run again.

    Parameters
    ----------
    name : of the data set
    place : folder of the rows while they are made
    processor : of this machine, for the json file

    Raises
    ------
    UserError
        For an unknown data set, if its data are not available, and if trials have failed.
    """
    if name not in SETS:
        raise UserError(f"slpd.{name}: expected a data set, one of {', '.join(SETS)}")
    of, trials, origin = SETS[name], num_trials_of(name, RECORDED), place / f"{name}.json"
    now = provenance(load_dataset("benchmark", DATA, **of.options), None)
    if not origin.exists():  # else some of its rows were made before
        known = {key: now[key] for key in ("git_commit", "started", "data_hashes", "versions")}
        write_json(origin, {"command": command(name), **known, "processor": processor})
    with threads_of_a_fit():
        run(name, trials, place)
    rows = read_rows(name, place)
    kept = rows[rows["method"].isin(METHODS) & (rows["trial"] < trials)].sort_values(list(KEYS)).round(6)
    methods = len(METHODS) if of.choose else len(METHODS) - 1
    if len(kept) != methods * len(SHARES) * trials * of.folds:
        raise UserError(f"{place / name}: rows are missing, {FOLDER} stays as it is; run the command again")
    path = FOLDER / f"{name}.csv"
    write_csv(path, COLUMNS, kept.itertuples(index=False))
    write_json(path.with_suffix(".json"), {**read_object(origin), "trials": trials})
    return path


def read_trials(name: str) -> pd.DataFrame:
    """The recorded rows of a data set; no rows if it is not recorded."""
    path = FOLDER / f"{name}.csv"
    return pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=COLUMNS)
