"""``semicrowd ui``: MLflow's pages of all runs."""

import argparse
import os
import sys
from collections.abc import Sequence

from reproduction.commandline import without_traceback
from reproduction.tracking import open_store

HOST = "127.0.0.1"


@without_traceback
def main(given: Sequence[str] | None = None) -> int:
    """Become MLflow's server on this machine, for this machine only."""
    parser = argparse.ArgumentParser(prog="semicrowd ui", description="open MLflow's pages of all runs")
    parser.add_argument("--port", type=int, default=5000, help=f"on {HOST} (default 5000)")
    options = parser.parse_args(given)
    client, experiment = open_store()  # makes it, where there is none
    print(f"MLflow: http://{HOST}:{options.port}/#/experiments/{experiment} (Ctrl-C ends it)", flush=True)
    store, port = client.tracking_uri, str(options.port)
    server = ["-m", "mlflow", "server", "--backend-store-uri", store, "--host", HOST, "--port", port]
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"  # nothing here needs a second program
    os.execv(sys.executable, [sys.executable, *server, "--workers", "1"])
