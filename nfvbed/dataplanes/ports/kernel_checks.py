"""Checks of every switch of the kernel: its links, its NAPI threads, and the time that these threads ran."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from nfvbed.errors import SwitchDiedError
from nfvbed.host.network import napi
from nfvbed.host.network.links import LinkCounters
from nfvbed.records import Role, Separable, WorkThread
from nfvbed.units import NS_PER_S

BUSY_SOURCE = "scheduler run time of NAPI threads x TSC"


class BusyCycles(NamedTuple):
    """The cycles that a switch took for packets, or why they are not separable."""

    cycles: Separable
    source: str
    """Source of the cycles, or the reason why there are none."""
    raw: Mapping[str, int] = MappingProxyType({})
    """The counts behind them, for the trial's record."""


def require_up(found: Mapping[str, LinkCounters], what: str) -> None:
    """Check that links are up.

    Args:
        what: what the links are, in the plural; the message begins with it.

    Raises:
        SwitchDiedError: some are down; with their names.
    """
    down = [name for name, counted in found.items() if not counted.up]
    if down:
        raise SwitchDiedError(f"{what} are down", where=str(down), fix="see who set them down")


def require_threads(threads: Iterable[WorkThread], whose: str) -> None:
    """Check that NAPI threads live.

    Args:
        whose: owner of the threads, for the message.

    Raises:
        SwitchDiedError: some are gone; with their names.
    """
    wanted = tuple(threads)
    lost = set(wanted) - set(napi.still_there(wanted))
    if lost:
        names = sorted(thread.name for thread in lost)
        raise SwitchDiedError(f"NAPI threads of {whose} are gone", where=str(names), fix="deploy again")


def busy_ns(threads: Iterable[WorkThread]) -> int | None:
    """Return how long the switch's NAPI threads have run, in ns; None: it has none, or one is gone."""
    times = [napi.run_time_ns(thread.tid) for thread in threads if thread.role is Role.SWITCH]
    known = [time for time in times if time is not None]
    return sum(known) if known and len(known) == len(times) else None


def busy_cycles(ran_ns: int, tsc_hz: int) -> int:
    """Return run time as cycles of the time-stamp counter."""
    return ran_ns * tsc_hz // NS_PER_S
