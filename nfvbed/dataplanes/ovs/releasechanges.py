"""What an Open vSwitch does otherwise by itself than an older one, as its NEWS says: defaults, and renamed settings.

What cannot change the rate of a switch here, or has to be asked for, is left out. DPDK, libraries and compiler change
with a package set as well; their versions are in the record.
"""

import re
from dataclasses import dataclass
from typing import Final

_VERSION = re.compile(r"^(\d+)\.(\d+)")


@dataclass(frozen=True)
class ReleaseChange:
    """A change, and the version that it came with."""

    since: tuple[int, int]
    text: str


CHANGES: Final = (
    ReleaseChange((2, 17), "flows with a simple match are looked up on a path of their own (port-to-port rules are)"),
    ReleaseChange((2, 17), "DPDK runs --in-memory by default"),
    ReleaseChange((3, 1), "AF_XDP is built in by default"),
    ReleaseChange((3, 2), "IP and L4 checksum offload is on by default for interfaces that have it"),
    ReleaseChange((3, 2), "pmd-maxsleep is pmd-sleep-max; the old name is still read"),
    ReleaseChange((3, 5), "prefixes of IPv4 and IPv6 addresses are tracked by default, for fewer datapath flows"),
    ReleaseChange((3, 7), "AF_XDP sockets always use the kernel's need-wakeup flag"),
    ReleaseChange((4, 0), "no AVX512 lookup, parsing and actions any more (older ones have them off unless asked for)"),
)
"""In the order of versions. Source: NEWS of Open vSwitch, v2.16.0 to v4.0.0."""


def changes_between(before: str, after: str) -> tuple[str, ...]:
    """Return what changed by itself from one version ("2.15.0") to another; also back from a newer to an older one."""
    versions = [_VERSION.match(text) for text in (before, after)]
    if not all(versions):
        return ()
    low, high = sorted((int(found[1]), int(found[2])) for found in versions if found)
    return tuple(
        f"{change.since[0]}.{change.since[1]}: {change.text}" for change in CHANGES if low < change.since <= high
    )
