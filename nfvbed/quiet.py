"""Whether a trial is going on this host: what else runs here, as a dashboard, must be still meanwhile.

A process that measures holds a name among the kernel's abstract Unix sockets (unix(7)). There is no file that could be
left behind, the kernel frees the name however its holder ends, and to look costs a few microseconds.
"""

import contextlib
import socket
from collections.abc import Iterator
from typing import Final

MOST: Final = 4
"""Processes that measure at once on one host, as on several sites; further ones are not seen."""
_NAME: Final = "\0nfvbed-trial-{}"


@contextlib.contextmanager
def trial_going() -> Iterator[None]:
    """Say so while the block runs; where that is not possible, go on all the same."""
    held = _held()
    try:
        yield
    finally:
        if held is not None:
            held.close()


def trial_is_going() -> bool:
    """Return whether a process in this network namespace is in a trial."""
    return any(_is_bound(_NAME.format(number)) for number in range(MOST))


def _held() -> socket.socket | None:
    held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    for number in range(MOST):
        with contextlib.suppress(OSError):  # another process has this one
            held.bind(_NAME.format(number))
            return held
    held.close()
    return None


def _is_bound(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(name)
        except OSError:
            return False
        return True
