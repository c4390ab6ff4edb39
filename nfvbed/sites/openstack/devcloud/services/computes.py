"""The kinds of compute node: their services as values, as those of the controller are."""

from dataclasses import dataclass

from nfvbed.sites.openstack.devcloud.services import library, libvirt, neutron, nova, openvswitch
from nfvbed.sites.openstack.devcloud.services.service import Process, Service

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
    outside: str = ""
    """A switch that is a process of this machine, in the node's network namespace: its name. Empty: none is."""

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
OVS_AFXDP = ComputeKind(
    "ovs-afxdp",
    "neutron-openvswitch-agent",
    (openvswitch.SERVICE, libvirt.SERVICE, nova.COMPUTE, neutron.agent("openvswitch")),
)
VPP = ComputeKind("vpp", library.AGENT_BINARY, (libvirt.SERVICE, nova.COMPUTE, neutron.VPP), outside="vpp")
KINDS = {kind.host: kind for kind in (LINUX_BRIDGE, MACVTAP, OVS_AFXDP, VPP)}
