"""Ports of Open vSwitch's own on the userspace datapath, in the place of the generator's: where users' sockets are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from nfvbed.dataplanes.ovs import openflow
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import PortRequest, SwitchDatabase
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, forget_cached

NAMES: Final = ("own0", "own1")
NUMBERS: Final = (60001, 60002)
"""Their OpenFlow ports, above those of a path."""


@dataclass(frozen=True)
class LedPath:
    """A bridge whose rules nfvbed writes."""

    bridge: SteeredBridge
    rules: Sequence[openflow.Rule]
    """All of them."""
    outside: tuple[int, int]
    """OpenFlow ports of the generator."""


def requests(kind: str) -> list[PortRequest]:
    """Return the requests for both ports, of one type."""
    return [PortRequest(name, kind, number) for name, number in zip(NAMES, NUMBERS, strict=True)]


@contextmanager
def in_place(path: LedPath, database: SwitchDatabase, kind: str) -> Iterator[None]:
    """Add two ports of a type, lead the path's rules to them, and undo both.

    Raises:
        DeployError: the switch does not open them.
    """
    bridge, taken = path.bridge, dict(zip(path.outside, NUMBERS, strict=True))
    database.add_ports(bridge.name, requests(kind))
    try:
        _write(bridge, [_led(rule, taken) for rule in path.rules])
        yield
    finally:
        _write(bridge, path.rules)
        for name in NAMES:
            database.remove_port(bridge.name, name)


def _led(rule: openflow.Rule, taken: dict[int, int]) -> openflow.Rule:
    in_port = None if rule.in_port is None else taken.get(rule.in_port, rule.in_port)
    return replace(rule, in_port=in_port, output=taken.get(rule.output, rule.output))


def _write(bridge: SteeredBridge, rules: Sequence[openflow.Rule]) -> None:
    with BridgeController(bridge.management) as connection:
        connection.add_bundle([openflow.delete_all_rules(), *map(openflow.add_rule, rules)])
    forget_cached(bridge)
