"""``python -m semicrowd.tracking.ui``: MLflow's pages on this machine, for this machine only, without telemetry."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from semicrowd.errors import UserError, without_traceback
from semicrowd.tracking.store import SQLITE, open_store

HOST = "127.0.0.1"


@without_traceback
def main(arguments: Sequence[str] | None = None) -> int:
    """Make the store where it is missing, and become MLflow's server, which Ctrl-C ends."""
    parser = argparse.ArgumentParser(prog="semicrowd ui", description="open the tracking UI")
    parser.add_argument("--port", default="5000", help=f"on {HOST} (default 5000)")
    parser.add_argument("--uri", help="sqlite:///<file> of the store (default: MLFLOW_TRACKING_URI, else mlflow.db)")
    options = parser.parse_args(arguments)
    if not (options.port.isascii() and options.port.isdigit() and 1 <= int(options.port) <= 65535):
        raise UserError(f"--port {options.port}: expected a whole number from 1 to 65535")
    uri = options.uri or os.environ.get("MLFLOW_TRACKING_URI")
    if uri and not uri.startswith(SQLITE):
        raise UserError(f"--uri {uri}: expected sqlite:///<file>; a tracking server has pages of its own")
    store = open_store(uri, None)
    os.chdir(Path(unquote(store.uri.removeprefix(SQLITE))).parent)  # where MLflow leaves folders of its own
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    address = f"http://{HOST}:{options.port}/#/experiments/{store.experiment_id}/runs?workflowType=machine_learning"
    print(f"MLflow: {address} (Ctrl-C ends it)", flush=True)
    server = "-m", "mlflow", "server", "--backend-store-uri", store.uri, "--host", HOST, "--port", options.port
    os.execv(sys.executable, [sys.executable, *server, "--workers", "1"])


if __name__ == "__main__":
    sys.exit(main())
