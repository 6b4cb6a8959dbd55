"""The page of ``python src/train.py --help``."""

from collections.abc import Sequence

from semicrowd.run.composition import CONF, composed
from semicrowd.settings.fields import described, shown
from semicrowd.settings.groups import CHOSEN, FIXED, SEVERAL, TOP, choice_of, groups_of, what_is
from semicrowd.settings.methods import METHODS
from semicrowd.settings.training import TrainingSettings

_PAGE = """\
Cluster items from their features and a few noisy crowd answers: train one model, or a sweep of them.

usage: python src/train.py [-m] [<file or folder of the items> [<file of answers> ...]] [key=value ...]

choices [default]
{choices}
  experiment=<name>      a whole run: {experiments}

settings of {chosen} [default, if the rules of the protocol set no other value for the data]
{settings}
  hydra.run.dir=<path>   where the run's files go [runs/<the arguments>; a sweep: multirun/<the arguments>]

pages (nothing is run)
  --help data=mnist model=scdc …    this page for other choices

sweeps
  -m                     every combination of comma-separated values, one job each; if a job fails, the others still run
  seed=0-9               ten seeds; other lists: seed=0-2,7
  hydra/launcher=joblib hydra.launcher.n_jobs=2      jobs in two processes instead of one after the other
  hydra/launcher=slurm hydra.launcher.gpus=1         jobs on a SLURM cluster (docs/CLUSTER.md)

examples
  python src/train.py
  python src/train.py data=pinwheel annotations=two_coin seed=0
  python src/train.py data=mnist model=bayes nets=conv annotations=crowd seed=0
  python src/train.py features.csv answers.csv          (data.path=features.csv annotations.path=answers.csv)
  python src/train.py data=face model=mcvc annotations=quota annotations.pairs_per_annotator=1000
  python src/train.py -m model=scdc,bayes seed=0-9
  python src/train.py -m data=pinwheel,mnist model=scdc,bayes annotations=none,tasks seed=0-2

A run writes report.html, metrics.json, warnings.json, assignments.csv, workers.csv, questions.csv,
restarts.csv, candidates.csv, curves.csv, model.pt, figures/ and checkpoints/ into its directory. report.html shows the
result in a browser; warnings.json lists reasons not to trust it; questions.csv has pairs to ask about, to be filled in.
python src/predict.py assigns new items to the clusters of a run. `make ui` shows all runs. --hydra-help: help of Hydra.
Exit codes: 0 done, 1 a job or the program failed, 2 wrong input, 130 stopped by Ctrl-C.
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
    for one in described(kind)[1 if group in FIXED else 0 :]:  # the first is shown among the choices
        name = f"{group}.{one.spelled}" if group else one.spelled
        # The default of n_clusters depends on the data.
        default = "as many as the data have classes" if one.name == "n_clusters" else shown(one.default)
        lines.append(f"  {name}=".ljust(32) + f" {one.help} [{default}]")
    return lines


def _choices(group: str, chosen: dict[str, str]) -> list[str]:
    """A line for each choice of a group: its name and what it is. A group of :data:`FIXED` has one line for all."""
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
