"""What is recorded of a switch between the kernel's links."""

from typing import TypedDict

from nfvbed.dataplanes.ports import shares
from nfvbed.dataplanes.ports.kernel_links import IDLE_LINKS, BridgePlan, BridgeSpaces
from nfvbed.records.state import PlaneState


class LinkState(PlaneState):
    """Its links' namespace, and the rate that turns its threads' time into cycles."""

    switch_netns: str
    core_use: str
    """Where the switch's work is done (`kernel_cores.py`)."""
    tsc_hz: int


class GeneratorEndOptions(TypedDict):
    """The options of the generator's ends, among those that every data plane may have."""

    generator_netns: str | None
    idle_port: str | None
    destination_macs: tuple[str, ...] | None
    destination_mac_count: int | None


def outside(plan: BridgePlan, spaces: BridgeSpaces) -> GeneratorEndOptions:
    """Return the options of the switch's outside; shares of flows go by the address that the generator sends to."""
    macs = shares.first_macs(plan.layout)
    return GeneratorEndOptions(
        generator_netns=spaces.generator,
        idle_port=IDLE_LINKS[0] if len(plan.outside) == 1 else None,
        destination_macs=macs,
        destination_mac_count=None if macs is None else plan.layout.ways,
    )
