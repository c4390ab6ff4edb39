"""Linux bridge in a cloud that kolla-ansible deploys: only releases whose Neutron has the agent for it."""

from nfvbed.cloud.kolla.agent import ServiceOptions, SwitchAgent
from nfvbed.cloud.kolla.nicnames import device
from nfvbed.cloud.kolla.plane import KollaPlane, NeutronParts, NicUse
from nfvbed.cloud.kolla.release import ReleaseSupport, unsupported
from nfvbed.cloud.kolla.uplinks import Uplink
from nfvbed.spec.kollarelease import KollaReleaseSpec


def _interfaces(_: KollaReleaseSpec, links: tuple[Uplink, ...]) -> ServiceOptions:
    """Return the mapping of Kolla's one network, physnet1, to all NICs."""
    pairs = ",".join(f"{link.network}:{device(link.nic)}" for link in links)
    return {"linux_bridge": {"physical_interface_mappings": pairs}}


_AGENT = SwitchAgent("linuxbridge", "neutron-linuxbridge-agent", _interfaces)

KOLLA = KollaPlane(
    name="linux-bridge",
    releases={
        "2026.1": unsupported(
            "Neutron dropped its Linux bridge agent in 2025.1, and kolla-ansible with it", possible_on="ocata"
        ),
        "ocata": ReleaseSupport("kolla"),
    },
    nics=NicUse(has_vlan_devices=True),
    neutron=NeutronParts(agent=_AGENT, of_compute=(_AGENT.name,), mechanisms=("linuxbridge", "l2population")),
)
