"""What is written down of a switch between the kernel's links."""

from typing import TypedDict

from nfvbed.dataplanes.ports import shares
from nfvbed.dataplanes.ports.kernel_links import IDLE_LINKS, BridgePlan, BridgeSpaces
from nfvbed.records.state import PlaneState


class LinkState(PlaneState):
    """Its links' namespace, and what the time of their threads is turned into cycles by."""

    switch_netns: str
    core_use: str
    """Where the switch's work is done (`kernel_cores.py`)."""
    tsc_hz: int


class GeneratorEndOptions(TypedDict):
    """The fields for the generator's ends, among those that every data plane may have."""

    generator_netns: str | None
    idle_port: str | None
    destination_macs: tuple[str, ...] | None
    destination_mac_count: int | None


def outside(plan: BridgePlan, spaces: BridgeSpaces) -> GeneratorEndOptions:
    """Return what is outside of the switch: shares of flows go by the address that the generator sends to."""
    macs = shares.first_macs(plan.layout)
    return GeneratorEndOptions(
        generator_netns=spaces.generator,
        idle_port=IDLE_LINKS[0] if len(plan.outside) == 1 else None,
        destination_macs=macs,
        destination_mac_count=None if macs is None else plan.layout.ways,
    )
