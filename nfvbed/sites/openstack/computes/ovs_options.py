"""Which options of Open vSwitch with DPDK reach a cloud's switch, and which its agent and Nova decide."""

from nfvbed.dataplanes.ovs import tuning
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.errors import UnsupportedError
from nfvbed.spec.variant import Variant

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
_OTHERS: dict[str, tuple[object, str]] = {
    "port_type": ("vhost-user", "instances have vhost-user sockets, and the generator too"),
    "steering": ("static", "Neutron's agent writes the rules"),
    "socket_memory_mib": (SOCKET_MEMORY_MIB, "the cloud's switch has been started with that"),
    "rx_queue_size": (GUEST_RING_SIZE, "Nova gives guests rings of that size (rx_queue_size)"),
    "rxq_affinity": ({}, "ports of instances get their names from Neutron"),
    "mac_table_size": (None, "Neutron's agent makes the bridges"),
}
"""Options that do not reach it: the value that they have all the same, and why."""


def ovs_options(variant: Variant) -> OvsDpdkOptions:
    """Return a variant's options.

    Raises:
        UnsupportedError: it is of another data plane.
    """
    if not isinstance(variant.options, OvsDpdkOptions):
        raise UnsupportedError(f"{variant.name} is not Open vSwitch with DPDK", observed=variant.options.dataplane)
    return variant.options


def check(variant: Variant) -> None:
    """Refuse what does not reach the switch.

    Raises:
        UnsupportedError: with the option's key, its value and what it would have to be.
    """
    options = ovs_options(variant)
    # Rules are Neutron's, which learn addresses; only a file that asks for others by name is refused.
    others = dict(_OTHERS)
    if "flows" in options.model_fields_set:
        others["flows"] = ("normal", "Neutron's agent writes the rules, which learn addresses")
    for key, (value, why) in others.items():
        if getattr(options, key) != value:
            raise UnsupportedError(
                f"{key} of {variant.name} does not reach the switch of a cloud",
                where=f"options.{key}",
                observed=f"{getattr(options, key)!r}; {why}",
                fix=f"{key}: {value!r}, or measure it on site lab",
            )


def settings(options: OvsDpdkOptions, cores: tuple[int, ...]) -> dict[str, str]:
    """Return the switch's settings (`other_config`) but the sleep of its threads, which is not a variant's alone.

    Args:
        options: of the variant.
        cores: of the polling threads.
    """
    found = tuning.userspace_settings(options)
    found.pop("pmd-maxsleep", None)
    return found | {"pmd-cpu-mask": core_mask(cores)}
