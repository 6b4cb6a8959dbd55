"""The page of ``python src/train.py --help``."""

from collections.abc import Sequence

from semicrowd.run.composition import CONF, composed
from semicrowd.settings.fields import described, shown
from semicrowd.settings.groups import CHOSEN, FIXED, SEVERAL, TOP, choice_of, groups_of, what_is
from semicrowd.settings.methods import METHODS
from semicrowd.settings.training import TrainingSettings

_PAGE = """\
Cluster items from their features and a few noisy crowd answers: train one model, or a sweep of them.

usage: python src/train.py [-m] [key=value ...]

choices [default]
{choices}
  experiment=<name>      a whole run: {experiments}

settings of {chosen} [default, where the rule of the protocol has no other for the data]
{settings}
  hydra.run.dir=<path>   where the run's files go [runs/<the arguments>; a sweep: multirun/<the arguments>]

to see
  --help data=mnist model=scdc …    this page for other choices
  --explain …                       every value that a run would use, and the argument, file or rule that set it

sweeps
  -m                     every combination of comma-separated values, one job each; one that fails leaves the rest alone
  seed=0-9               ten of them; seed=0-2,7
  hydra/launcher=joblib hydra.launcher.n_jobs=2      jobs in two processes instead of one after the other
  hydra/launcher=slurm hydra.launcher.gpus=1         each a job of a SLURM cluster; docs/CLUSTER.md

examples
  python src/train.py
  python src/train.py data=pinwheel annotations=two_coin seed=0
  python src/train.py data=mnist model=bayes nets=conv annotations=crowd seed=0
  python src/train.py data=table data.path=features.csv annotations=file annotations.path=answers.csv
  python src/train.py data=face model=mcvc annotations=quota annotations.pairs_per_annotator=1000
  python src/train.py -m model=scdc,bayes seed=0-9
  python src/train.py -m data=pinwheel,mnist model=scdc,bayes annotations=none,tasks seed=0-2

A run leaves report.html, metrics.json, warnings.json, assignments.csv, clusters.csv, workers.csv, restarts.csv,
candidates.csv, curves.csv, model.pt, figures/ and checkpoints/ in its directory; report.html is the page to look at,
warnings.json says why not to trust the result.
python src/predict.py assigns new items with it; `make ui` shows all runs; --hydra-help: Hydra's own.
Exit codes: 0 done, 1 a job or the program failed, 2 an input to mend, 130 stopped by Ctrl-C.
"""


def help_page(overrides: Sequence[str] = ()) -> str:
    """The page, with the settings of the choices that the arguments make."""
    choices = composed(overrides).choices
    trained = METHODS[choices["model"]].trained
    kinds = (*(("", kind) for kind in TOP if trained or kind is not TrainingSettings), *groups_of(choices).items())
    return _PAGE.format(
        choices="\n".join(line for group in (*CHOSEN, *FIXED) for line in _choices(group, choices)),
        experiments=", ".join(sorted(path.stem for path in (CONF / "experiment").glob("*.yaml"))),
        chosen=" ".join(f"{group}={name}" for group, name in choices.items()),
        settings="\n".join(line for group, kind in kinds for line in _settings(group, kind)),
    )


def _settings(group: str, kind: type) -> list[str]:
    """A line for each setting: name, what it is, default."""
    lines = []
    for one in described(kind)[1 if group in FIXED else 0 :]:  # the first is the choice
        name = f"{group}.{one.spelled}" if group else one.spelled
        # That of the other methods is the number of classes of the data.
        default = "as many as the data have classes" if one.name == "n_clusters" else shown(one.default)
        lines.append(f"  {name}=".ljust(32) + f" {one.help} [{default}]")
    return lines


def _choices(group: str, chosen: dict[str, str]) -> list[str]:
    """A line for each choice of a group: its name and what it is; or one for all of them."""
    lines = []
    if group in FIXED:
        first = described(FIXED[group])[0]
        lines.append(f"  {group}=<name>".ljust(25) + f"{first.help} [{choice_of(group)[1][0]}]")
        for name, settings in SEVERAL.get(group, {}).items():
            stands = " ".join(f"{group}.{key}={value}" for key, value in settings.items())
            lines.append(f"  {group}={name}".ljust(27) + f" is {stands}")
        return lines
    for name in sorted(CHOSEN[group]):
        mark = " *" if name == chosen[group] else ""
        lines.append(f"  {group}={name}".ljust(27) + f" {what_is(group, name)}{mark}")
    return lines
