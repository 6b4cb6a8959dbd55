"""Figures of a run, drawn from arrays; every function returns a matplotlib Figure and touches no file.

::

    paths = run_figures(RunFigureData(...), run_dir / "figures")     # the figures that the run's data allow

Fields of ``RunFigureData``: see :mod:`semicrowd.figures.run`.
"""

from semicrowd.figures.run import RunFigureData, run_figures

__all__ = ["RunFigureData", "run_figures"]
