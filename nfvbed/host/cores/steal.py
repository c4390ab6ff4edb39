"""What the hypervisor took of each core, in ns: the kernel's own account, read by a BPF program.

/proc/stat has it in steps of 10 ms, of which a trial has to last a hundred to say how much was stolen within it.
`nfvbed-steal` attaches the program and hands over its map, which this process then has in its memory: reading costs
nothing, and the program goes with this process.
"""

import mmap
import os
import socket
import struct
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.host.native import native_binary
from nfvbed.patience import patient

PROGRAM = "nfvbed-steal"
_CORES = 1024
"""As `native/steal/steal.h` has it."""
_COUNT = struct.Struct("=Q")
_HANDED = 2
"""The map, and the link that keeps the program attached."""
_TIMEOUT_S = patient(10.0)


class StealAccount:
    """The account of all cores, as long as the process has it.

    Args:
        counts: a count of ns for each core, by number.
        handed: file descriptors that keep it going.
    """

    def __init__(self, counts: mmap.mmap, handed: tuple[int, ...]) -> None:
        self._counts = counts
        self._handed = handed

    @classmethod
    def open(cls, root: Path | None = None) -> "StealAccount":
        """Have the kernel keep it.

        Raises:
            PrerequisiteError: the program is not built.
            UnsupportedError: the kernel refuses it.
        """
        program = native_binary(PROGRAM, root)
        here, there = socket.socketpair()
        with here, there:
            try:
                ended = subprocess.run(
                    [str(program)],
                    stdin=subprocess.DEVNULL,
                    stdout=there.fileno(),
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=_TIMEOUT_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as failure:
                raise UnsupportedError("stolen time cannot be read exactly", observed=str(failure)) from failure
            if ended.returncode:
                raise UnsupportedError(
                    "stolen time cannot be read exactly",
                    observed=ended.stderr.strip() or f"{PROGRAM} ended with {ended.returncode}",
                    fix="a kernel with CONFIG_PARAVIRT_TIME_ACCOUNTING, CONFIG_DEBUG_INFO_BTF and CONFIG_BPF_EVENTS",
                )
            handed = tuple(socket.recv_fds(here, 1, _HANDED, socket.MSG_CMSG_CLOEXEC)[1])
        return cls(mmap.mmap(handed[0], _CORES * _COUNT.size, mmap.MAP_SHARED, mmap.PROT_READ), handed)

    def close(self) -> None:
        """End it."""
        self._counts.close()
        for descriptor in self._handed:
            os.close(descriptor)

    def read_ns(self, told_ns: Mapping[int, int], step_ns: int) -> dict[int, int]:
        """Return the time that was stolen of each core since the host started, ns, of cores whose account is proved.

        It is where it agrees with what the kernel tells in steps; it does not yet on a core that has had no timer tick
        since the program was attached.

        Args:
            told_ns: the same of each core in steps, as /proc/stat has it.
            step_ns: length of a step.
        """
        exact = {core: _COUNT.unpack_from(self._counts, core * _COUNT.size)[0] for core in told_ns if core < _CORES}
        return {core: ns for core, ns in exact.items() if abs(ns - told_ns[core]) <= step_ns}


@cache
def account() -> StealAccount | str:
    """Return the account of this machine, opened once in a process; or why there is none."""
    try:
        return StealAccount.open()
    except (PrerequisiteError, UnsupportedError) as failure:
        return failure.observed or failure.what


def exact_steal_ns(told_ns: Mapping[int, int], step_ns: int) -> dict[int, int]:
    """Return what `StealAccount.read_ns` returns; nothing where there is no account."""
    found = account()
    return {} if isinstance(found, str) else found.read_ns(told_ns, step_ns)
