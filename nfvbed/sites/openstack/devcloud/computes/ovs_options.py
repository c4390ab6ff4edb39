"""Which options of Open vSwitch's userspace datapath reach a cloud's switch, and which its agent and Nova decide."""

from nfvbed.dataplanes.ovs import tuning
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions
from nfvbed.sites.openstack.devcloud.computes.refusals import Others, refuse_all
from nfvbed.spec.variant import Variant, options_of

GUEST_RING_SIZE = 1024
"""Nova's `rx_queue_size` on this compute."""
SOCKET_MEMORY_MIB = 256
"""What DPDK was given when the cloud's switch started."""
MANAGED = (
    "smc-enable",
    "emc-insert-inv-prob",
    "pmd-rxq-assign",
    "pmd-auto-lb",
    "pmd-auto-lb-rebal-interval",
    "pmd-auto-lb-load-threshold",
    "pmd-auto-lb-improvement-threshold",
    "flow-limit",
    "max-idle",
    "max-revalidator",
)
"""Settings of the switch that a variant decides; what it does not ask for is as Open vSwitch has it by itself."""
_OF_NEUTRON: Others = {
    "steering": ("static", "Neutron's agent writes the rules"),
    "rxq_affinity": ({}, "ports of instances get their names from Neutron"),
    "mac_table_size": (None, "Neutron's agent makes the bridges"),
}
_OF_DPDK: Others = {
    "port_type": ("vhost-user", "instances have vhost-user sockets, and the generator too"),
    "socket_memory_mib": (SOCKET_MEMORY_MIB, "the cloud's switch has been started with that"),
    "rx_queue_size": (GUEST_RING_SIZE, "Nova gives guests rings of that size (rx_queue_size)"),
}
_OF_AFXDP: Others = {
    "vnf_ports": ("kernel", "the compute's switch runs without DPDK, so Neutron gives instances taps"),
    "n_rxq": (1, "the generator's links and the instances' taps have one queue each"),
    "socket_memory_mib": (SOCKET_MEMORY_MIB, "the compute's switch runs without DPDK"),
    "rx_queue_size": (1024, "rings of AF_XDP sockets have the size that Open vSwitch gives them"),
}
_RULES = ("normal", "Neutron's agent writes the rules, which learn addresses")


def check_dpdk(variant: Variant) -> None:
    """Refuse what does not reach a switch with DPDK.

    Raises:
        UnsupportedError: with the option's key, its value and what it would have to be.
    """
    _check(variant, options_of(variant, OvsDpdkOptions), _OF_DPDK)


def check_afxdp(variant: Variant) -> None:
    """Refuse what does not reach a switch on AF_XDP sockets.

    Raises:
        UnsupportedError: with the option's key, its value and what it would have to be.
    """
    _check(variant, options_of(variant, OvsAfxdpOptions), _OF_AFXDP)


def _check(variant: Variant, options: OvsUserspaceOptions, own: Others) -> None:
    # Rules are Neutron's, which learn addresses; only a file that asks for others by name is refused.
    asked: Others = {"flows": _RULES} if "flows" in options.model_fields_set else {}
    refuse_all(variant, {**_OF_NEUTRON, **own, **asked})


def settings(options: OvsUserspaceOptions, cores: tuple[int, ...]) -> dict[str, str]:
    """Return the switch's settings (`other_config`) but the sleep of its threads, which is not a variant's alone.

    Args:
        options: of the variant.
        cores: of the polling threads.
    """
    found = tuning.userspace_settings(options)
    found.pop("pmd-maxsleep", None)
    return found | {"pmd-cpu-mask": core_mask(cores)}
