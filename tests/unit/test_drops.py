"""Drop counters by the names that their sources give them: each has its own sentence, none is a ring by default."""

from pathlib import Path

import pytest
import yaml

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.dataplanes.ovs import reading
from nfvbed.dataplanes.ovs.openflow import PortCounters
from nfvbed.dataplanes.vpp import drops as vpp
from nfvbed.dataplanes.vpp.statistics import DROPS, errors_of
from nfvbed.dataplanes.xdp import drops as xdp
from nfvbed.records.drops import TABLES, Cause, CounterSource
from nfvbed.vnfs.gateway.client import PortCounts

KNOWN = CATALOGUE.drop_counters
FOLDER = Path(__file__).parent / "drops_recorded"
ONLY_NFVBEDS = {"failed_upcalls", "lost_upcalls"} | {"error-drop"} | set(DROPS)
"""Names that nfvbed gives itself to counters that their sources have as fields, or elsewhere."""
OF_PORTS = {"rx_dropped", "tx_dropped", "rx_errors", "tx_errors"}
"""The fields of OpenFlow's port counters (ONF TS-012, ofp_port_stats), of which Lagopus has the same."""
NO_DROPS = {"full rx queue (possible driver tx drop)", "not ip packet"} | {
    f"L2 {what}"
    for what in (
        "flood packets",
        "forward hits",
        "forward misses",
        "forward packets",
        "output packets",
        "replication complete",
    )
}
OF_ROUTERS = {"BVI L3 MAC mismatch", "BVI L3 mac mismatch", "BVI packet with unhandled ethertype"}
"""Counters of a bridge domain's virtual interface (BVI), which nfvbed does not make."""


def recorded(name):
    """Return (release, kind, counter) of one recorded list."""
    releases = yaml.safe_load((FOLDER / f"{name}.yml").read_text())
    return [
        (release, kind, counter)
        for release, kinds in releases.items()
        for kind, counters in kinds.items()
        if kind != "commit"
        for counter in counters
    ]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("open-vswitch", CounterSource.OVS),
        ("dpdk", CounterSource.DPDK),
        ("linux", CounterSource.LINUX),
        ("vpp", vpp.SOURCE),
    ],
)
def test_every_recorded_drop_counter_has_a_meaning_and_every_meaning_is_of_a_counter_that_there_is(name, source):
    found = recorded(name)
    unknown = {
        counter
        for _, kind, counter in found
        if KNOWN.of(counter, source).cause is Cause.UNKNOWN and (kind == "errors" or KNOWN.is_drop(counter))
    }
    assert unknown - ONLY_NFVBEDS == ((NO_DROPS | OF_ROUTERS) if name == "vpp" else set())
    elsewhere = {counter for other in ("dpdk", "linux", "open-vswitch") for _, _, counter in recorded(other)}
    of_source = {counter for _, _, counter in found} | (elsewhere if source != vpp.SOURCE else set())
    assert set(KNOWN.tables[source]) - of_source - ONLY_NFVBEDS - OF_PORTS == set()


@pytest.mark.parametrize(
    ("source", "counter", "cause", "says"),
    [
        (CounterSource.OVS, "ovs_tx_mtu_exceeded_drops", Cause.MTU, "longer than the MTU"),
        (CounterSource.OVS, "ovs_tx_failure_drops", Cause.RING, "was full"),
        (CounterSource.OVS, "ovs_tx_qos_drops", Cause.QOS, "egress policy"),
        (CounterSource.OVS, "ovs_rx_qos_drops", Cause.QOS, "ingress policy"),
        (CounterSource.OVS, "ovs_tx_invalid_hwol_drops", Cause.OFFLOAD, "hardware"),
        (CounterSource.OVS, "datapath_drop_meter", Cause.QOS, "meter"),
        (CounterSource.OVS, "drop_action_of_pipeline", Cause.RULE, "no rule"),
        (CounterSource.OVS, "datapath_drop_rx_invalid_packet", Cause.INVALID, "cannot read"),
        (CounterSource.OVS, "xsk_queue_11_rx_dropped", Cause.SEVERAL, "longer than its buffers"),
        (CounterSource.LINUX, "tx_dropped", Cause.SEVERAL, "does not say why"),
        (CounterSource.DPDK, "imissed", Cause.RING, "was full"),
        (CounterSource.AF_XDP, "imissed", Cause.SEVERAL, "longer than its buffers"),
        (vpp.SOURCE, "tx packet drops (cannot merge descriptors)", Cause.MTU, "longer"),
        (vpp.SOURCE, "interface is down", Cause.LINK, "down"),
        (xdp.SOURCE, "no_way", Cause.RULE, "no port"),
        (CounterSource.GATEWAY, "too_big", Cause.MTU, "longer"),
        (CounterSource.OVS, "ovs_tx_phase_of_the_moon_drops", Cause.UNKNOWN, "ovs_tx_phase_of_the_moon_drops"),
        (None, "imissed", Cause.SEVERAL, "does not say why"),
        (None, "ovs_tx_mtu_exceeded_drops", Cause.MTU, "longer than the MTU"),
    ],
)
def test_what_a_counter_means_is_its_sources_to_say(source, counter, cause, says):
    found = KNOWN.of(counter, source)
    assert found.cause is cause
    assert says in found.says


