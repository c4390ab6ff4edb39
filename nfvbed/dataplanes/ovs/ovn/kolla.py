"""OVN in a cloud that kolla-ansible deploys: with the kernel's datapath, and why with no other."""

from typing import Any

from nfvbed.cloud.kolla.agent import ServiceOptions, SwitchAgent
from nfvbed.cloud.kolla.machine import KollaMachine
from nfvbed.cloud.kolla.plane import KollaPlane, NeutronParts, Variables
from nfvbed.cloud.kolla.release import ReleaseSupport, unsupported
from nfvbed.cloud.kolla.uplinks import Uplink
from nfvbed.spec.kollarelease import KollaReleaseSpec

ON_DPDK = (
    "Kolla has no OVN on DPDK: its containers ovsdpdk_db and ovsdpdk_vswitchd are enabled with neutron_plugin_agent:"
    " openvswitch alone, and with ovn Open vSwitch has the kernel's datapath (ovn-kernel)"
)
_ON_AFXDP = (
    "with neutron_plugin_agent: ovn Kolla's Open vSwitch has the kernel's datapath (ovn-kernel), and the ports that"
    " nfvbed's role nfvbed_afxdp makes are those of the openvswitch agent"
)
BEFORE_OVN = unsupported("kolla-ansible 4.0 has no role for OVN")
_METADATA = "neutron-ovn-metadata-agent"


def _none(_: KollaReleaseSpec, __: tuple[Uplink, ...]) -> ServiceOptions:
    """Return nothing: Kolla writes the networks of a machine's NICs into its database of Open vSwitch."""
    return {}


# DHCP and routers are rules of ovn-controller.
_OVN = SwitchAgent("ovn", "ovn-controller", _none, of_controller=(_METADATA,), tunnels="geneve", is_open_vswitch=True)


def _of_machine(_: KollaMachine) -> dict[str, Any]:
    """Return the chassis' name by which Neutron finds an instance's host.

    Kolla's own is the domain name, and Nova calls its host by what `uname -n` says: where the two differ, no port is
    bound.
    """
    return {"openvswitch_hostname": "{{ ansible_facts.nodename }}"}


KOLLA = (
    KollaPlane(name="ovn", releases={"2026.1": unsupported(ON_DPDK), "ocata": BEFORE_OVN}),
    KollaPlane(name="ovn-afxdp", releases={"2026.1": unsupported(_ON_AFXDP), "ocata": BEFORE_OVN}),
    KollaPlane(
        name="ovn-kernel",
        releases={
            "2026.1": ReleaseSupport("kolla"),
            "ocata": unsupported("kolla-ansible 4.0 has no role for OVN", possible_on="2026.1"),
        },
        neutron=NeutronParts(agent=_OVN, of_compute=(_OVN.name, _METADATA), mechanisms=("ovn",)),
        variables=Variables(of_rack=_of_machine),
        not_built="OVN is not among the images that nfvbed builds for the registry of a box",
    ),
)
