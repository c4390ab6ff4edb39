"""Open vSwitch on the kernel's datapath as VSPERF has it."""

from nfvbed.dataplanes.ovs.vsperfoptions import FIXED, OWN_BUILD, TIMEOUT, map_idle
from nfvbed.dataplanes.vsperfswitch import FixedSetting, VsperfSwitch

VSPERF = VsperfSwitch(
    vswitch="OvsVanilla",
    variant="ovs-kernel",
    vnic="tap",
    map_options=map_idle,
    used=(TIMEOUT,),
    fixed=(
        *FIXED,
        FixedSetting(
            "VSWITCH_VANILLA_PHY_PORT_NAMES",
            "the switch's outer ports are virtual here, no NICs",
            accepts=([],),
            differs=True,
        ),
        FixedSetting("OVS_DIR_VANILLA", OWN_BUILD),
        FixedSetting("VSWITCHD_VANILLA_ARGS", "ovs-vswitchd is started without further arguments"),
    ),
    tags_frames=True,
)
