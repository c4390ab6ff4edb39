"""The time that the hypervisor stole of each core, in ns: the kernel's own account, read by a BPF program.

/proc/stat counts in steps of 10 ms: only a trial of a hundred steps shows how much was stolen during it. `nfvbed-steal`
attaches the program and hands over its map, which this process maps into its memory. Reading then costs nothing, and
the program ends with this process.
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
"""The most cores, as `native/steal/steal.h` has it."""
_COUNT = struct.Struct("=Q")
_HANDED = 2
"""The map, and the link that keeps the program attached."""
_TIMEOUT_S = patient(10.0)


class StealAccount:
    """The account of all cores, as long as this process keeps it open.

    Args:
        counts: stolen time of each core in ns, by core number.
        handed: file descriptors that keep the account going.
    """

    def __init__(self, counts: mmap.mmap, handed: tuple[int, ...]) -> None:
        self._counts = counts
        self._handed = handed

    @classmethod
    def open(cls, root: Path | None = None) -> "StealAccount":
        """Start the kernel's account.

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
        """End the account."""
        self._counts.close()
        for descriptor in self._handed:
            os.close(descriptor)

    def read_ns(self, told_ns: Mapping[int, int], step_ns: int) -> dict[int, int]:
        """Return the stolen time of each core since the host started, in ns, for cores whose account is proved.

        It is proved where it agrees with what the kernel tells in steps. A core that has had no timer tick since the
        program was attached does not agree yet.

        Args:
            told_ns: the same time of each core in steps, from /proc/stat.
            step_ns: length of a step, in ns.
        """
        exact = {core: _COUNT.unpack_from(self._counts, core * _COUNT.size)[0] for core in told_ns if core < _CORES}
        return {core: ns for core, ns in exact.items() if abs(ns - told_ns[core]) <= step_ns}


@cache
def account() -> StealAccount | str:
    """Return the account of this machine, opened once in a process; or the reason why there is none."""
    try:
        return StealAccount.open()
    except (PrerequisiteError, UnsupportedError) as failure:
        return failure.observed or failure.what


def exact_steal_ns(told_ns: Mapping[int, int], step_ns: int) -> dict[int, int]:
    """Return what `StealAccount.read_ns` returns; empty where there is no account."""
    found = account()
    return {} if isinstance(found, str) else found.read_ns(told_ns, step_ns)
