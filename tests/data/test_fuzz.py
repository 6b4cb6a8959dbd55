"""Damaged files of items and answers: they are read, or refused in one line; never a traceback, in bounded memory."""

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd.data import Dataset
from semicrowd.data.answers import file as answers_of_file
from semicrowd.data.table import load_table
from semicrowd.errors import UserError

#: Bytes of memory that reading a file of some kilobytes may take.
MEMORY = 100_000_000
#: Ids as people have them: with separators, quotes, letters of all scripts.
IDS = ["u,1", 'u"2', "Zoë", "图片 4", "u;5", "u\t6", "007", "-8", "1e3", "u 10", "nan", "Ünï.png"]
TABLE = pd.DataFrame({
    "id": IDS, "size": np.round(np.linspace(-3, 8, 12), 3), "kind": list("aabbccaabbcc"), "old": [True, False] * 6,
    "count": [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], "label": ["x", "y", "z"] * 4,
})  # fmt: skip
ANSWERS = pd.DataFrame([(IDS[k], IDS[m], who, (k + m) % 2) for k in range(6) for m in range(k + 1, 6)
                        for who in ("Özil", "o'brien")], columns=["i", "j", "worker", "label"])  # fmt: skip
PIECES = [
    b",", b'"', b"\n", b"\r", b";", b"\0", b"\xff\xfe", b"inf", b"1e999", b"9223372036854775808", b"NaN", b"(" * 50,
    b"=cmd()", "é".encode("latin-1"), b"<script>", b"9" * 400, b"\xf0\x9f\x98\x80", b"2020-01-01", b"?", b" ",
]  # fmt: skip


def damaged(rng: np.random.Generator, content: bytes) -> bytes:
    """Cut, or with pieces put in, left out, or exchanged for other pieces, other bytes or lines from elsewhere."""
    if rng.random() < 0.2:
        return content[: rng.integers(len(content))]
    for _ in range(rng.integers(1, 12)):
        lines, at = content.splitlines(keepends=True) or [b","], rng.integers(len(content) + 1)
        piece = (PIECES[rng.integers(len(PIECES))], rng.bytes(1), lines[rng.integers(len(lines))], b"")[rng.integers(4)]
        content = content[:at] + piece + content[at + rng.integers(12) * rng.integers(2) :]
    return content


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 600))])
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    content = damaged(rng, (TABLE, ANSWERS)[seed % 2].to_csv(index=False).encode())
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    line = ""
    tracemalloc.start()
    try:
        if seed % 2 == 0:
            data = load_table(path=path).with_gaps_filled()
            assert np.isfinite(data.features).all()
            assert 0 < data.num_items <= 100
        else:
            items = Dataset("table", np.zeros((12, 1), np.float32), ids=tuple(IDS))
            answers = answers_of_file(items, path=path)
            assert set(answers.label.tolist()) <= {0, 1}
            assert (answers.i != answers.j).all()
            assert 0 <= min(answers.i.min(), answers.j.min()) <= max(answers.i.max(), answers.j.max()) < 12
    except UserError as error:
        line = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MEMORY
    assert line.isprintable()
