"""Runs and sweeps in MLflow: parameters, curves, metrics, figures, where they came from.

For a run::

    with start_run(settings, run_dir, provenance) as tracker:    # the contents of config.yaml and provenance.json
        tracker.log_epoch(epoch, {"elbo/epoch": -1.2})        # after every epoch
        tracker.finish(metrics, [run_dir / "figures", ...])   # metrics.json's content; files or folders below run_dir

For a sweep, around the launch of its jobs (their ``start_run`` finds the parent by an environment variable, worker
processes included)::

    with open_sweep(settings, sweep_dir, {"command": command}) as sweep:    # settings: of any of the jobs
        ...
        sweep.finish(failed, [sweep_dir / "jobs.csv"])            # failed: number of jobs

With ``logger=none`` all of these do nothing. MLflow itself is imported only when it is needed.
"""

from semicrowd.tracking.runs import RunTracker, SweepTracker, open_sweep, start_run

__all__ = ["RunTracker", "SweepTracker", "open_sweep", "start_run"]