def test_the_gateways_reasons_are_all_there():
    reasons = set(PortCounts.model_fields) - {"name", "neighbour", "received", "forwarded", "arp", "echo"}
    assert set(TABLES[CounterSource.GATEWAY]) == reasons


def test_kept_counters_tell_who_counted():
    assert KNOWN.source_of({"tx_dropped": 1, "ovs_tx_failure_drops": 1}) == CounterSource.OVS
    assert KNOWN.source_of({"imissed": 1}) == CounterSource.DPDK
    assert KNOWN.source_of({"rx_no_buf": 1}) == vpp.SOURCE
    assert KNOWN.source_of({"rx_dropped": 1}) == CounterSource.LINUX


def test_open_vswitchs_port_counts_each_dropped_frame_once_and_keeps_the_total():
    reasons = {"ovs_tx_failure_drops": 3, "ovs_tx_mtu_exceeded_drops": 4, "ovs_rx_qos_drops": 2, "ovs_tx_retries": 9}
    reasons |= {"xsk_queue_0_rx_dropped": 5, "rx_q0_packets": 7}
    port = PortCounters(
        port=1, rx_packets=2, tx_packets=3, rx_dropped=2, tx_dropped=10, rx_errors=6, tx_errors=0, reasons=reasons
    )
    hop = reading.port_hop("br0 port p0", port)
    assert hop.counted_by == CounterSource.OVS
    assert {name: count for name, count in hop.drops.items() if count} == {
        "rx_errors": 6,
        "ovs_tx_failure_drops": 3,
        "ovs_tx_mtu_exceeded_drops": 4,
        "ovs_rx_qos_drops": 2,
        "xsk_queue_0_rx_dropped": 5,
        "tx_dropped": 3,
    }
    assert reading.port_totals(port)["tx_dropped"] == 10


COVERAGE = """Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=4d8a1d5a:
bridge_reconfigure         0.0/sec     0.050/sec        0.0008/sec   total: 3
datapath_drop_upcall_error   0.0/sec     0.000/sec        0.0000/sec   total: 12
netdev_send_prepare_drops   0.0/sec     0.000/sec        0.0000/sec   total: 4
datapath_drop_of_tomorrow   0.0/sec     0.000/sec        0.0000/sec   total: 1
106 events never hit
"""


def test_the_datapaths_drops_are_those_that_this_release_has():
    assert reading.datapath_drops(COVERAGE) == {
        "datapath_drop_upcall_error": 12,
        "netdev_send_prepare_drops": 4,
        "datapath_drop_of_tomorrow": 1,
    }


def test_vpps_error_counters_are_added_up_by_their_texts():
    full = "tx packet drops (no available descriptors)"
    entries = {
        f"/err/VirtualEthernet0/0/0-tx/{full}": [0, 3],
        f"/err/VirtualEthernet0/0/1-tx/{full}": [0, 4],
        "/err/l2-output/L2 output packets": [0, 900],
        "/if/drops": [[0, 1]],
    }
    assert errors_of(entries) == {full: 7}
    assert full in vpp.ERRORS
