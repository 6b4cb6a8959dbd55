"""Files that are called by a part of their path: without the ending, or without folders."""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from semicrowd.errors import UserError

#: The ending of a file's name, such as .jpg or .tiff.
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{2,4}$")


def files_called(cells: Collection[str], ids: Sequence[str], source: object = "answers") -> dict[str, int]:
    """Cell → item, of cells that fit the path of exactly one item; empty unless all ids are names of files.

    Of cell and path, one is the end of the other, folder by folder; a cell may lack the ending.

    Parameters
    ----------
    cells : that are not ids
    ids : [N] of the items
    source : the file of answers, for the message

    Raises
    ------
    UserError
        If a cell fits several of them.
    """
    if not cells or not all(_ENDING.search(name) for name in ids):
        return {}
    of_stem = defaultdict[str, list[int]](list)
    for item, name in enumerate(ids):
        of_stem[_parts(_ENDING.sub("", name))[-1]].append(item)
    called = {}
    for cell in sorted(cells):
        own = _parts(cell)
        if not own:
            continue
        stems = {own[-1], _ENDING.sub("", own[-1])}
        fitting = [item for stem in stems for item in of_stem.get(stem, ()) if _fits(own, ids[item])]
        if len(fitting) > 1:
            raise UserError(f"{source}: {cell} may be {' or '.join([ids[item] for item in fitting][:3])}; expected the "
                            "path of one of these files")
        if fitting:
            called[cell] = fitting[0]
    return called


def _parts(name: str) -> tuple[str, ...]:
    return PurePosixPath(name.strip().replace("\\", "/")).parts


def _fits(own: tuple[str, ...], name: str) -> bool:
    for other in (_parts(name), _parts(_ENDING.sub("", name))):
        shorter = min(len(own), len(other))
        if own[-shorter:] == other[-shorter:]:
            return True
    return False
