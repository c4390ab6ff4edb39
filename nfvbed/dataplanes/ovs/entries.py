"""Many OpenFlow entries in place of a cable's rule: one for each flow that the generator sends."""

import time
from pathlib import Path

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.openflow import Rule, UdpSource
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ovs.steering.path import path_rules, steering_path
from nfvbed.dataplanes.tables import FilledTable, ForwardingTable, TableNotApplicable, share_out
from nfvbed.dataplanes.wiring import layout_of
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.records import Deployment

OUTSIDE_PORTS = (1, 2)
"""OpenFlow numbers of the ports to the generator."""
FIRST_SOURCES = (0xC6120001, 0xC6130001)
"""The generator's addresses, 198.18.0.1 and 198.19.0.1; a flow's number is added to the last two bytes."""
FIRST_UDP_SOURCE = 0xC000
FIRST_COOKIE = 0x100000
"""Cookie of the first entry; cookies of a path's rules count from 1."""
_WHOLE_PORT = 0xFFFF


class OvsEntries(ForwardingTable):
    """Entries that match in_port, IPv4 source and UDP source port, where a frame first enters the switch.

    They replace the one rule of a port at the generator; a frame that matches none of them is lost. Rules of other
    ports stay.

    Args:
        deployment: an ovs-dpdk that is steered by static rules.
    """

    entry = "OpenFlow entries"
    most = 1_000_000
    notes = ("entries match in_port, IPv4 source address and UDP source port exactly, in one table",)

    def __init__(self, deployment: Deployment) -> None:
        state = OvsState.of(deployment)
        self._management = Path(state.openflow)
        self._unixctl = Path(state.unixctl)
        self._rules = path_rules(steering_path(layout_of(deployment)))
        check_steering(state.steering, self._rules)
        outputs = {rule.in_port: rule.output for rule in self._rules}
        self._outputs = [(port, outputs[port]) for port in OUTSIDE_PORTS if port in outputs]

    def fill(self, entries: int, directions: int) -> FilledTable:
        """Replace the rules of the ports at the generator; this empties the datapath's caches."""
        shares = share_out(entries, directions)
        wanted = [
            Rule(
                output=output,
                in_port=in_port,
                cookie=FIRST_COOKIE + number,
                udp_source=UdpSource(4, flow_udp_source(number), _WHOLE_PORT),
                ipv4_source=flow_address(FIRST_SOURCES[way], number),
            )
            for way, ((in_port, output), share) in enumerate(zip(self._outputs, shares, strict=False))
            for number in range(share)
        ]
        replaced = {in_port for in_port, _ in self._outputs[:directions]}
        others = [rule for rule in self._rules if rule.in_port not in replaced]
        began = time.monotonic_ns()
        self._replace([*others, *wanted])
        duration_ns = time.monotonic_ns() - began
        with BridgeController(self._management) as connection:
            found = connection.rule_count() - len(others)
        if found != len(wanted):
            raise DeployError(
                "the switch does not hold the entries",
                where=str(self._management),
                observed=f"{found:,} of {len(wanted):,}",
                fix="choose fewer",
            )
        return FilledTable(entries=found, flows=min(shares), duration_ns=duration_ns)

    def close(self) -> None:
        """Restore the rules of the path."""
        self._replace(list(self._rules))

    def _replace(self, rules: list[Rule]) -> None:
        with BridgeController(self._management) as connection:
            connection.remove_all_rules()
            connection.add_rules(rules)
        unixctl.command(self._unixctl, "revalidator/purge")


def check_steering(kind: str, rules: tuple[Rule, ...]) -> None:
    """Refuse a bridge that does not forward by one static rule for each port at the generator.

    Raises:
        TableNotApplicable: a learning switch, rules that change frames, or flows shared out over VNFs.
        UnsupportedError: another program writes the rules.
    """
    if kind == "normal":
        raise TableNotApplicable(
            "the bridge has one rule (NORMAL) and forwards by the addresses it learns: address-caching measures those"
        )
    if kind == "push-vlan":
        raise TableNotApplicable("the rules put a VLAN tag on each frame, which entries for flows do not")
    if any(rule.udp_source for rule in rules):
        raise TableNotApplicable(
            "the rules of this topology share flows out over VNFs, by the fields that entries match"
        )
    if kind != "static":
        raise UnsupportedError(
            f"the rules of this bridge are written by {kind}, which would undo the entries",
            where="steering",
            observed=kind,
            fix="steering: static",
        )


def flow_address(first: int, number: int) -> int:
    """Return a flow's source address, as nfvgen numbers them (`native/nfvgen/frame.h`)."""
    return first & 0xFFFF0000 | (first + number) & 0xFFFF


def flow_udp_source(number: int) -> int:
    """Return a flow's UDP source port, as nfvgen numbers them."""
    return FIRST_UDP_SOURCE + ((number + (number >> 16)) & 0x3FFF)
