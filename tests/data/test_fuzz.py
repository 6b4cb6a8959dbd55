"""600 odd files of items, answers and pictures: what they say, or one clear line; never a traceback.

Each seed takes a good file and either writes it in another way that means the same, whose result is compared with the
good one's, or damages it.
"""

import csv
import io
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from semicrowd.data import Dataset, load_dataset
from semicrowd.data.answers import answers_of_files
from semicrowd.errors import UserError
from semicrowd.settings.data import FileSettings

#: Seeds that every test run takes, and all of them.
FAST, ALL = 40, 600
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
GROUPS = pd.DataFrame([(f"t{t}", who, IDS[k], (k + t) % 3) for t in range(2) for who in ("eve", "7") for k in range(8)],
                      columns=["task", "worker", "item", "group"])  # fmt: skip
Bytes = Callable[[np.random.Generator, bytes], bytes]


def text_of(table: pd.DataFrame, **how: Any) -> str:
    return table.to_csv(index=False, **how)


#: The same table in another spelling: name → the file's bytes.
SPELLINGS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "as it is": lambda table: text_of(table).encode(),
    "byte order mark": lambda table: b"\xef\xbb\xbf" + text_of(table).encode(),
    "line ends of Windows": lambda table: text_of(table, lineterminator="\r\n").encode(),
    "everything quoted": lambda table: text_of(table, quoting=csv.QUOTE_ALL).encode(),
    "no last line end": lambda table: text_of(table).rstrip("\n").encode(),
    "empty lines at the end": lambda table: (text_of(table) + "\n\n").encode(),
    "columns in another order": lambda table: text_of(table[["id", *table.columns[:0:-1]]]
                                                      if "id" in table else table[table.columns[::-1]]).encode(),
}  # fmt: skip


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
    rows = list(csv.reader(io.StringIO(content.decode("utf-8", "replace"))))
    values = ["", "inf", "-1", "9223372036854775808", "1e400", "2020-01-01", "x", "u,1", "0", "1.5", "?", " ", "None"]
    for _ in range(rng.integers(1, 8)):
        row = rows[rng.integers(len(rows))]
        if row:
            row[rng.integers(len(row))] = values[rng.integers(len(values))]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def a_column_of_one_kind(rng: np.random.Generator, content: bytes) -> bytes:
    rows = list(csv.reader(io.StringIO(content.decode())))
    column, kind = rng.integers(len(rows[0])), rng.integers(5)
    for number, row in enumerate(rows[1:]):
        row[column] = ["", "same", str(number), f"word {number}", f"2020-01-{number % 28 + 1:02d}"][kind]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def few_rows(rng: np.random.Generator, content: bytes) -> bytes:
    return b"".join(content.splitlines(keepends=True)[: rng.integers(1, 4)])


def in_another_encoding(rng: np.random.Generator, content: bytes) -> bytes:
    name = ["utf-16", "latin-1", "utf-32", "cp1252"][rng.integers(4)]
    return content.decode("utf-8", "replace").encode(name, "replace")


DAMAGE: tuple[Bytes, ...] = (cut, bytes_exchanged, pieces_put_in, lines_mixed)
OF_TEXT: tuple[Bytes, ...] = (cells_exchanged, a_column_of_one_kind, few_rows, in_another_encoding)


def good_arrays(suffix: str) -> bytes:
    file = io.BytesIO()
    if suffix == ".npy":
        np.save(file, np.arange(24, dtype=float).reshape(8, 3))
    elif suffix == ".npz":
        np.savez(file, X=np.arange(24, dtype=float).reshape(8, 3), y=np.arange(8))
    elif suffix == ".parquet":
        TABLE.to_parquet(file)
    else:  # an .xlsx file is an archive
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("xl/workbook.xml", "<workbook/>" * 50)
    return file.getvalue()


def good_picture(suffix: str) -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 255, (12, 12, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, suffix[1:].replace("jpg", "jpeg"))
    return file.getvalue()


def said(read: Callable[[], Any]) -> tuple[Any, str]:
    """What was read, or the one line instead; memory is bounded."""
    tracemalloc.start()
    try:
        return read(), ""
    except UserError as error:
        line = str(error)
        assert line.isprintable(), line
        assert re.search(r"expected|not |needs|cannot|two columns|damaged|otherwise|; ", line), line
        assert 10 < len(line) < 1000
        return None, line
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MEMORY


