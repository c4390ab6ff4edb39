"""The guests of a path on a cloud, whose agents are asked through the libvirt of their computes.

Nova gives an instance of an image with `hw_qemu_guest_agent` a virtio port, which libvirt holds. What it is told to
send to the QEMU guest agent there comes to nfvbed's agent, which has one command more: `vloop`, with a request as
arguments.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from openstack.connection import Connection

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker.connection import asking
from nfvbed.cloud.verify.commands import Hypervisor
from nfvbed.errors import NfvbedError, OnboardError, UnsupportedError
from nfvbed.records.readings import Unavailable
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.guest.machines import GuestPort, PathGuest, PathGuests
from nfvbed.vnfs.vm.agent import Agent, AgentChannel, AgentLine

_COMMAND = "vloop"
_MORE_S = 10.0
"""For libvirt itself, beside the agent's own time."""
_NO_PORT, _NOBODY = "QEMU guest agent is not configured", "QEMU guest agent is not connected"
"""libvirt's words: the domain has no such port; nobody has it open in the guest."""
_ONBOARD_AGAIN = "nfvbed offboard, then onboard again: nfvbed gives its images the property hw_qemu_guest_agent"
_SEE_CONSOLE = "see its console: it boots, or its agent has ended, or is one of an older image (make images renews it)"
_SEE_COMPUTE = "see whether the compute's libvirt answers (nfvbed verify)"


class LibvirtChannel(AgentChannel):
    """The virtio port of an instance, through the libvirt of its compute.

    Args:
        domain: UUID of libvirt's domain, which is the instance's id.
    """

    def __init__(self, hypervisor: Hypervisor, domain: str) -> None:
        self.where = f"instance {domain} on {hypervisor.host}"
        self._hypervisor = hypervisor
        self._domain = domain

    def open(self, do: str, deadline: float) -> AgentLine:
        """Return the channel: libvirt connects for each command."""
        return _LibvirtLine(self, do, deadline)

    def execute(self, request: bytes, do: str, timeout_s: float) -> bytes:
        """Have libvirt send a request, and return the agent's answer.

        Raises:
            UnsupportedError: the instance has no such port.
            OnboardError: libvirt does not reach the agent, or its answer is none.
        """
        command = json.dumps({"execute": _COMMAND, "arguments": json.loads(request)})
        seconds = max(round(timeout_s), 1)
        words = ("--connect", "qemu:///system", "qemu-agent-command", "--timeout", str(seconds), self._domain, command)
        try:
            answer = self._hypervisor.virsh(words, timeout_s + _MORE_S)
        except NfvbedError as failure:
            raise self._unreached(do, f"{failure.what}: {failure.observed}", failure.fix or _SEE_COMPUTE) from failure
        if answer.status:
            raise self._refused(do, answer.said.strip() or f"exit status {answer.status}")
        try:
            return json.dumps(json.loads(answer.out)["return"]).encode()
        except (ValueError, KeyError, TypeError) as failure:
            raise self._unreached(do, f"libvirt printed {answer.out[:120]!r}", "make images") from failure

    def _refused(self, do: str, said: str) -> NfvbedError:
        if _NO_PORT in said:
            what = "the instance has no port on which its agent could be asked"
            return UnsupportedError(what, where=self.where, observed=said, fix=_ONBOARD_AGAIN)
        return self._unreached(do, said, _SEE_CONSOLE if _NOBODY in said else _SEE_COMPUTE)

    def _unreached(self, do: str, observed: str, fix: str) -> OnboardError:
        what = f"the guest's agent could not be asked to {do}"
        return OnboardError(what, where=self.where, observed=observed, fix=fix)


class _LibvirtLine(AgentLine):
    """One command of libvirt's."""

    def __init__(self, channel: LibvirtChannel, do: str, deadline: float) -> None:
        self._channel, self._do, self._deadline = channel, do, deadline
        self._answer = b""

    def __exit__(self, *_: object) -> None:
        """Leave nothing: the command has ended."""

    def send(self, line: bytes) -> None:
        """Send it, and wait for the answer."""
        self._answer = self._channel.execute(line, self._do, max(self._deadline - time.monotonic(), 1.0))

    def read(self) -> bytes:
        """Return the answer, which is that of this request: libvirt has synchronized with the agent first."""
        return self._answer


@dataclass(frozen=True)
class CloudGuest(PathGuest):
    """An instance with an agent."""

    instance: PlacedInstance
    hypervisor: Hypervisor

    @property
    def name(self) -> str:
        """The VNF's name."""
        return self.instance.name

    @cached_property
    def agent(self) -> Agent:
        """A client of its agent."""
        return Agent(LibvirtChannel(self.hypervisor, self.instance.id))

    def mac(self, port: int) -> str:
        """Find it among Neutron's ports."""
        if port >= len(self.instance.ports):
            raise OnboardError(f"{self.name} has no port {port}", observed=f"{len(self.instance.ports)} ports")
        return self.instance.ports[port].mac


def path_guests(
    connection: Connection, compute: Compute, choice: VnfChoice | None, instances: Sequence[PlacedInstance]
) -> PathGuests | Unavailable:
    """Return the guests of a path, the second port of each joined with the first one of the next.

    Args:
        choice: the VNF that was onboarded.

    Raises:
        OnboardError: Neutron does not answer.
    """
    if choice is None or not instances:
        return Unavailable("it has no VNFs, so no guest")
    if choice.image is None or not choice.image.agent:
        return Unavailable("its image has no agent of nfvbed, which starts the work inside")
    found: list[PathGuest] = []
    for one in instances:
        hypervisor = compute.hypervisor(one.host)
        if hypervisor is None:
            return Unavailable(f"nothing here reaches the libvirt of its guests: {compute.hidden or compute.host}")
        found.append(CloudGuest(one, hypervisor))
    pairs = [pair for pair in pairwise(instances) if _joined(*pair)]
    by_id = {one.id: guest for one, guest in zip(instances, found, strict=True)}
    joined = tuple((GuestPort(by_id[first.id], 1), GuestPort(by_id[second.id], 0)) for first, second in pairs)
    return PathGuests(tuple(found), joined, _network(connection, *pairs[0]) if pairs else "")


def _joined(first: PlacedInstance, second: PlacedInstance) -> bool:
    """Return whether one network has the second port of one and the first one of the next: not where both are alike."""
    return first.ports[1].network == second.ports[0].network


def _network(connection: Connection, first: PlacedInstance, second: PlacedInstance) -> str:
    """Return what joins two instances: the network with its kind, as Neutron tells it, and their computes."""
    name = first.ports[1].network
    with asking(f"network {name}"):
        found = connection.network.find_network(name)
    kind = found.provider_network_type if found is not None else None
    physical = found.provider_physical_network if found is not None else None
    of = " ".join(filter(None, (kind, f"of physical network {physical}" if physical else "")))
    hosts = tuple(dict.fromkeys((first.host, second.host)))
    places = f"both on compute {hosts[0]}" if len(hosts) == 1 else f"on computes {' and '.join(hosts)}"
    return f"network {name}{f' ({of})' if of else ''} joins them, {places}"
