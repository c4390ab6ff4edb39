"""The names in a file that are settings of VSPERF's, and the keys of TRAFFIC."""

from types import MappingProxyType

MACRO_PREFIX = "STEP_"
"""Stock files name their lists of test steps so."""


def is_setting(name: str) -> bool:
    """Return whether VSPERF takes a name for a setting: it is in capitals, and no file's helper (`_`, `STEP_`)."""
    return name.isupper() and not name.startswith(("_", MACRO_PREFIX))


_TRAFFIC = """
    traffic_type frame_rate burst_size bidir multistream stream_type pre_installed_flows flow_type flow_control
    learning_frames l2 l3 l4 vlan capture scapy latency_histogram imix
"""
TRAFFIC_KEYS = MappingProxyType(
    {
        "": frozenset(_TRAFFIC.split()),
        "l2": frozenset(("framesize", "srcmac", "dstmac")),
        "l3": frozenset(("enabled", "proto", "srcip", "dstip", "packetsize")),
        "l4": frozenset(("enabled", "srcport", "dstport")),
        "vlan": frozenset(("enabled", "id", "priority", "cfi")),
        "capture": frozenset(("enabled", "tx_ports", "rx_ports", "count", "filter")),
        "scapy": frozenset(("enabled", "0", "1")),
        "latency_histogram": frozenset(("enabled", "type")),
        "imix": frozenset(("enabled", "type", "genome")),
    }
)
"""Keys of TRAFFIC by the dictionary that they are in; "" is TRAFFIC itself."""
