"""The kinds of compute node: their services as values, as those of the controller are."""

from dataclasses import dataclass

from nfvbed.sites.openstack.services import libvirt, neutron, nova
from nfvbed.sites.openstack.services.service import Process, Service

MGMT = "mgmt"
DATA = ("data0", "data1")
"""Physical networks by their names in Neutron; a compute node's links to them are named so, too."""


@dataclass(frozen=True)
class ComputeKind:
    """A compute node of one kind."""

    host: str
    """Its name, in Nova and Neutron too."""
    agent: str
    """Neutron's agent there: its program."""
    services: tuple[Service, ...]
    """In the order in which they are started."""

    @property
    def processes(self) -> tuple[Process, ...]:
        """All that has to run."""
        return tuple(process for service in self.services for process in service.processes)


LINUX_BRIDGE = ComputeKind(
    "linux-bridge", "neutron-linuxbridge-agent", (libvirt.SERVICE, nova.COMPUTE, neutron.agent("linuxbridge"))
)
_TAPS = Service("taps", processes=(Process("tap-devices", ("/usr/bin/python3", "-I", "/run/nfvbed/tapdevices.py")),))
MACVTAP = ComputeKind(
    "macvtap", "neutron-macvtap-agent", (_TAPS, libvirt.SERVICE, nova.COMPUTE, neutron.agent("macvtap"))
)
KINDS = {kind.host: kind for kind in (LINUX_BRIDGE, MACVTAP)}
