"""Why kolla-ansible cannot deploy it: OVN on Open vSwitch's userspace datapath."""

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.cloud.kolla.release import unsupported

ON_DPDK = (
    "Kolla has no OVN on DPDK: its containers ovsdpdk_db and ovsdpdk_vswitchd are enabled with neutron_plugin_agent:"
    " openvswitch alone, and with ovn Open vSwitch has the kernel's datapath"
)

_ON_AFXDP = (
    "with neutron_plugin_agent: ovn Kolla's Open vSwitch has the kernel's datapath, and the ports that nfvbed's role"
    " nfvbed_afxdp makes are those of the openvswitch agent"
)
BEFORE_OVN = unsupported("kolla-ansible 4.0 has no role for OVN")

KOLLA = (
    KollaPlane(name="ovn", releases={"2026.1": unsupported(ON_DPDK), "ocata": BEFORE_OVN}),
    KollaPlane(name="ovn-afxdp", releases={"2026.1": unsupported(_ON_AFXDP), "ocata": BEFORE_OVN}),
)
