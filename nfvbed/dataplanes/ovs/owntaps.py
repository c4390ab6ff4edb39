"""Open vSwitch's own tap ports on the userspace datapath, in the place of the generator's: where users' sockets are.

A port of type `internal` is a tap of the kernel there, which the switch reads and writes. With
`userspace-tso-enable` it passes on what the kernel left undone (checksums, segments); else the kernel does that before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from nfvbed.dataplanes.dataplane import OwnEnds
from nfvbed.dataplanes.ovs import openflow
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import PortRequest, SwitchDatabase
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, forget_cached
from nfvbed.records import WorkThread

TAPS: Final = ("own0", "own1")
NUMBERS: Final = (60001, 60002)
"""Their OpenFlow ports, above those of a path."""
TSO: Final = "userspace-tso-enable"
_STATUS: Final = "seg_offload"


@contextmanager
def own_taps(
    bridge: SteeredBridge, rules: list[openflow.Rule], outside: tuple[int, int], thread: WorkThread
) -> Iterator[OwnEnds]:
    """Add two taps, lead the path's rules to them, and undo both.

    Args:
        rules: those of the bridge, all of them.
        outside: OpenFlow ports of the generator.
        thread: the switch's main one, which serves taps.

    Raises:
        DeployError: the switch does not open them.
    """
    taken = dict(zip(outside, NUMBERS, strict=True))
    requests = [PortRequest(name, "internal", number) for name, number in zip(TAPS, NUMBERS, strict=True)]
    with SwitchDatabase(bridge.database) as database:
        database.add_ports(bridge.name, requests)
        try:
            _write(bridge, [_led(rule, taken) for rule in rules])
            state = "on" if database.other_config.get(TSO) == "true" else "off"
            ends = OwnEnds(
                netns=bridge.netns,
                devices=TAPS,
                what=f"tap ports of Open vSwitch's userspace datapath, its {TSO} {state}",
                threads=(thread,),
                told=lambda: _told(database.statuses()),
            )
            yield ends
        finally:
            _write(bridge, rules)
            for name in TAPS:
                database.remove_port(bridge.name, name)


def _led(rule: openflow.Rule, taken: dict[int, int]) -> openflow.Rule:
    in_port = None if rule.in_port is None else taken.get(rule.in_port, rule.in_port)
    return replace(rule, in_port=in_port, output=taken.get(rule.output, rule.output))


def _write(bridge: SteeredBridge, rules: list[openflow.Rule]) -> None:
    with BridgeController(bridge.management) as connection:
        connection.add_bundle([openflow.delete_all_rules(), *map(openflow.add_rule, rules)])
    forget_cached(bridge)


def _told(statuses: dict[str, dict[str, str]]) -> tuple[str, ...]:
    """Return what the switch says of the taps' offloads; older ones say nothing of them."""
    found = {name: statuses.get(name, {}) for name in TAPS}
    words = {name: {key: text for key, text in status.items() if _STATUS in key} for name, status in found.items()}
    return tuple(
        f"Open vSwitch says of {name}: {', '.join(f'{key} {text}' for key, text in sorted(said.items()))}."
        for name, said in words.items()
        if said
    )
