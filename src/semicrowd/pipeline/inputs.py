"""Digests of the inputs of the pipeline's results, by which outdated results are recognised.

Beside a result is the sha256 of all that it depends on: settings, code, answers, data. A result of other inputs is
deleted. A result of the same inputs is kept, and continued if it was stopped.
"""

import shutil
from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path

import yaml

from semicrowd.errors import UserError
from semicrowd.files import is_in_use, write_text

#: File beside a result with the digest of what it was made of.
INPUTS = "inputs.sha256"


def digest(*parts: object) -> str:
    """sha256 of files, of folders with all that is in them, and of plain values.

    Raises
    ------
    UserError
        Where a file is not there.
    """
    found = sha256()
    for part in parts:
        for one in _digests(part):
            found.update(one)
    return found.hexdigest()


def _digests(part: object) -> Iterator[bytes]:
    if not isinstance(part, Path):
        yield sha256(yaml.safe_dump(part).encode()).digest()
    elif part.is_dir():
        for path in sorted(part.rglob("*")):
            if path.is_file():
                yield sha256(path.relative_to(part).as_posix().encode()).digest()
                yield from _digests(path)
    elif part.is_file():
        with part.open("rb") as file:  # piece by piece: a user's images may be larger than the memory
            yield file_digest(file, "sha256").digest()
    else:
        raise UserError(f"{part}: not there; an earlier stage of the pipeline writes it, or it is yours to bring")


def forget_others(place: Path, note: Path, made_of: str) -> bool:
    """Delete a result of other inputs than ``made_of``; returns whether there is a result of these inputs.

    Parameters
    ----------
    place : folder of the result
    note : file with the digest of what the result was made of

    Raises
    ------
    UserError
        If it cannot be deleted, since it would then be taken for a result of the new inputs, or if it is still made.
    """
    if note.is_file() and note.read_text(encoding="utf-8").strip() == made_of:
        return True
    if is_in_use(place):
        raise UserError(f"{place}: another process is running here, with other inputs; wait for it or end it")
    note.unlink(missing_ok=True)  # first: what is left after a kill is no result of its inputs
    try:
        shutil.rmtree(place)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{place}: cannot be deleted: {error.strerror}") from error
    write_text(note, f"{made_of}\n")
    return False


def is_current(result: Path, made_of: str) -> bool:
    """Whether there is a result of the inputs ``made_of``; a result of other inputs is deleted with its folder.

    Parameters
    ----------
    result : the file that is written last, in a folder of its own
    """
    return forget_others(result.parent, result.with_name(INPUTS), made_of) and result.is_file()
