"""Maps VSPERF's tunnel within the switch (deployment `ptunp`) to a variant of the overlay."""

from typing import Final

from nfvbed.vsperf.conf.draft import Draft, one_of
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings
from nfvbed.vsperf.conf.testcase import TestCase

ONE_END: Final = "op2p"
"""Deployment in which frames leave or enter the switch encapsulated."""
IN_SWITCH: Final = "ptunp"
"""Deployment in which frames are encapsulated at one port and decapsulated at the other, both within the switch."""
_VARIANT_OF: Final = {"vxlan": "ovs-overlay-vxlan", "geneve": "ovs-overlay-geneve"}
_KINDS: Final = ("vxlan", "gre", "geneve")
PLAIN: Final = {"conntrack": False, "rules": 0}
"""Options of the overlay variant: VSPERF's bridges have the path's own rules alone."""
_PARTS: Final = (
    "two Open vSwitches with a link between them, one encapsulates and the other decapsulates; VSPERF has two bridges"
    " of one, and two more between them"
)


def map_tunnel(draft: Draft, settings: TestSettings, case: TestCase) -> str | None:
    """Map the deployment `ptunp`, whose switch is Open vSwitch with DPDK.

    Returns:
        The overlay variant that has this tunnel; None where the test has none, or has one that is missing.
    """
    if case.deployment != IN_SWITCH:
        return None
    found = settings.require("TUNNEL_TYPE")
    variant = _VARIANT_OF.get(str(one_of(draft, found, _KINDS)))
    if variant is None:
        draft.lacks(
            "tunnels of the overlay variants are vxlan or geneve", found, "--test-params \"TUNNEL_TYPE='vxlan'\""
        )
        return None
    if draft.nics:
        draft.lacks("the overlay's outer ports are virtual", SettingValue("Deployment", IN_SWITCH, case.place))
    draft.variant_options |= PLAIN
    draft.differs(SettingValue("Deployment", IN_SWITCH, case.place_of("Deployment")), _PARTS)
    return variant
