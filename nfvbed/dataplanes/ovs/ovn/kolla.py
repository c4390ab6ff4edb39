"""Why kolla-ansible cannot deploy it: OVN on DPDK."""

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.cloud.kolla.release import unsupported

_WHY = (
    "Kolla has no OVN on DPDK: its containers ovsdpdk_db and ovsdpdk_vswitchd are enabled with neutron_plugin_agent:"
    " openvswitch alone, and with ovn Open vSwitch has the kernel's datapath"
)

KOLLA = KollaPlane(
    name="ovn",
    releases={
        "2026.1": unsupported(_WHY),
        "ocata": unsupported("kolla-ansible 4.0 has no role for OVN"),
    },
)