def table_at(path: Path) -> Dataset:
    return load_dataset("table", Path(), path=path, ignore=()).with_gaps_filled()


def read_table(path: Path) -> None:
    data, _ = said(lambda: table_at(path))
    if data is not None:
        assert np.isfinite(data.features).all()
        assert 0 < data.num_items <= 100
        assert data.columns is not None
        assert data.features.shape[1] == len(data.columns.feature_names)


def read_pairs(path: Path) -> None:
    items = Dataset("table", np.zeros((12, 1), np.float32), ids=tuple(IDS))
    settings = FileSettings(path=path, errors=("raise", "drop")[len(path.name) % 2])
    answers, _ = said(lambda: answers_of_files(items, settings))
    if answers is not None:
        assert set(answers.label.tolist()) <= {0, 1}
        assert (answers.i != answers.j).all()
        assert 0 <= min(answers.i.min(), answers.j.min()) <= max(answers.i.max(), answers.j.max()) < 12


def a_file(folder: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    what = ["items", "pairs", "groups", ".npy", ".npz", ".parquet", ".xlsx", "pictures"][seed % 8]
    if what in ("items", "pairs", "groups"):
        table = {"items": TABLE, "pairs": ANSWERS, "groups": GROUPS}[what]
        spelling = list(SPELLINGS)[rng.integers(len(SPELLINGS))]
        content = SPELLINGS[spelling](table)
        path = folder / f"{what}.csv"
        if rng.random() < 0.25:
            path.write_bytes(content)
            same(what, path, spelling)
            return
        for damage in rng.choice(np.array([*DAMAGE, *OF_TEXT], object), rng.integers(1, 3)):
            content = damage(rng, SPELLINGS["as it is"](table) if damage is a_column_of_one_kind else content or b",")
        path.write_bytes(content)
        (read_table if what == "items" else read_pairs)(path)
    elif what == "pictures":
        for number, suffix in enumerate((".png", ".jpg", ".bmp")):
            content = good_picture(suffix)
            damaged = DAMAGE[rng.integers(2)](rng, content) if rng.random() < 0.5 else content
            (folder / f"{number}{suffix}").write_bytes(damaged)
        data, _ = said(lambda: load_dataset("images", folder, path=folder, features="pixels"))
        assert data is None or np.isfinite(data.features).all()
    else:
        path = folder / f"items{what}"
        good = good_arrays(what)
        if what != ".xlsx" and rng.random() < 0.1:
            path.write_bytes(good)
            assert table_at(path).num_items == (12 if what == ".parquet" else 8)
            return
        path.write_bytes(DAMAGE[rng.integers(3)](rng, good))
        read_table(path)


def same(what: str, path: Path, spelling: str) -> None:
    """The file means what the good one means."""
    good = path.with_name(f"good_{path.name}")
    if what == "items":
        good.write_bytes(SPELLINGS["as it is"](TABLE))
        expected, found = table_at(good), table_at(path)
        assert found.ids == expected.ids == tuple(IDS), spelling
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert expected.columns is not None
        assert found.columns is not None
        names = [found.columns.feature_names.index(name) for name in expected.columns.feature_names]
        np.testing.assert_array_equal(found.features[:, names], expected.features)
        np.testing.assert_array_equal(expected.features[:, 0], TABLE["size"])
        return
    items = Dataset("table", np.zeros((12, 1), np.float32), ids=tuple(IDS))
    good.write_bytes(SPELLINGS["as it is"](ANSWERS if what == "pairs" else GROUPS))
    expected_answers, found_answers = (answers_of_files(items, FileSettings(path=one)) for one in (good, path))
    for name in ("i", "j", "worker", "label"):
        np.testing.assert_array_equal(getattr(found_answers, name), getattr(expected_answers, name))
    assert found_answers.worker_names == expected_answers.worker_names


@pytest.mark.parametrize("seed", range(FAST))
def test_an_odd_file_is_read_or_refused_in_one_line(tmp_path: Path, seed: int) -> None:
    a_file(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FAST, ALL))
def test_more_odd_files_are_read_or_refused_in_one_line(tmp_path: Path, seed: int) -> None:
    a_file(tmp_path, seed)
