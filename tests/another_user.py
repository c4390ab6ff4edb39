"""Another user of this machine, and places that both can see."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
PLACE = "/tmp"
"""The checkout may be in a folder of its user's own, into which no other user comes."""


def _all_come_into(folders: Iterable[Path]) -> bool:
    return all(folder.stat().st_mode & 0o001 for folder in folders)


_OWN = Path(sys.executable).resolve()
PYTHON = str(_OWN) if _all_come_into(_OWN.parents) else "/usr/bin/python3"
"""One that all may run, with the standard library alone: the tests' own may lie in its user's home."""
ALL_SEE_THE_CHECKOUT = _all_come_into(Path(__file__).resolve().parents)
"""Else another user cannot read what of the package is read late, as the store's migrations are."""


@contextmanager
def seen_by_all() -> Iterator[Path]:
    """Make a folder that every user may look into: pytest's own are their user's alone."""
    folder = Path(tempfile.mkdtemp(prefix="nfvbed-test-", dir=PLACE))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for path in (folder, *folder.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(folder)


@contextmanager
def may_only_read() -> Iterator[None]:
    """Be a user whom permissions bind: the superuser becomes another user meanwhile, with a TMPDIR of its own."""
    if os.geteuid() != 0:
        yield
        return
    usual, own = tempfile.tempdir, tempfile.mkdtemp(prefix="nfvbed-nobody-", dir=PLACE)
    os.chown(own, NOBODY, NOBODY)
    tempfile.tempdir = own
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        tempfile.tempdir = usual
        shutil.rmtree(own)
