"""Runs and sweeps in MLflow: parameters, curves, metrics, figures, where they came from.

``start_run`` is for a run, ``open_sweep`` around the launch of a sweep's jobs, whose ``start_run`` finds the parent by
an environment variable. With ``logger=none`` they do nothing; MLflow is imported when it is needed.
"""

from semicrowd.tracking.runs import Tracker, open_sweep, start_run

__all__ = ["Tracker", "open_sweep", "start_run"]
