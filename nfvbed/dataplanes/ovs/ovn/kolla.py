"""Why kolla-ansible cannot deploy it: OVN on DPDK."""

from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.cloud.kolla.release import unsupported

_WHY = (
    "Kolla has no OVN on DPDK: its containers ovsdpdk-db and ovsdpdk-vswitchd are deployed with Neutron's openvswitch"
    " agent alone, and neutron_plugin_agent: ovn takes the kernel's datapath"
)

KOLLA = KollaPlane(
    name="ovn",
    releases={
        "2026.1": unsupported(_WHY),
        "ocata": unsupported("kolla-ansible 4.0 has no OVN; it came as neutron_plugin_agent: ovn with Train"),
    },
)
