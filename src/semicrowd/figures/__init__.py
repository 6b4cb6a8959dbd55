"""Figures of a run. A function returns a matplotlib Figure; :mod:`semicrowd.figures.run` writes all of a run."""
