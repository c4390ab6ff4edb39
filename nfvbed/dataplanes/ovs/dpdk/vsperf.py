"""Open vSwitch with DPDK as VSPERF has it."""

from collections.abc import Mapping
from typing import Final

from nfvbed.dataplanes.ovs.vsperfoptions import FIXED, OWN_BUILD, TIMEOUT, map_idle
from nfvbed.dataplanes.vsperfswitch import MAX_CORES, FixedSetting, SwitchSettings, VsperfSwitch

_MASK: Final = "VSWITCH_PMD_CPU_MASK"
_CONFIG: Final = "VSWITCHD_DPDK_CONFIG"
_PLACED: Final = frozenset(
    (
        "dpdk-init",
        "dpdk-lcore-mask",
        "dpdk-socket-mem",
        "dpdk-socket-limit",
        "dpdk-alloc-mem",
        "dpdk-hugepage-dir",
        "pmd-cpu-mask",
    )
)
"""Keys of VSWITCHD_DPDK_CONFIG about cores and memory, which nfvbed decides; VSPERF sets some of them itself too."""


def _map_options(settings: SwitchSettings) -> None:
    if settings.value(_MASK) is not None:
        settings.set_option("pmd_cores", _cores(settings))
        settings.differs("as many PMD threads as the mask has cores; nfvbed decides which cores they are", _MASK)
    _config(settings)
    map_idle(settings)


def _cores(settings: SwitchSettings) -> int:
    try:
        count = int(str(settings.value(_MASK)), 16).bit_count()
    except ValueError as error:
        raise settings.wrong("give a mask in hexadecimal digits: '30' for cores 4 and 5", _MASK) from error
    if not 1 <= count <= MAX_CORES:
        raise settings.wrong(f"give a mask of 1 to {MAX_CORES} cores", _MASK)
    return count


def _config(settings: SwitchSettings) -> None:
    """Map Open vSwitch's `other_config`; VSPERF gives it all keys unchanged."""
    config = settings.value(_CONFIG)
    if config is None or settings.is_default(_CONFIG):
        return
    if not isinstance(config, Mapping):
        raise settings.wrong("give a dictionary: {'dpdk-init': 'true'}", _CONFIG)
    for key in config:
        if key in _PLACED:
            settings.differs("nfvbed decides itself which cores and memory are the switch's", _CONFIG, key)
        else:
            settings.lacks("other_config of Open vSwitch has what the variant's options say", _CONFIG, key)


VSPERF = VsperfSwitch(
    vswitch="OvsDpdkVhost",
    variant="ovs-dpdk",
    on_nics="ovs-dpdk-pci",
    vnic="vhost-user",
    rx_queues="n_rxq",
    map_options=_map_options,
    used=(_MASK, "VSWITCH_MULTI_QUEUES", _CONFIG, TIMEOUT),
    fixed=(
        *FIXED,
        FixedSetting("OVS_DIR", OWN_BUILD),
        FixedSetting("OVS_DIR_USER", OWN_BUILD),
        FixedSetting("VSWITCH_AFFINITIZATION_ON", "the threads that poll always have cores of their own"),
    ),
    tags_frames=True,
    has_tunnels=True,
)
