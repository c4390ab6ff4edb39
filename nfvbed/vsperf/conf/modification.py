"""Maps VSPERF's frame modification: what the switch changes in each frame."""

from typing import Final

from nfvbed.dataplanes.vsperfswitch import VsperfSwitch
from nfvbed.vsperf.conf.draft import Draft
from nfvbed.vsperf.conf.settings import SettingValue
from nfvbed.vsperf.conf.testcase import TestCase
from nfvbed.vsperf.conf.tunnel import IN_SWITCH

KEYWORD: Final = "Frame Modification"
VLAN: Final = "vlan"
_RULES: Final = "push-vlan"
"""Value of the variants' option `flows`: the same OpenFlow action as VSPERF's, `push_vlan:0x8100`."""


def map_modification(draft: Draft, case: TestCase, switch: VsperfSwitch | None, topology: str | None) -> None:
    """Map a VLAN tag that Open vSwitch puts on each frame; VSPERF writes such rules into no other switch either.

    Args:
        switch: the test's; None: it has none.
        topology: of the test; None: there is none.
    """
    if not case.keywords.get(KEYWORD):
        return
    found = SettingValue(KEYWORD, case.keywords[KEYWORD], case.place_of(KEYWORD))
    if str(found.value).lower() != VLAN:
        draft.lacks("frames are changed by the switch by a VLAN tag alone", found)
    elif switch is None or not switch.tags_frames:
        draft.lacks("frames are changed by Open vSwitch alone", found)
    elif topology != "p2p" or case.deployment == IN_SWITCH:
        draft.lacks("frames are changed between two ports outside alone", found)
    else:
        draft.variant_options["flows"] = _RULES
