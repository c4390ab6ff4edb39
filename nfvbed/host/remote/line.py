"""Turns an argument list into the one line that sshd gives to the account's shell.

SSH has no argument lists: a client sends a line, which a shell splits. Only this module makes such lines.
"""

import shlex
from collections.abc import Sequence

from nfvbed.errors import InternalError

MAX_LINE_BYTES = 131_071
"""The longest argument of Linux (MAX_ARG_STRLEN, execve(2)), as which the shell gets the line, less its final zero."""
TRY_OUT = "nfvbed: 'one' \"two\"  $(three) `four` \\five !six *\nseven"
"""What a shell of another kind, or one that writes something of its own, does not print as it is."""


def remote_line(argv: Sequence[str]) -> str:
    """Return an argument list as one line, quoted once for a POSIX shell.

    Raises:
        InternalError: it is empty, longer than Linux takes, or has a zero byte, which no argument can.
    """
    if not argv:
        raise InternalError("an empty argument list was given for another host")
    if any("\0" in argument for argument in argv):
        raise InternalError("an argument for another host has a zero byte", where=argv[0])
    line = shlex.join(argv)
    if len(line.encode()) > MAX_LINE_BYTES:
        raise InternalError(
            "an argument list is too long for another host",
            where=argv[0],
            observed=f"{len(line.encode())} bytes; {MAX_LINE_BYTES} fit",
            fix="copy the data as a file",
        )
    return line


def ending_in_time(argv: Sequence[str], timeout_s: float) -> list[str]:
    """Return a command whose host itself ends it after the time-out, even after the connection was lost."""
    return ["timeout", "--kill-after=2", f"{timeout_s:g}", *argv]
