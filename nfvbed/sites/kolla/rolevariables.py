"""Variables of nfvbed's own roles (deploy/roles), which run beside Kolla's; Kolla's take no notice of them."""

from collections.abc import Mapping
from typing import Any

from nfvbed.sites.kolla.model import Order

PYTHON_FOLDER = "/opt/nfvbed"
"""A machine's folder of modules that Kolla's containers are given."""
_LOCAL_SETTINGS = "/etc/openstack-dashboard/local_settings.d"
_PANELS = ("_8510_nfv_panel_group.py", "_8520_nfvbed_panel.py")
_OF_THE_CLOUD = ("nfvbed_tacker",)
"""Roles that change the cloud through its APIs, and no machine: the first controller has them, as it has Tacker itself
(Kolla's `tacker_hosts`)."""
_OF_NEUTRON = ("neutron_server", "neutron_rpc_server", "neutron_periodic_worker")
"""Kolla's services that load mechanism drivers."""


def of_all(order: Order) -> dict[str, Any]:
    """Return the variables for all machines: folders that Kolla's containers get beside their own."""
    version = order.release.image_python[order.site.base_distro]
    packages = f"/var/lib/kolla/venv/lib/python{version}/site-packages"
    found: dict[str, Any] = {}
    if "nfvbed_horizon" in order.release.everywhere:
        own = f"{PYTHON_FOLDER}/horizon"
        pairs = {f"{own}/nfvbed_horizon": f"{packages}/nfvbed_horizon"}
        pairs |= {f"{own}/enabled/{one}": f"{packages}/openstack_dashboard/local/enabled/{one}" for one in _PANELS}
        pairs[f"{own}/_9990_nfvbed.py"] = f"{_LOCAL_SETTINGS}/_9990_nfvbed.py"
        found["horizon_extra_volumes"] = _volumes(pairs)
    names = tuple(dict.fromkeys(name for plane in order.planes for name in plane.neutron.packages))
    if names:
        volumes = _volumes({f"{PYTHON_FOLDER}/neutron/{name}": f"{packages}/{name}" for name in names})
        found |= {f"{service}_extra_volumes": volumes for service in _OF_NEUTRON}
    return found


def _volumes(pairs: Mapping[str, str]) -> list[str]:
    return [f"{outside}:{inside}:ro" for outside, inside in pairs.items()]


def of_machine(order: Order, name: str) -> dict[str, Any]:
    """Return a machine's roles, and their variables."""
    host, plane = order.site.hosts[name], order.plane_on(name)
    roles = [*order.support_on(name).roles] if host.is_compute else []
    if host.is_controller:
        roles += dict.fromkeys(role for one in order.planes for role in one.neutron.roles if role not in roles)
        first = name == order.controllers[0]
        roles += (role for role in order.release.everywhere if first or role not in _OF_THE_CLOUD)
    found: dict[str, Any] = {"nfvbed_roles": roles}
    if host.is_controller:
        found["nfvbed_tacker_vim"] = order.site.name
    if plane.switch.is_on_dpdk:
        found["nfvbed_nics_bindings"] = [
            {"pci": nic.pci, "driver": nic.driver} for nic in host.nics_of("dpdk") if not nic.stays_with_kernel
        ]
    return found | (plane.variables.of_roles(order.compute(name)) if host.is_compute else {})
