"""The Open vSwitch of a node with Neutron's agent: its settings, its ports' counters, its polling threads."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.compute import AddressLead
from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.devcloud.nodes.inside import file_in, process
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.places import CONTROLLER
from nfvbed.cloud.devcloud.services.openvswitch import BRIDGES, PROGRAM, control_socket
from nfvbed.cloud.instances import DATA_NETWORKS, InstancePort
from nfvbed.dataplanes.ovs import pmd, reading, unixctl
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.nodeoptions import MANAGED
from nfvbed.dataplanes.ovs.openflow import PortCounters
from nfvbed.dataplanes.ovs.switchreading import rows
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.records import CounterSource, Hop, SwitchCounters
from nfvbed.spec.layout import End

INTEGRATION = "br-int"
"""Neutron's bridge, with the instances' ports."""
_PATCH = "int-{}"
"""Name of the integration bridge's port that leads to the bridge of a network (Neutron's agent)."""
_DAEMON = "ovs-vswitchd"
_SAID = 4
"""Lines of its log that a message shows, the last of its errors."""
_RESTING_US = 300
"""Longest sleep of polling threads while nothing is measured (`pmd-maxsleep`)."""


@dataclass(frozen=True)
class SwitchPort:
    """A port along the path."""

    bridge: str
    name: str
    end: End
    """End of the path at which the port is."""


class NodeSwitch:
    """A switch that runs."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def pid(self) -> int:
        """The daemon's id on this machine."""
        return process(self._node, PROGRAM).pid

    @property
    def control(self) -> Path:
        """The daemon's control socket."""
        return file_in(self._node, control_socket(self._node))

    def vsctl(self, *words: str) -> str:
        """Run ovs-vsctl; it waits until the switch has done what it says.

        Raises:
            DeployError: it failed.
        """
        return self._node.channel.check(Command(("/usr/bin/ovs-vsctl", "--timeout=20", *words), timeout_s=30.0))

    def statuses(self) -> dict[str, dict[str, str]]:
        """Read the status of the interfaces, by name.

        Raises:
            DeployError: the database does not answer.
        """
        shown = rows(self.vsctl("--format=json", "--columns=name,status", "list", "Interface"))
        return {one["name"]: one["status"] for one in shown}

    def apply(self, wanted: Mapping[str, str]) -> None:
        """Set the options that a variant names (`other_config`); all others keep Open vSwitch's default."""
        words = ["set", "Open_vSwitch", ".", *(f'other_config:{key}="{value}"' for key, value in wanted.items())]
        for key in MANAGED:
            if key not in wanted:
                words += ["--", "remove", "Open_vSwitch", ".", "other_config", key]
        self.vsctl(*words)

    def rest(self, resting: bool, maxsleep_us: int) -> None:
        """Let polling threads sleep while nothing is measured, else as long as the variant asks for."""
        self.vsctl("set", "Open_vSwitch", ".", f'other_config:pmd-maxsleep="{_RESTING_US if resting else maxsleep_us}"')

    def verify(self) -> None:
        """Check, by the node's first process, that the daemon runs.

        Raises:
            SwitchDiedError: with its exit status.
        """
        states = [one for one in self._node.channel.services() if one.name == _DAEMON]
        if not states or states[0].status is not None:
            name = self._node.name
            raise SwitchDiedError(
                "the cloud's Open vSwitch has ended",
                where=f"{_DAEMON} on node {name}",
                observed=f"exit status {states[0].status}" if states else "it was not started",
                fix=f"nfvbed devcloud logs {'' if name == CONTROLLER else name + '/'}{_DAEMON}; nfvbed devcloud start"
                " starts it again",
            )

    def hops(self, path: Sequence[SwitchPort]) -> tuple[Hop, ...]:
        """Read the ports along the path; behind the first one comes what the datapath has dropped.

        Raises:
            DeployError: the switch does not have one of them.
        """
        first, *others = self.port_hops(path)
        return first, self.datapath_hop("datapath"), *others

    def port_hops(self, path: Sequence[SwitchPort], machine: str = "") -> tuple[Hop, ...]:
        """Read ports of the path, in their order.

        Args:
            machine: name of this switch's machine, where the path is on several.

        Raises:
            DeployError: the switch does not have one of them.
        """
        counted = self._counted({port.name: port.bridge for port in path})
        self._require([port.name for port in path if port.name not in counted])
        at = f"{machine} " if machine else ""
        return tuple(
            reading.port_hop(f"{at}{port.bridge} port {port.name}", counted[port.name], port.end) for port in path
        )

    def datapath_hop(self, name: str) -> Hop:
        """Read what the datapath has dropped."""
        return Hop(name=name, drops=self._datapath_drops(), counted_by=CounterSource.OVS)

    def lead(self, leads: Sequence[AddressLead], device: Callable[[InstancePort], str]) -> None:
        """Put static addresses into Neutron's bridge, whose VLANs are its own tags of the networks.

        Args:
            device: returns the name of the device of an instance's port.

        Raises:
            DeployError: the switch does not take one.
        """
        placed = [one.instance for one in leads if one.instance is not None]
        tags = {side: self._tag(device(placed[0].ports[side])) for side in {one.side for one in leads}}
        for one in leads:
            port = _PATCH.format(BRIDGES[DATA_NETWORKS[one.side]])
            if one.instance is not None:
                port = device(one.instance.ports[one.side])
            unixctl.command(self.control, "fdb/add", INTEGRATION, port, tags[one.side], one.mac)

    def _tag(self, port: str) -> str:
        """Return the tag that Neutron's agent has given the network of a port."""
        found = self.vsctl("get", "Port", port, "tag").strip()
        if not found.isdecimal():
            raise DeployError("a port has no tag", where=f"{INTEGRATION} port {port}", observed=found)
        return found

    def _require(self, missing: Sequence[str]) -> None:
        """Raise with the reason why the switch lacks ports: it removes one that it cannot set up, as without memory."""
        if not missing:
            return
        said = [line for line in self._log().splitlines() if "|ERR|" in line][-_SAID:]
        raise DeployError(
            f"the cloud's Open vSwitch does not have port {', '.join(missing)}",
            where=f"{_DAEMON} on node {self._node.name}",
            observed="\n".join(said) or "its log has no error",
            fix="memory: more hugepages_mib in the site's file, and start the cloud again; else nfvbed devcloud logs"
            f" {_DAEMON}",
        )

    def _log(self) -> str:
        try:
            return (self._node.places.logs / f"{_DAEMON}.log").read_text(errors="replace")
        except OSError:
            return ""

    def counters(self, outside: Mapping[str, str], prefix: str) -> SwitchCounters:
        """Read the frames that the measured ports received, and the polling threads' cycles.

        Args:
            outside: the bridge of each port that leads to the generator, by the port's name.
            prefix: how names of instances' ports begin.
        """
        inside = {name: INTEGRATION for name in self._numbers() if name.startswith(prefix)}
        ports = self._counted({**outside, **inside})
        threads = pmd.read_statistics(self.control)
        return SwitchCounters(
            packets=sum(one.rx_packets or 0 for one in ports.values()),
            busy_cycles=sum(thread.busy_cycles for thread in threads),
            rounding_cycles=pmd.rounding_of(threads),
            source=pmd.source_of(threads),
            raw={"ports": {name: reading.port_totals(one) for name, one in ports.items()}},
        )

    def _counted(self, bridges: Mapping[str, str]) -> dict[str, PortCounters]:
        """Return the ports' counters by name, given each port's bridge: OpenFlow numbers are unique only within one."""
        numbers = self._numbers()
        found: dict[str, PortCounters] = {}
        for bridge in dict.fromkeys(bridges.values()):
            with BridgeController(file_in(self._node, f"/run/openvswitch/{bridge}.mgmt")) as controller:
                counted = dict(controller.ports())
            found |= {
                name: counted[numbers[name]]
                for name, home in bridges.items()
                if home == bridge and numbers.get(name) in counted
            }
        return found

    def _datapath_drops(self) -> dict[str, int]:
        return reading.datapath_drops(unixctl.command(self.control, "coverage/show"))

    def _numbers(self) -> dict[str, int]:
        """Return the OpenFlow numbers of all ports, by their names."""
        rows = json.loads(self.vsctl("--format=json", "--columns=name,ofport", "list", "Interface"))["data"]
        return {name: number for name, number in rows if isinstance(number, int)}
