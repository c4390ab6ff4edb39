"""The programs of iperf3, netperf and sockperf, and their versions, on this machine; a guest has its own.

iperf3 and sockperf are Debian's own. netperf is unpacked privately by `make setup`, with the C library that it was
built for, which its command line names; else it is the system's.
"""

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path

from nfvbed.errors import PrerequisiteError

NETPERF_DIRECTORY_VARIABLE = "NFVBED_NETPERF_DIR"
PRIVATE_DIRECTORY = Path(".nfvbed") / "netperf"
PROJECT_ROOT = Path(__file__).resolve().parents[3]

_LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
_LOADER = _LIBRARIES / "ld-linux-x86-64.so.2"
_PROGRAMS = Path("usr/bin")
_ASK_S = 30
_CONGESTION = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_VERSION_OPTIONS = {"netperf": "-V", "sockperf": "--version"}
_OF_NETPERF = ("netperf", "netserver")


class Tools(ABC):
    """The programs of both hosts, and what their kernel has for them."""

    @abstractmethod
    def command(self, name: str) -> tuple[str, ...]:
        """Return the command of `iperf3`, `netperf`, `netserver` or `sockperf`.

        Raises:
            PrerequisiteError: it is not there.
        """

    @abstractmethod
    def version(self, name: str) -> str:
        """Return the version of `netperf` or `sockperf`; iperf3 tells its own with its figures.

        Raises:
            PrerequisiteError: it is not there, or does not run.
        """

    @abstractmethod
    def congestion_controls(self) -> tuple[str, ...]:
        """Return what the hosts' kernel offers TCP."""


class LocalTools(Tools):
    """Those of this machine, whose network namespaces the hosts are."""

    def command(self, name: str) -> tuple[str, ...]:
        """Return netperf's and its server's command from their own place, another's from the system."""
        return netperf(name) if name in _OF_NETPERF else program(name)

    def version(self, name: str) -> str:
        """Ask the program."""
        return version(self.command(name), _VERSION_OPTIONS[name])

    def congestion_controls(self) -> tuple[str, ...]:
        """Return those of this kernel."""
        return tuple(_CONGESTION.read_text().split())


def program(name: str) -> tuple[str, ...]:
    """Return the command of a program of the system (its Debian package has the same name).

    Raises:
        PrerequisiteError: it is not there.
    """
    path = shutil.which(name)
    if path is None:
        raise PrerequisiteError(
            f"{name} is not there",
            where="PATH",
            observed="not found",
            fix=f"make setup, or install {name} as this system does",
        )
    return (path,)


def netperf(name: str = "netperf", root: Path = PROJECT_ROOT) -> tuple[str, ...]:
    """Return `netperf` or `netserver`: from $NFVBED_NETPERF_DIR alone if set, else the private copy or the system's.

    Raises:
        PrerequisiteError: no place holds it.
    """
    override = os.environ.get(NETPERF_DIRECTORY_VARIABLE)
    folder = Path(override) if override else root / PRIVATE_DIRECTORY
    private = (folder / _LOADER, folder / _PROGRAMS / name)
    if all(path.is_file() for path in private):
        return (str(private[0]), "--library-path", str(folder / _LIBRARIES), str(private[1]))
    found = None if override else shutil.which(name)
    if found is None:
        places = str(folder) if override else f"{PRIVATE_DIRECTORY}, PATH"
        raise PrerequisiteError(
            f"{name} is not there",
            where=NETPERF_DIRECTORY_VARIABLE if override else places,
            observed=f"no {next((path for path in private if not path.is_file()), name)}",
            fix="make setup (it unpacks Debian's package netperf)",
        )
    return (found,)


@lru_cache
def version(argv: tuple[str, ...], option: str) -> str:
    """Return a program's version: the last word of its first line.

    Raises:
        PrerequisiteError: it does not run.
    """
    try:
        done = subprocess.run(
            [*argv, option],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_ASK_S,
            check=True,
        )
        return done.stdout.split("\n", 1)[0].split()[-1]
    except (OSError, subprocess.SubprocessError, IndexError) as failure:
        raise PrerequisiteError(
            "a tool of socket traffic does not run", where=argv[-1], observed=str(failure), fix="make clean setup"
        ) from failure
