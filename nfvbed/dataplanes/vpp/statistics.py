"""VPP's statistics segment: counters of interfaces and graph nodes in shared memory, by `vpp_papi`.

Interfaces' counters there change as frames pass. Each thread counts its graph nodes for itself; VPP's main thread
copies these counters every `STATISTICS_INTERVAL_S` and adds one to a heartbeat, for which a reading waits.
"""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vpp_papi.vpp_stats import VPPStats

from nfvbed.dataplanes.vpp.drops import ERRORS as DROP_ERRORS
from nfvbed.dataplanes.vpp.runtime import CALLS, CLOCKS, NAMES, VECTORS
from nfvbed.errors import DeployError, InternalError
from nfvbed.patience import patient

HEARTBEAT = "/sys/heartbeat"
RECEIVED, SENT = "/if/rx", "/if/tx"
DROPS = {
    "drops": "/if/drops",
    "punt": "/if/punt",
    "rx_miss": "/if/rx-miss",
    "rx_error": "/if/rx-error",
    "rx_no_buf": "/if/rx-no-buf",
    "tx_error": "/if/tx-error",
}
"""Simple counters of an interface: frames that did not go on, by nfvbed's names."""
ERRORS = "/err/"
"""How the names of error counters begin, of which there is one for each thread; the node's own name may have slashes.
"""
PATIENCE_S = patient(5.0)

Entries = Mapping[str, Any]


@dataclass(frozen=True)
class InterfaceCounters:
    """One interface, since VPP started."""

    rx_packets: int
    tx_packets: int
    drops: Mapping[str, int]


class Statistics:
    """A connection to the segment. Its mapping outlives VPP, so its reader must check that VPP lives.

    Args:
        socket: the path on which VPP hands the segment out.
    """

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._segment = VPPStats(str(socket))

    def read(self, *, errors: bool = False) -> Entries:
        """Read everything that is used here, after waiting until the nodes' counters are up to date.

        Args:
            errors: also read the nodes' error counters. Each takes as long as all other counters: do not do so around
                trials.

        Raises:
            DeployError: the segment is not available, or VPP's main thread does not bring it up to date.
        """
        try:
            self._wait()
            wanted = [NAMES, CALLS, VECTORS, CLOCKS, RECEIVED, SENT, *DROPS.values()]
            present = [name for name in wanted if name in self._segment.directory]
            if errors:
                present += [name for name in self._segment.directory if _error_text(name) in DROP_ERRORS]
            entries: dict[str, Any] = self._segment.dump(present)
        except (OSError, IndexError) as failure:
            raise DeployError(
                "VPP's statistics cannot be read", where=str(self._socket), observed=str(failure)
            ) from failure
        return entries

    def _wait(self) -> None:
        first = self._segment[HEARTBEAT]
        deadline = time.monotonic() + PATIENCE_S
        while self._segment[HEARTBEAT] == first:
            if time.monotonic() > deadline:
                raise DeployError(
                    "VPP does not bring its statistics up to date",
                    where=str(self._socket),
                    observed=f"the same heartbeat for {PATIENCE_S:g} s",
                    fix="see whether its main thread has a core",
                )
            time.sleep(0.002)

    def close(self) -> None:
        """Close the mapping of the segment."""
        with contextlib.suppress(OSError):
            self._segment.disconnect()


def interface_counters(entries: Entries, index: int) -> InterfaceCounters:
    """Return an interface's counters, summed over all threads.

    Args:
        index: VPP's number of the interface (`sw_if_index`).

    Raises:
        InternalError: the segment lacks it.
    """
    return InterfaceCounters(
        rx_packets=_packets(entries, RECEIVED, index),
        tx_packets=_packets(entries, SENT, index),
        drops={
            name: sum(int(thread[index]) for thread in entries[path])
            for name, path in DROPS.items()
            if path in entries and all(index < len(thread) for thread in entries[path])
        },
    )


def errors_of(entries: Entries) -> dict[str, int]:
    """Return the error counters of graph nodes that are drops, by text, summed over all nodes and threads."""
    found: dict[str, int] = {}
    for name, threads in entries.items():
        text = _error_text(name)
        if text in DROP_ERRORS:
            found[text] = found.get(text, 0) + sum(int(count) for count in threads)
    return found


def _error_text(name: str) -> str:
    """Return the text of a node's error counter (`/err/NODE/TEXT`); empty for any other entry."""
    return name.rpartition("/")[2] if name.startswith(ERRORS) else ""


def _packets(entries: Entries, path: str, index: int) -> int:
    try:
        return sum(int(thread[index][0]) for thread in entries[path])
    except (KeyError, IndexError):
        raise InternalError("VPP's statistics segment lacks an interface", where=path, observed=str(index)) from None
