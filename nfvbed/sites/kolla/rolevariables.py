"""Variables of nfvbed's own roles (deploy/roles), which run beside Kolla's; Kolla's take no notice of them."""

from collections.abc import Mapping
from typing import Any

from nfvbed.cloud.kolla import nicnames
from nfvbed.cloud.kolla.nicnames import device
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.dataplanes.ovs.afxdp.probe import port_request
from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.dataplanes.ovs.tuning import userspace_settings
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions
from nfvbed.sites.kolla import affinity, vppsetup
from nfvbed.sites.kolla.model import Order
from nfvbed.sites.kolla.switching import uplinks
from nfvbed.spec.variant import options_of

PREPARES_HOST = "nfvbed_host"
"""Role that sets hugepages, isolated cores and the command line of a machine's kernel."""
PYTHON_FOLDER = "/opt/nfvbed"
"""Of a machine: modules that Kolla's containers are given."""
_LOCAL_SETTINGS = "/etc/openstack-dashboard/local_settings.d"
_PANELS = ("_8510_nfv_panel_group.py", "_8520_nfvbed_panel.py")
_OF_NEUTRON = ("neutron_server", "neutron_rpc_server", "neutron_periodic_worker")
"""Kolla's services that load mechanism drivers."""


def of_all(order: Order) -> dict[str, Any]:
    """Return what is the same on all machines: folders that Kolla's containers get beside their own."""
    version = order.release.image_python[order.site.base_distro]
    packages = f"/var/lib/kolla/venv/lib/python{version}/site-packages"
    found: dict[str, Any] = {}
    if "nfvbed_horizon" in order.release.everywhere:
        own = f"{PYTHON_FOLDER}/horizon"
        pairs = {f"{own}/nfvbed_horizon": f"{packages}/nfvbed_horizon"}
        pairs |= {f"{own}/enabled/{one}": f"{packages}/openstack_dashboard/local/enabled/{one}" for one in _PANELS}
        pairs[f"{own}/_9990_nfvbed.py"] = f"{_LOCAL_SETTINGS}/_9990_nfvbed.py"
        found["horizon_extra_volumes"] = _volumes(pairs)
    if "vpp" in order.planes:
        names = ("nfvbed", "nfvbed.dist-info")
        volumes = _volumes({f"{PYTHON_FOLDER}/neutron/{name}": f"{packages}/{name}" for name in names})
        found |= {f"{service}_extra_volumes": volumes for service in _OF_NEUTRON}
    return found


def _volumes(pairs: Mapping[str, str]) -> list[str]:
    return [f"{outside}:{inside}:ro" for outside, inside in pairs.items()]


def of_machine(order: Order, name: str) -> dict[str, Any]:
    """Return which roles a machine gets, and what they take."""
    host = order.site.hosts[name]
    roles = [*_of_variant(order, name)] if host.is_compute else []
    if host.is_controller:
        # The server's part of VPP's: its mechanism driver.
        roles += [role for role in ("nfvbed_vpp",) if role in order.roles and role not in roles]
        roles += order.release.everywhere
    found: dict[str, Any] = {"nfvbed_roles": roles}
    if host.is_controller:
        found["nfvbed_tacker_vim"] = order.site.name
    if order.plane_on(name) in ("ovs-dpdk", "vpp"):
        found["nfvbed_nics_bindings"] = [
            {"pci": nic.pci, "driver": nic.driver} for nic in host.nics_of("dpdk") if not nic.driver.startswith("mlx")
        ]
    return found | (_of_compute(order, name) if host.is_compute else {})


def _of_variant(order: Order, name: str) -> tuple[str, ...]:
    """Return the roles that a compute's variant needs; computes of different variants are prepared alike.

    Else twins would run with different command lines of the kernel, and nothing could be said of their variants.
    """
    own = order.support_on(name).roles
    alike = (PREPARES_HOST,) if order.pinning.is_mixed and PREPARES_HOST in order.roles else ()
    return tuple(dict.fromkeys((*alike, *own)))


def _of_compute(order: Order, name: str) -> dict[str, Any]:
    host = order.site.hosts[name]
    match order.plane_on(name):
        case "ovs-dpdk":
            return _ovs_dpdk(order, name)
        case "ovs-afxdp":
            return _afxdp(order, name)
        case "vpp":
            return vppsetup.of_machine(order, name)
        case "sriov":
            nics = host.nics_of("sriov")
            functions = [{"device": device(nic), "pci": nic.pci, "functions": nic.functions} for nic in nics]
            return {"nfvbed_sriov_functions": functions}
        case "macvtap":
            pairs = ",".join(f"{nic.network}:{device(nic)}" for nic in host.nics_of("dpdk"))
            return {"nfvbed_macvtap_agent_mappings": pairs}
    return {}


def _ovs_dpdk(order: Order, name: str) -> dict[str, Any]:
    host, place = order.site.hosts[name], order.placements[name]
    options = options_of(order.variant_on(name), OvsUserspaceOptions)
    ports = [
        {
            "name": nicnames.given_name(link.nic),
            "bridge": link.bridge,
            "pci": link.nic.pci or nicnames.look_up(link.nic, host, "pciid"),
            # Two ports of a ConnectX-3 have one PCI address.
            "devargs": link.nic.pci or f"class=eth,mac={link.nic.mac}",
            "driver": link.nic.driver,
            "n_rxq": options.n_rxq,
            "n_rxq_desc": options.rx_queue_size,
            "mtu_request": order.site.networks[link.network].mtu,
            "affinity": affinity.of_uplink(order, name, link, options),
        }
        for link in uplinks(order, name)
    ]
    masks = {"pmd-cpu-mask": core_mask(place.polling), "dpdk-lcore-mask": core_mask(place.main)}
    return {
        "nfvbed_ovs_dpdk_other_config": masks | userspace_settings(options),
        "nfvbed_ovs_dpdk_polling_cores": list(place.polling),
        "nfvbed_ovs_dpdk_ports": ports,
        "nfvbed_ovs_dpdk_address": host.overlay_address,
    }


def _afxdp(order: Order, name: str) -> dict[str, Any]:
    place = order.placements[name]
    options = options_of(order.variant_on(name), OvsAfxdpOptions)
    guests = port_request("tap", 0, options, ())
    ports = [
        {
            "name": device(link.nic),
            "bridge": link.bridge,
            "affinity": affinity.of_uplink(order, name, link, options),
        }
        for link in uplinks(order, name)
    ]
    masks = {"pmd-cpu-mask": core_mask(place.polling)} if place.polling else {}
    return {
        "nfvbed_afxdp_other_config": masks | userspace_settings(options),
        "nfvbed_afxdp_polling_cores": list(place.polling),
        "nfvbed_afxdp_type": guests.type,
        "nfvbed_afxdp_options": dict(guests.options),
        "nfvbed_afxdp_ports": ports,
    }
