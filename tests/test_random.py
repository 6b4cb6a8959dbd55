"""Streams are functions of their address: seed, name and indices."""

import ast
import itertools
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats

import semicrowd
from semicrowd.random import stream, torch_stream

ADDRESSES = [(seed, name, *rest) for seed in range(4) for name in ("init", "order", "noise")
             for rest in [(), (0,), (1,), (0, 1), (1, 1), (0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]]  # fmt: skip


@pytest.mark.parametrize("make", [lambda a: stream(*a).random(), lambda a: torch.rand(1, generator=torch_stream(*a))])
def test_an_address_has_its_own_draws_always_the_same(make: object) -> None:
    assert callable(make)
    once, again = [float(make(a)) for a in ADDRESSES], [float(make(a)) for a in reversed(ADDRESSES)]
    assert once == again[::-1], "neither order nor other streams matter"
    assert len(set(once)) == len(ADDRESSES)


def _names() -> list[tuple[str, str]]:
    """File and name of every stream that the code draws from."""
    found = []
    for path in sorted(Path(semicrowd.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("stream", "torch_stream", "shuffled"):
                given = [one.value for one in node.args if isinstance(one, ast.Constant)]
                found += [(path.name, one) for one in given if isinstance(one, str)]
    return found


def test_names_of_streams_are_apart_and_nothing_else_draws() -> None:
    names = {name for _, name in _names()}
    assert len(names) > 40
    assert len({zlib.crc32(name.encode()) for name in names}) == len(names)
    for path in Path(semicrowd.__file__).parent.rglob("*.py"):
        if path.name != "random.py":
            assert "default_rng(" not in path.read_text(encoding="utf-8"), f"{path}: draws without a name"


def test_numpy_streams_need_no_torch() -> None:
    code = "import sys; from semicrowd.random import stream; stream(0, 'data'); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_neighbouring_addresses_are_no_more_alike_than_chance() -> None:
    draws = np.array([stream(seed, "init").random(50) for seed in range(200)])
    assert stats.kstest(draws[:, 0], "uniform").pvalue > 0.001
    correlation = [np.corrcoef(a, b)[0, 1] for a, b in itertools.pairwise(draws)]
    assert abs(np.mean(correlation)) < 4 / (199 * 50) ** 0.5


def test_streams_are_the_same_in_another_process() -> None:
    """Python salts its own hashes anew in each process."""
    code = "from semicrowd.random import stream; print(stream(3, 'order', 7).integers(2**40))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "123"},
    )  # fmt: skip
    assert int(result.stdout) == stream(3, "order", 7).integers(2**40)
