"""Damaged files of items and answers: they are read, or refused in one line; never a traceback, in bounded memory."""

import csv
import io
import tracemalloc
from collections.abc import Callable
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
Bytes = Callable[[np.random.Generator, bytes], bytes]


def cut(rng: np.random.Generator, content: bytes) -> bytes:
    return content[: rng.integers(len(content))]


def bytes_exchanged(rng: np.random.Generator, content: bytes) -> bytes:
    changed = bytearray(content)
    for position in rng.integers(len(content), size=rng.integers(1, 20)):
        changed[position] = rng.integers(256)
    return bytes(changed)


def pieces_put_in(rng: np.random.Generator, content: bytes) -> bytes:
    pieces = [b",", b'"', b"\n", b"\r", b";", b"\0", b"\xff\xfe", b"inf", b"1e999", b"NaN", b"(" * 50, b"=cmd()",
              "é".encode("latin-1"), b"<script>", b"9" * 400, b"\xf0\x9f\x98\x80", b"../../passwd", b" "]  # fmt: skip
    for _ in range(rng.integers(1, 6)):
        at = rng.integers(len(content) + 1)
        content = content[:at] + pieces[rng.integers(len(pieces))] + content[at:]
    return content


def lines_mixed(rng: np.random.Generator, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    chosen = rng.integers(len(lines), size=rng.integers(1, 2 * len(lines)))
    return b"".join(lines[k] for k in chosen)


def cells_exchanged(rng: np.random.Generator, content: bytes) -> bytes:
    rows = list(csv.reader(content.decode("utf-8", "replace").splitlines()))
    values = ["", "inf", "-1", "9223372036854775808", "1e400", "2020-01-01", "x", "u,1", "0", "1.5", "?", " ", "None"]
    for _ in range(rng.integers(1, 8)):
        row = rows[rng.integers(len(rows))]
        if row:
            row[rng.integers(len(row))] = values[rng.integers(len(values))]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


DAMAGE: tuple[Bytes, ...] = (cut, bytes_exchanged, pieces_put_in, lines_mixed, cells_exchanged)


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 600))])
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    content = (TABLE, ANSWERS)[seed % 2].to_csv(index=False).encode()
    for damage in rng.choice(np.array(DAMAGE, object), rng.integers(1, 3)):
        content = damage(rng, content or b",")
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
