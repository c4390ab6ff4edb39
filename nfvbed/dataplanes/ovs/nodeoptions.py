"""Which options of Open vSwitch's userspace datapath reach a cloud's switch, and which its agent or Nova decides."""

from nfvbed.dataplanes.computes.refusals import Others, refuse_all
from nfvbed.dataplanes.ovs import tuning
from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.dataplanes.ovs.userspace import OvsUserspaceOptions
from nfvbed.spec.variant import Variant

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
    "release": (None, "the switch is that of the cloud's own root"),
    "program": (None, "the switch is that of the cloud's own root"),
}
_RULES = ("normal", "Neutron's agent writes the rules, which learn addresses")


def check(variant: Variant, options: OvsUserspaceOptions, own: Others) -> None:
    """Refuse options that do not reach the switch.

    Args:
        own: options that do not reach this switch, beside those that reach no switch of a cloud.

    Raises:
        UnsupportedError: with the option's key, its value and what it would have to be.
    """
    # Rules are Neutron's, which learn addresses; only a file that asks for others by name is refused.
    asked: Others = {"flows": _RULES} if "flows" in options.model_fields_set else {}
    refuse_all(variant, {**_OF_NEUTRON, **own, **asked})


def settings(options: OvsUserspaceOptions, cores: tuple[int, ...]) -> dict[str, str]:
    """Return the switch's settings (`other_config`), but for its threads' sleep, which is not the variant's alone.

    Args:
        cores: of the polling threads.
    """
    found = tuning.userspace_settings(options)
    found.pop("pmd-maxsleep", None)
    return found | {"pmd-cpu-mask": core_mask(cores)}
