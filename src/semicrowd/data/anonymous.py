"""Names of annotators as salted hashes: who has the results does not have the names.

The salt is a secret of this machine and lies outside every run's folder, so that a run can be passed on, and so that
the same person has the same name in all runs and in answers about new items.
"""

import hashlib
import os
import secrets
from dataclasses import replace
from pathlib import Path

import numpy as np
from filelock import FileLock

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.errors import UserError

#: The salt's file in the data root, which only its owner can read.
_FILE = "salt"
#: Bytes of a salt.
_SALT = 32
#: Bytes of a hash: of a thousand people two have the same one in one crowd of two million.
_HASH = 5


def anonymised(answers: PairAnnotations, root: Path) -> PairAnnotations:
    """The same answers, their annotators called ``person-`` and ten digits, and numbered in the order of these names.

    Parameters
    ----------
    root : folder of the salt, which is made where there is none; ``SEMICROWD_SALT`` is one for several machines

    Raises
    ------
    UserError
        Where no salt can be read or made.
    """
    salt = _salt(root)
    names = [f"person-{hashlib.blake2b(name.encode(), digest_size=_HASH, key=salt).hexdigest()}"
             for name in answers.worker_names]  # fmt: skip
    order = np.argsort(names)
    true = [None if one is None else one[order] for one in (answers.true_sensitivity, answers.true_specificity)]
    return replace(
        answers, worker=np.argsort(order)[answers.worker], worker_names=tuple(names[m] for m in order),
        true_sensitivity=true[0], true_specificity=true[1],
        history=None if answers.history is None else answers.history[order],
    )  # fmt: skip


def _salt(root: Path) -> bytes:
    given = os.environ.get("SEMICROWD_SALT")
    if given:
        return hashlib.sha256(given.encode()).digest()
    path = root / _FILE
    try:
        if not path.exists():
            root.mkdir(parents=True, exist_ok=True)
            with FileLock(root / f"{_FILE}.lock"):  # of two runs that start at once, both take the first one's salt
                if not path.exists():
                    new = path.with_name(f".{_FILE}.{os.getpid()}.tmp")  # nobody may see it half-written
                    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                        file.write(secrets.token_bytes(_SALT))
                    new.replace(path)
        salt = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be used: {error.strerror}; annotations.anonymise=true keeps its salt there, "
                        "or takes SEMICROWD_SALT") from error
    if len(salt) != _SALT:
        raise UserError(f"{path}: not a salt of {_SALT} bytes; remove it, names are then new ones")
    return salt
