"""Requests to an image's agent: forwarding, links, counters."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nfvbed.errors import InternalError, OnboardError, UnsupportedError
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.timing import Steps
from nfvbed.records import CounterSource, Hop, HopKind, VnfHandle
from nfvbed.spec.vnf import AS_THE_IMAGE
from nfvbed.vnfs.vm.agent import Agent, SerialPort
from nfvbed.vnfs.vm.state import GuestState
from nfvbed.vnfs.vnf import SINK, SOURCE, VnfSeat

_MODES = ("io", "mac", "macswap", "5tswap", "bridge", "router", "raw", SOURCE, SINK)
"""What the agent can be asked to do; a VNF's ways of forwarding have the same names."""

_RETRIES = 64
"""How often the guest's testpmd tries again where the VNF retries."""
_ROUTER_ADDRESSES = ("198.18.255.254", "198.19.255.254")
"""The guest's own, at the other end of the networks that the generator's addresses are in (RFC 2544's range)."""
_PREFIX = 16
_DROPS = ("rx_dropped", "tx_dropped", "rx_errors", "tx_errors")
_TESTPMD = "testpmd"
"""The name that the agent has for the engine of these modes."""


@dataclass
class AgentReport:
    """The agent's answers."""

    versions: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)


def check(seat: VnfSeat) -> None:
    """Refuse what the image's agent cannot do.

    Raises:
        UnsupportedError: with what it can.
    """
    image = seat.choice.image or seat.choice.vnf.image
    agent = image is not None and image.agent
    does = seat.does
    if agent and does not in (*_MODES, AS_THE_IMAGE):
        raise UnsupportedError(
            f"a virtual machine cannot forward with {does!r}",
            where=seat.name,
            observed=f"its image's agent can: {', '.join(_MODES)}",
            fix="choose one of these, or kind: process",
        )
    if not agent and does in (SOURCE, SINK):
        raise UnsupportedError(
            f"an image without nfvbed's agent cannot be a {does}",
            where=seat.name,
            observed="it forwards as it was made to",
            fix="use the image that `make images` builds, or topology pvp",
        )


def forward(seat: VnfSeat, socket: Path, steps: Steps, timeout_s: float) -> AgentReport:
    """Check that the agent has the ports, and tell it to forward.

    Raises:
        OnboardError: it refuses, it does not answer, or a port is not in the guest.
    """
    agent = Agent(SerialPort(socket))
    with steps.timed(f"onboard.{seat.name}.agent"):
        info = agent.ask("info", timeout_s=timeout_s)
        links = agent.ask("links", timeout_s=timeout_s)["ports"]
        _check_ports(seat, links)
    reported = AgentReport()
    reported.versions = {"guest": str(info["version"]), "guest-kernel": str(info["kernel"])}
    reported.facts = {"guest": info}
    if seat.does == AS_THE_IMAGE:
        return reported
    with steps.timed(f"onboard.{seat.name}.forward"):
        reported.facts["forward"] = agent.ask("forward", request(seat), timeout_s=timeout_s)
    return reported


def request(seat: VnfSeat) -> dict[str, Any]:
    """Return the keys of the agent's request to forward."""
    vnf = seat.choice.vnf
    keys: dict[str, Any] = {
        "mode": seat.does,
        "ports": [port.mac for port in seat.ports],
        "burst": vnf.burst,
        "descriptors": vnf.descriptors,
        # testpmd over AF_PACKET has one queue, whatever the port has.
        "queues": 1 if seat.does == "raw" else min(port.queues for port in seat.ports),
        "retry": _RETRIES if vnf.retry else 0,
        "offloads": seat.choice.offloads,
    }
    if seat.does == SOURCE:
        keys["frame_size_bytes"] = seat.frame_size
    if seat.does == "mac" and all(seat.beyond):
        keys["peers"] = list(seat.beyond)
    if seat.does == "router":
        keys |= _routed(seat)
    return keys


def _routed(seat: VnfSeat) -> dict[str, Any]:
    """Return networks on both sides and fixed neighbours, so that no ARP is among the frames."""
    return {
        "addresses": [[f"{address}/{_PREFIX}"] for address in _ROUTER_ADDRESSES],
        "neighbours": [
            [number, address, beyond]
            for number, (address, beyond) in enumerate(zip(GENERATOR_ADDRESSES, seat.beyond, strict=True))
        ],
    }


def _check_ports(seat: VnfSeat, links: list[dict[str, Any]]) -> None:
    there = {str(link["mac"]).lower() for link in links}
    lacking = [port.name for port in seat.ports if port.mac.lower() not in there]
    if lacking:
        raise OnboardError(
            f"{seat.name}: the guest does not have all of its ports",
            where=", ".join(lacking),
            observed=f"NICs in the guest: {', '.join(sorted(there)) or 'none'}",
            fix="its kernel needs a driver for the NIC (vnic)",
        )


def hops(handle: VnfHandle) -> tuple[Hop, ...]:
    """Return the guest's counters of its ports, in the order of the path.

    Raises:
        OnboardError: the agent does not answer.
    """
    agent = GuestState.of(handle).agent
    if agent is None:
        raise InternalError("this guest has no agent that counts", where=handle.name)
    ports = Agent(SerialPort(Path(agent))).ask("stats")["ports"]
    by_mac = {str(port["mac"]).lower(): port for port in ports}
    found = []
    for number, port in enumerate(handle.ports):
        counted = by_mac.get(port.mac.lower(), {})
        drops = {name: int(counted[name]) for name in _DROPS if counted.get(name) is not None}
        found.append(
            Hop(
                name=f"{handle.name} port {number}",
                kind=HopKind.VNF_PORT,
                port=port.port,
                rx_packets=counted.get("rx_packets"),
                tx_packets=counted.get("tx_packets"),
                drops=drops,
                counted_by=CounterSource.DPDK if _polls(handle) else CounterSource.LINUX,
            )
        )
    return tuple(found)


def _polls(handle: VnfHandle) -> bool:
    """Return whether testpmd forwards in the guest, and counts; else its kernel does both."""
    return bool(handle.facts.get("forward", {}).get("engine") == _TESTPMD)
