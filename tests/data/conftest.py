"""A web server on this machine alone, for sources that download."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest


class Served(NamedTuple):
    """A folder and the address at which its files are."""

    folder: Path
    address: str


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """An empty folder on the web."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_QuietHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Served(folder, f"http://127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()
            thread.join()
