"""The page of ``python src/train.py --help``."""

from pathlib import Path

import yaml

_PAGE = """\
Cluster items from their features and a few noisy crowd answers: train one model, or a sweep of them.

usage: python src/train.py [-m] [key=value ...]

settings (default in brackets)
  data=<name>            what to cluster [{data}]
  model=<name>           how [{model}]
  nets=<name>            its networks [{nets}]
  protocol=<name>        how it is trained [{protocol}]
  annotations=<name>     answers of workers to "are these two the same kind of thing?" [{annotations}]
  annotations.path=<csv> with annotations=file: columns i,j,worker,label[,task]; label 1 same, 0 different
  data.path=<file>       with data=table: .csv with a header or .npy, one item a row
  seed=<int>             [{seed}]  with -m also seed=0-9 or seed=0-2,7
  restarts=<int>         initial values fitted at once, the best by ELBO is kept; bayes and scdc only [{restarts}]
  epochs=<int>           the same [{epochs}, or what conf/setting says for the data and the model]
  batch_size=<int>       items a step; the same [{batch_size}, or what conf/setting says]
  model.K=<int>          number of clusters; of bayes the initial one [as the model and conf/setting say]
  resume=true            go on from the last finished epoch of the same run directory [false]
  figures=false          draw no figures [true]
  hydra.run.dir=<path>   where the run's files go [runs/<the arguments>; a sweep: multirun/<the arguments>]
  any other setting of conf/, as model.learning_rate=1e-3; --cfg job shows all of them for your arguments

choices
{choices}

sweeps
  -m                     every combination of comma-separated values, one job each; one that fails leaves the rest alone
  hydra/launcher=joblib hydra.launcher.n_jobs=2      jobs in two processes instead of one after the other

examples
  python src/train.py
  python src/train.py data=pinwheel annotations=two_coin seed=0
  python src/train.py data=mnist model=bayes nets=conv annotations=crowd seed=0
  python src/train.py data=table data.path=features.csv annotations=file annotations.path=answers.csv model.K=20
  python src/train.py data=face model=mcvc annotations=quota annotations.pairs_per_annotator=1000
  python src/train.py -m model=scdc,bayes seed=0-9
  python src/train.py -m data=pinwheel,mnist model=scdc,bayes annotations=none,tasks seed=0-2

A run leaves metrics.json, assignments.csv, workers.csv, restarts.csv, curves.csv, figures/ and checkpoints/ in its
directory. python src/predict.py assigns new items with it; `make ui` shows all runs; --hydra-help is about Hydra.
Exit codes: 0 done, 1 a job or the program failed, 2 an input to mend, 130 stopped by Ctrl-C.
"""
_GROUPS = ("data", "model", "nets", "protocol", "annotations", "trainer", "logger")


def help_page(conf: Path) -> str:
    """The page, with the choices and defaults that the configuration folder has."""
    config = yaml.safe_load((conf / "config.yaml").read_text())
    chosen = {key: value for entry in config["defaults"] if isinstance(entry, dict) for key, value in entry.items()}
    choices = "\n".join(line for group in _GROUPS for line in _choices(conf / group))
    return _PAGE.format(choices=choices, **{key: value for key, value in (config | chosen).items() if " " not in key})


def _choices(group: Path) -> list[str]:
    """A line for each choice of a group: its name and the comment that heads its file."""
    lines = []
    for path in sorted(group.glob("*.yaml")):
        heading = next(line for line in path.read_text().splitlines() if not line.startswith("# @package"))
        comment = heading.lstrip("# ").strip() if heading.startswith("#") else ""
        lines.append(f"  {group.name}={path.stem}".ljust(27) + " " + comment)
    return [line.rstrip() for line in lines]
