"""What VSPERF's settings of any Open vSwitch become."""

from typing import Final

from nfvbed.dataplanes.vsperfswitch import FixedSetting, SwitchSettings

TIMEOUT: Final = "VSWITCH_FLOW_TIMEOUT"
MIN_IDLE_MS: Final = 500
MAX_IDLE_MS: Final = 3_600_000
FIXED: Final = (
    FixedSetting("OVS_FLOW_TEMPLATE", "rules have the fields that the path needs, and one table"),
    FixedSetting("OVS_ROUTING_TABLES", "rules are in one table", accepts=(False,)),
)
OWN_BUILD: Final = "the Open vSwitch that is measured is nfvbed's own"


def map_idle(settings: SwitchSettings) -> None:
    """Map the time after which a datapath's unused flow goes."""
    if settings.value(TIMEOUT) is None:
        return
    if settings.is_tunnelled:
        settings.differs("the overlay's switches have Open vSwitch's own time", TIMEOUT)
    else:
        settings.set_option("max_idle_ms", settings.whole(TIMEOUT, MIN_IDLE_MS, MAX_IDLE_MS))
