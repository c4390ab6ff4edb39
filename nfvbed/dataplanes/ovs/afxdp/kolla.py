"""Open vSwitch on AF_XDP in a cloud that kolla-ansible deploys: Kolla's switch, whose ports nfvbed's role adds."""

from typing import Any

from nfvbed.cloud.kolla.machine import KollaCompute
from nfvbed.cloud.kolla.nicnames import device
from nfvbed.cloud.kolla.placement import Polling
from nfvbed.cloud.kolla.plane import KollaPlane, NeutronParts, NicUse, SwitchParts, Variables
from nfvbed.cloud.kolla.release import ReleaseSupport, unsupported
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.dataplanes.ovs.afxdp.probe import port_request
from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.dataplanes.ovs.kolla import FIREWALL, OPTIONS, affinity_of, check_affinity, settings_of
from nfvbed.spec.variant import Variant, options_of


def _polling(variant: Variant) -> Polling | None:
    options = options_of(variant, OvsAfxdpOptions)
    return None if options.interrupt else Polling(options.pmd_cores)


def _of_role(compute: KollaCompute) -> dict[str, Any]:
    place = compute.placement
    options = options_of(compute.variant, OvsAfxdpOptions)
    guests = port_request("tap", 0, options, ())
    ports = [
        {"name": device(link.nic), "bridge": link.bridge, "affinity": affinity_of(compute, link, options)}
        for link in compute.links
    ]
    masks = {"pmd-cpu-mask": core_mask(place.polling)} if place.polling else {}
    return {
        "nfvbed_afxdp_other_config": masks | settings_of(compute, options),
        "nfvbed_afxdp_polling_cores": list(place.polling),
        "nfvbed_afxdp_type": guests.type,
        "nfvbed_afxdp_options": dict(guests.options),
        "nfvbed_afxdp_ports": ports,
    }


KOLLA = KollaPlane(
    name="ovs-afxdp",
    releases={
        "2026.1": ReleaseSupport("roles", ("nfvbed_afxdp",)),
        "ocata": unsupported(
            "Open vSwitch in Ocata's images is older than AF_XDP, which came with Linux 4.18", possible_on="2026.1"
        ),
    },
    options=OPTIONS | {"xdp_mode", "need_wakeup", "interrupt"},
    nics=NicUse(role="dpdk"),
    # In user space a tunnel leaves by a port of the switch that has its address; here the machine has it.
    neutron=NeutronParts(settings=FIREWALL, has_tunnels=False),
    switch=SwitchParts(datapath="netdev", polling=_polling, check=check_affinity),
    variables=Variables(
        fixed={"ovs_datapath": "netdev"},
        of_roles=_of_role,
    ),
)
