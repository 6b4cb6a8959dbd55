"""A large table within bounded memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

#: The command, and the most memory that its process had, in KiB.
_CHECK = """
import sys
from semicrowd.run.check import main
code = main(sys.argv[1:])
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM:")))
sys.exit(code)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read from /proc")
def test_a_table_of_two_hundred_megabytes_is_checked_in_less_than_two_gigabytes(tmp_path: Path) -> None:
    path, rng = tmp_path / "items.csv", np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join(f"x{d}" for d in range(20)) + "\n")
        while file.tell() < 200 * 10**6:
            numbers = rng.integers(10**6, 10**7, (5_000, 20))
            file.write("\n".join(",".join(map(str, row)) for row in numbers.tolist()) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", _CHECK, f"data.path={path}"], capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *_, peak = (line for line in done.stdout.splitlines() if line.startswith("VmHWM:"))
    assert int(peak.split()[1]) < 2 * 10**6, peak
