"""What tests of fits have in common."""

import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Lightning against this torch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield
