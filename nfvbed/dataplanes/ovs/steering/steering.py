"""The interface of a steering: how a path is written into a bridge, and what is read of it there.

All of them give the same forwarding (`path.py`); they differ in who writes the rules. None keeps anything in memory:
another process reads and removes what one has set up.
"""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nfvbed.dataplanes.ovs import reading, unixctl
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.openflow import Forwarding, InstalledRule, Rule
from nfvbed.dataplanes.ovs.steering.path import SteeringPath, cable_rules, path_rules
from nfvbed.dataplanes.wiring import end_of
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Hop


@dataclass(frozen=True)
class SteeredBridge:
    """A bridge that is deployed with its ports, and where a controller of its own may run."""

    name: str
    management: Path
    """Its OpenFlow management socket."""
    database: Path
    """The socket of the switch's database."""
    unixctl: Path
    """Control socket on which the switch takes commands."""
    workspace: Workspace
    """Workspace of the switch: its directory is the switch's run directory."""
    netns: str
    """Path of the switch's network namespace."""
    cores: tuple[int, ...]
    """Control cores, on which a controller runs."""


@dataclass(frozen=True)
class SteeringReport:
    """How many rules a path has, and how long each step of its set-up took."""

    steps: tuple[tuple[str, int], ...]
    """(step, duration in ns); together from the request until every rule is in force (barrier)."""
    rules: int
    """Number of rules in force."""


@dataclass(frozen=True)
class CableCounters:
    """Frames that a cable's rules have matched."""

    name: str
    """`br0 p0 - v0p0`."""
    forward_packets: int
    """Frames from the end nearer to outside end 0 to the other."""
    backward_packets: int
    cookies: tuple[int, ...]
    """Cookies of its rules in the switch."""


class Steering(ABC):
    """Writes a path's rules into a bridge."""

    kind: ClassVar[str]
    fixed: ClassVar[str] = ""
    """Why a path that is in force cannot be changed; empty: it can."""

    @abstractmethod
    def set_up(self, bridge: SteeredBridge, path: SteeringPath) -> SteeringReport:
        """Write the rules; all are in force when this returns.

        Raises:
            ConfigurationError: the path cannot be steered.
            DeployError: a rule was refused, or they were not written.
            PrerequisiteError, UnsupportedError: this steering cannot be used here.
        """

    def change(self, bridge: SteeredBridge, path: SteeringPath) -> SteeringReport:
        """Replace the path by another one: all of its rules, or none where one is refused.

        Raises:
            UnsupportedError: this steering cannot.
            DeployError: a rule was refused; the path that was there is in force.
        """
        raise UnsupportedError(
            "the path cannot be changed while it is in force",
            where=f"{bridge.name}, steering {self.kind}",
            observed=self.fixed,
            fix="deploy again, with steering: static",
        )

    @abstractmethod
    def tear_down(self, bridge: SteeredBridge) -> None:
        """Remove the rules, and end what was started for them. Idempotent."""

    def verify(self, bridge: SteeredBridge) -> None:  # noqa: B027  most have nothing that could end
        """Check that what the path needs still lives.

        Raises:
            SwitchDiedError: a controller has ended; with its exit status and the last lines of its log.
        """

    def hops(self, bridge: SteeredBridge, path: SteeringPath) -> tuple[Hop, ...]:
        """Read the counters of the ports as the path meets them: each cable's first port, then its second.

        Raises:
            DeployError: the switch does not answer.
        """
        with BridgeController(bridge.management) as connection:
            counted = connection.ports()
        names = [name for cable in path.cables for name in (cable.port_a, cable.port_b)]
        numbers = [(name, path.ports[name]) for name in names]
        return tuple(
            reading.port_hop(f"{bridge.name} port {name}", counted[number], end_of(number)) for name, number in numbers
        )

    def cables(self, bridge: SteeredBridge, path: SteeringPath, *, current: bool = True) -> tuple[CableCounters, ...]:
        """Read what the rules of each cable have matched, in the order of the path.

        Args:
            path: as it was set up there.
            current: wait, up to a second, until Open vSwitch has updated its rules' counters, as it does every half
                second. Without it they may be that old. The ports' counters (`hops`) never are.

        Raises:
            DeployError: the switch does not answer, or lacks a rule of the path.
        """
        # Twice: the first wait may end with a round that began before the last frame.
        for _ in range(2 if current else 0):
            unixctl.command(bridge.unixctl, "revalidator/wait")
        present = installed(bridge)
        return tuple(
            CableCounters(
                name=f"{bridge.name} {rules.cable.port_a} - {rules.cable.port_b}",
                forward_packets=sum(_find(bridge, present, rule).packets for rule in rules.forward),
                backward_packets=sum(_find(bridge, present, rule).packets for rule in rules.backward),
                cookies=tuple(_find(bridge, present, rule).cookie for rule in (*rules.forward, *rules.backward)),
            )
            for rules in cable_rules(path)
        )


def installed(bridge: SteeredBridge) -> dict[Forwarding, InstalledRule]:
    """Read the bridge's rules, by their forwarding.

    Raises:
        DeployError: the switch does not answer.
    """
    with BridgeController(bridge.management) as connection:
        return {rule.forwarding: rule for rule in connection.installed_rules()}


def forget_cached(bridge: SteeredBridge) -> None:
    """Make the datapath forget what it has cached of earlier rules.

    After the barrier the rules are in force for whatever is looked up again. What a port's frames met before
    (dropped, for want of a rule) stays cached until Open vSwitch revalidates it, some milliseconds later.

    Raises:
        DeployError: the switch does not answer.
    """
    unixctl.command(bridge.unixctl, "revalidator/purge")


def check_forwarding(bridge: SteeredBridge, path: SteeringPath) -> int:
    """Check that the bridge has exactly the path's rules, whatever wrote them.

    Returns:
        The number of rules.

    Raises:
        DeployError: some are missing, or there are others.
    """
    wanted = {rule.forwarding for rule in path_rules(path)}
    present = set(installed(bridge))
    if wanted != present:
        raise DeployError(
            "the bridge's rules are not those of the path",
            where=bridge.name,
            observed=f"{len(wanted - present)} of {len(wanted)} are missing, {len(present - wanted)} are foreign",
            fix="let nothing else write to this bridge (ONOS: its applications fwd, proxyarp, lldpprovider do)",
        )
    return len(present)


def wait_for_forwarding(bridge: SteeredBridge, path: SteeringPath, patience_s: float = 15.0) -> None:
    """Wait until the rules of a bridge are written again by what writes them.

    Raises:
        DeployError: they are not there in time.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            check_forwarding(bridge, path)
            return
        except DeployError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def _find(bridge: SteeredBridge, present: dict[Forwarding, InstalledRule], rule: Rule) -> InstalledRule:
    found = present.get(rule.forwarding)
    if found is None:
        raise DeployError(
            "the bridge lacks a rule of the path",
            where=bridge.name,
            observed=f"none from port {rule.in_port} to {rule.output}",
            fix="deploy again",
        )
    return found
