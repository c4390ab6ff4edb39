"""Open vSwitch's own tap ports on the userspace datapath.

A port of type `internal` is a tap of the kernel there, which the switch's main thread reads and writes. With
`userspace-tso-enable` it passes on what the kernel left undone (checksums, segments); else the kernel does that before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from nfvbed.dataplanes.dataplane import OwnEnds
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.inplace import NAMES, LedPath, in_place
from nfvbed.records import WorkThread

TSO: Final = "userspace-tso-enable"
_STATUS: Final = "seg_offload"


@contextmanager
def own_taps(path: LedPath, thread: WorkThread) -> Iterator[OwnEnds]:
    """Put two taps in the place of the generator's ports.

    Args:
        thread: the switch's main one, which serves taps.

    Raises:
        DeployError: the switch does not open them.
    """
    bridge = path.bridge
    with SwitchDatabase(bridge.database) as database, in_place(path, database, "internal"):
        state = "on" if database.other_config.get(TSO) == "true" else "off"
        yield OwnEnds(
            netns=bridge.netns,
            devices=NAMES,
            what=f"tap ports of Open vSwitch's userspace datapath, its {TSO} {state}",
            threads=(thread,),
            told=lambda: _told(database.statuses()),
        )


def _told(statuses: dict[str, dict[str, str]]) -> tuple[str, ...]:
    """Return what the switch says of the taps' offloads; older ones say nothing of them."""
    found = {name: statuses.get(name, {}) for name in NAMES}
    words = {name: {key: text for key, text in status.items() if _STATUS in key} for name, status in found.items()}
    return tuple(
        f"Open vSwitch says of {name}: {', '.join(f'{key} {text}' for key, text in sorted(said.items()))}."
        for name, said in words.items()
        if said
    )
