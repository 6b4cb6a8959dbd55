"""A method is one file and one line: added to a copy of the package, every part of the program has it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The file: the items are cut by their first column into parts of equal size.
FILE = '''
"""Quantiles of the first column."""

from dataclasses import dataclass

import numpy as np

from semicrowd.fitting.result import Assignment
from semicrowd.methods.unsupervised import FeaturesOnly
from semicrowd.settings.fields import setting, whole
from semicrowd.settings.parameters import CountedParameters


@dataclass(eq=False, repr=False, kw_only=True)
class QuantileParameters(CountedParameters):
    """Parameters of :class:`Quantiles`."""

    column: int = setting(0, "that the items are cut by", whole(0))


class Quantiles(QuantileParameters, FeaturesOnly):
    """Quantiles of a column.

    Attributes
    ----------
    edges_ : [K - 1] between the parts
    """

    edges_: np.ndarray

    def _learn(self, features: np.ndarray) -> None:
        self.edges_ = np.quantile(features[:, self.column], np.arange(1, self.n_clusters) / self.n_clusters)

    def _assign(self, features: np.ndarray) -> Assignment:
        return Assignment.hard(np.searchsorted(self.edges_, features[:, self.column]))
'''
#: The line.
LINE = '    "quantiles": Entry("quantiles.Quantiles", "Quantiles of a column; answers are ignored."),\n'
#: What a user does with it, in a process that has the copy: exits with 1 where a part does not know the method.
USE = """
import sys
from pathlib import Path
import numpy as np
import semicrowd
from semicrowd.pipeline.inputs import run_modules
from semicrowd.run.main import main as train
run = Path("run")
assert Path(semicrowd.__file__).is_relative_to(Path.cwd()), semicrowd.__file__
assert train(["--help", "model=quantiles"]) == 0
arguments = ["data=pinwheel", "annotations=none", "model=quantiles", "model.column=1", "logger=none", "figures=false"]
assert train([*arguments, f"hydra.run.dir={run}"]) == 0
assert train(["data=pinwheel", "model=quantiles", "model.colum=1"]) == 2
fitted = semicrowd.load(run / "model.pt")
assert type(fitted) is semicrowd.Quantiles and fitted.column == 1
table = np.random.default_rng(0).normal(size=(100, 2))
expected = (table[:, 1][:, None] > fitted.edges_).sum(1)
assert np.array_equal(fitted.predict(table), expected)
own = semicrowd.Quantiles(4, column=0).fit(table)
own.save("own.pt")
assert np.array_equal(semicrowd.load("own.pt").labels_, own.labels_)
assert np.bincount(own.labels_).tolist() == [25] * 4
assert "semicrowd.methods.quantiles" in run_modules("quantiles", "pinwheel")
"""


def test_a_method_is_one_file_and_one_line(tmp_path: Path) -> None:
    for part in ("src", "conf"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    package = tmp_path / "src" / "semicrowd"
    (package / "methods" / "quantiles.py").write_text(FILE.lstrip())
    listed = package / "settings" / "methods.py"
    before, after = listed.read_text().split('    "kmeans": ')
    listed.write_text(f'{before}{LINE}    "kmeans": {after}')
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", USE], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "model=quantiles" in done.stdout
    assert "Quantiles of a column; answers are ignored. *" in done.stdout
    assert "model.column=" in done.stdout
    assert "model.colum" in done.stderr
