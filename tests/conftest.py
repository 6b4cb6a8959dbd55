"""Fixtures for tests of several folders."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

# Shapes and types of the signatures are checked while the tests run, at no cost to anyone else. Before other imports.
install_import_hook(["semicrowd.expfam", "semicrowd.inference", "semicrowd.nets"], "beartype.beartype")

from semicrowd.data.fetch import data_root, fetch  # noqa: E402
from semicrowd.errors import UserError  # noqa: E402


@pytest.fixture(scope="session")
def public_data(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``public_data(name)``: a data root with a public data set, from the data root or the mirror of this machine.

    The network is left alone; where the files are not on this machine, the test is skipped and says so.
    """
    root = tmp_path_factory.mktemp("public-data")

    def find(name: str) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SEMICROWD_MIRROR", os.environ.get("SEMICROWD_MIRROR") or str(data_root()))
            patch.setenv("SEMICROWD_OFFLINE", "1")
            try:
                fetch(name, root)
            except UserError as error:
                pytest.skip(f"real data not on this machine: {error}")
        return root

    return find
