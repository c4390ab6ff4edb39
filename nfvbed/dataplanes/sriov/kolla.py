"""Virtual functions in a cloud that kolla-ansible deploys: a role of nfvbed's makes them, Nova assigns them."""

import json
from typing import Any

from nfvbed.cloud.kolla.agent import OPEN_VSWITCH
from nfvbed.cloud.kolla.machine import KollaCompute, KollaMachine
from nfvbed.cloud.kolla.nicnames import device
from nfvbed.cloud.kolla.plane import KollaPlane, NeutronParts, NicUse, Variables
from nfvbed.cloud.kolla.release import ReleaseSupport
from nfvbed.records import PortKind
from nfvbed.spec.rack import RackHostSpec

_NAME = "sriov"
_ENABLED = "enable_neutron_sriov"
_MAKES_FUNCTIONS = "nfvbed_sriov"


def _passed_through(host: RackHostSpec) -> tuple[str, ...]:
    """Return Nova's descriptions of a machine's functions, by the address of their physical function."""
    described = [{"address": nic.pci, "physical_network": nic.network} for nic in host.function_nics]
    return tuple(json.dumps(one) for one in described)


def _of_rack(machine: KollaMachine) -> dict[str, Any]:
    """Return the controller's settings for networks of functions; computes of other variants have no agent."""
    has_functions = machine.plane == _NAME
    enabled = {} if machine.is_everywhere(_NAME) else {_ENABLED: machine.host.is_controller or has_functions}
    # Kolla's own is a network `sriovnet1` on the interface of tunnels, where nothing is set.
    nics = machine.host.function_nics if has_functions else ()
    return enabled | {
        "neutron_sriov_physnet_mappings": {str(nic.network): device(nic) for nic in nics},
        # Kolla describes functions to Nova by their device's name; the override does so by PCI address.
        "nova_pci_passthrough_whitelist": [],
    }


def _of_preparation(compute: KollaCompute) -> dict[str, Any]:
    if compute.support.deployed_by != "roles":
        return {}
    mappings = ",".join(f"{nic.network}:{device(nic)}" for nic in compute.host.function_nics)
    return {"nfvbed_sriov_agent_mappings": mappings}


def _of_role(compute: KollaCompute) -> dict[str, Any]:
    nics = compute.host.function_nics
    functions = [{"device": device(nic), "pci": nic.pci, "functions": nic.functions} for nic in nics]
    return {"nfvbed_sriov_functions": functions}


KOLLA = KollaPlane(
    name=_NAME,
    releases={
        "2026.1": ReleaseSupport("kolla", (_MAKES_FUNCTIONS,)),
        "ocata": ReleaseSupport("roles", (_MAKES_FUNCTIONS, "nfvbed_sriov_agent")),
    },
    nics=NicUse(
        role="sriov",
        by_address="Nova knows functions by the address of their physical function",
        instances=("sriov",),
        functions_made_by=_MAKES_FUNCTIONS,
        passed_through=_passed_through,
    ),
    neutron=NeutronParts(
        of_compute=(OPEN_VSWITCH.name, "neutron-sriov-nic-agent"),
        mechanisms=("openvswitch", "l2population", "sriovnicswitch"),
        has_tunnels=False,
        overlay_address="unused",
    ),
    variables=Variables(
        everywhere={_ENABLED: True}, of_rack=_of_rack, of_preparation=_of_preparation, of_roles=_of_role
    ),
    port_kind=PortKind.VF,
    no_chain="a NIC's switch goes by addresses: a VNF would have to know the next one's, which is made after it",
)
