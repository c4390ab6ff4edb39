"""macvtap in a cloud that kolla-ansible deploys: Neutron's agent for it, which a role of nfvbed's starts."""

from typing import Any

from nfvbed.cloud.kolla.machine import KollaCompute
from nfvbed.cloud.kolla.nicnames import device
from nfvbed.cloud.kolla.plane import KollaPlane, NeutronParts, NicUse, Variables
from nfvbed.cloud.kolla.release import ReleaseSupport, unsupported
from nfvbed.records import PortKind


def _of_role(compute: KollaCompute) -> dict[str, Any]:
    pairs = ",".join(f"{nic.network}:{device(nic)}" for nic in compute.host.nics_of("dpdk"))
    return {"nfvbed_macvtap_agent_mappings": pairs}


KOLLA = KollaPlane(
    name="macvtap",
    releases={
        "2026.1": ReleaseSupport("roles", ("nfvbed_macvtap_agent",)),
        "ocata": unsupported(
            "kolla-ansible 4.0 puts a NIC of every compute on a bridge, and nfvbed has no role in its place yet",
            possible_on="2026.1",
        ),
    },
    # Its devices lie on the NIC itself.
    nics=NicUse(role="dpdk", uplinks=(), has_vlan_devices=True),
    neutron=NeutronParts(
        of_compute=("neutron-macvtap-agent",),
        mechanisms=("openvswitch", "macvtap", "l2population"),
        has_tunnels=False,
        overlay_address="unused",
    ),
    variables=Variables(of_roles=_of_role),
    port_kind=PortKind.MACVTAP,
    no_chain="VNFs of a chain would be on macvtap devices of one NIC, and what one sends to no device's address"
    " leaves through the NIC",
)
