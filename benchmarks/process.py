"""A measurement in a process of its own, whose memory, threads and caches are nobody else's."""

import json
import os
import subprocess
import sys
from typing import Any


def measured_apart(script: str, *arguments: object, as_a_user: bool = False) -> Any:
    """What a script prints last, as JSON.

    Parameters
    ----------
    as_a_user : without OMP_NUM_THREADS, which users do not set
    """
    environment = {name: value for name, value in os.environ.items() if not (as_a_user and name == "OMP_NUM_THREADS")}
    command = [sys.executable, script, *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])
