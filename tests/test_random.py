"""Streams are functions of their address: seed, name and indices."""

import itertools
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest
import torch
from scipy import stats

from semicrowd.errors import UserError
from semicrowd.random import PURPOSES, stream, torch_stream

ADDRESSES = [(seed, name, *rest) for seed in range(4) for name in ("init", "order", "noise")
             for rest in [(), (0,), (1,), (0, 1), (1, 1), (0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]]  # fmt: skip


@pytest.mark.parametrize("make", [lambda a: stream(*a).random(), lambda a: torch.rand(1, generator=torch_stream(*a))])
def test_an_address_has_its_own_draws_always_the_same(make: object) -> None:
    assert callable(make)
    once, again = [float(make(a)) for a in ADDRESSES], [float(make(a)) for a in reversed(ADDRESSES)]
    assert once == again[::-1], "neither order nor other streams matter"
    assert len(set(once)) == len(ADDRESSES)


def test_a_trailing_zero_is_part_of_the_address() -> None:
    """NumPy pads short seeds with zeros."""
    assert stream(3, "init").random() != stream(3, "init", 0).random()


#: Purpose and the caller's indices, and the family and numbers that this stream has always had.
BEFORE_NAMES = [
    (("training/order", 7), ("order", 7)),
    (("training/answers", 7, 1), ("order", 7, 1)),
    (("training/noise", 7, 3, 0), ("noise", 7, 3, 0)),
    (("networks", 2), ("init", 2)),
    (("partition", 2, 5), ("init", 2, 5)),
    (("partition", 2, 5, 9), ("init", 2, 5, 9)),
    (("partition/views",), ("noise", 0, 0, 0, 0, 1)),
    (("vae/order", 7), ("order", 0, 0, 7)),
    (("vae/noise", 7), ("noise", 0, 0, 0, 7)),
    (("classifier/order", 7), ("order", 0, 1, 7)),
    (("teaching/order", 7), ("order", 0, 2, 7)),
    (("teaching/noise", 7), ("noise", 0, 0, 0, 7, 3)),
    (("answers/networks", 2, 5), ("init", 2, 5, 0, 0)),
    (("answers/noise",), ("noise", 0, 0, 0, 0, 2)),
    (("answers/spectral",), ("init", 0, 0, 0, 0, 0)),
    (("answers/reversed",), ("init", 0, 0, 0, 0, 1)),
    (("learners/networks", 2, 5), ("init", 2, 5, 0, 1)),
    (("learners/noise",), ("noise", 0, 0, 0, 0, 4)),
    (("evaluation/noise",), ("evaluation",)),
    (("evaluation/items",), ("evaluation", 1)),
    (("evaluation/samples",), ("evaluation", 1)),
    (("evaluation/snapshots",), ("evaluation", 2)),
    (("annotations/flipped",), ("annotations", 1)),
]


@pytest.mark.parametrize(("purpose", "address"), BEFORE_NAMES)
def test_a_purpose_has_the_draws_of_the_address_that_it_had_before(
    purpose: tuple[str, ...], address: tuple[str, ...]
) -> None:
    family, *numbers = address
    words = [11, zlib.crc32(family.encode()), len(numbers), *map(int, numbers)]
    expected = np.random.default_rng(np.random.SeedSequence(words)).integers(2**62)
    assert stream(11, purpose[0], *map(int, purpose[1:])).integers(2**62) == expected


def test_every_purpose_is_known_and_only_the_two_of_one_number_share_their_draws() -> None:
    assert {purpose[0] for purpose, _ in BEFORE_NAMES} == set(PURPOSES)
    shared = [address for _, address in BEFORE_NAMES]
    assert [address for address in set(shared) if shared.count(address) > 1] == [("evaluation", 1)]


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


def test_torch_generators_live_on_the_device_asked_for() -> None:
    assert torch_stream(0, "noise", device="cpu").device == torch.device("cpu")


@pytest.mark.parametrize("make", [stream, torch_stream])
def test_a_negative_seed_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(UserError, match="seed=-1: expected an integer >= 0"):
        make(-1, "init")
