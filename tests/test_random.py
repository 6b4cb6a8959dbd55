"""Streams are functions of their address: seed, name and indices."""

import ast
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import torch

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


def test_streams_are_the_same_in_another_process_and_need_no_torch() -> None:
    """Python salts its own hashes anew in each process."""
    code = "import sys; from semicrowd.random import stream; n = stream(3, 'order', 7).integers(2**40)"
    words = [sys.executable, "-c", f"{code}; print(n, 'torch' in sys.modules)"]
    found = subprocess.run(words, capture_output=True, text=True, env=os.environ | {"PYTHONHASHSEED": "123"})
    assert found.stdout.split() == [str(stream(3, "order", 7).integers(2**40)), "False"], found.stderr
