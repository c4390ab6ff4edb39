"""The export in VSPERF's columns: which trials a line stands for, in which units, and what it never hides."""

import csv
import io

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.rows.latency import mean_latency_ns
from nfvbed.compare.rows.rundata import RunData
from nfvbed.errors import DamagedError
from nfvbed.records import Status
from nfvbed.spec.layout import layout
from nfvbed.vsperf.conf.columns import COLUMNS, COUNTS
from nfvbed.vsperf.conf.testids import topology_of
from nfvbed.vsperf.export.rows import deployment_of, to_vsperf_csv
from tests.sample_records import BRIDGE, CEILINGS, OVS, SIMULATED, Scenario, build

Line = dict[str, str]


def lines(data: RunData, **options: str) -> list[Line]:
    text = to_vsperf_csv(compare([data], ComparisonOptions(**options)), [data])
    return list(csv.DictReader(io.StringIO(text)))


def line_of(found: list[Line], cell: str, preset: str = "mrr") -> Line:
    (line,) = [line for line in found if (line["nfvbed_cell"], line["nfvbed_preset"]) == (cell, preset)]
    return line


def changed(data: RunData, **fields: object) -> RunData:
    cells = tuple(cell.model_copy(update=fields) for cell in data.cells)
    return RunData(data.run, cells, data.trials, data.rigs, data.host)


def test_columns_are_vsperfs_then_ours():
    header = list(lines(build())[0])
    assert tuple(header[: len(COLUMNS)]) == COLUMNS
    others = header[len(COLUMNS) :]
    own = [name for name in others if name.startswith("nfvbed_")]
    assert others[-len(own) :] == own
    assert set(others) - set(own) <= set(COUNTS)


def test_a_line_is_the_rows_median_in_its_class():
    data = build(Scenario(systems=(BRIDGE, OVS, *CEILINGS)))
    row = next(row for row in compare([data]).rows if row.cell == "ovs-dpdk/p2p/64")
    line = line_of(lines(data), row.cell)
    assert float(line["throughput_rx_fps"]) == row.mrr.median_pps
    assert float(line["tx_rate_fps"]) == row.mrr.offered_pps
    assert float(line["throughput_rx_mbps"]) == pytest.approx(row.mrr.layer2_bits_per_s / 1e6)
    assert float(line["frame_loss_percent"]) == pytest.approx(100 * row.mrr.loss_ratio)
    assert int(line["nfvbed_trials"]) == row.mrr.trials
    assert line["nfvbed_placement_class"] == row.placement_class
    paced = line_of(lines(data), row.cell, "paced")
    assert int(paced["nfvbed_trials"]) == row.paced.trials
    assert int(paced["max_latency_ns"]) == row.paced.latency.max_ns
    assert int(paced["min_latency_ns"]) <= float(paced["avg_latency_ns"]) <= int(paced["max_latency_ns"])


def test_only_variants_are_exported():
    assert {line["nfvbed_variant"] for line in lines(build())} == {"linux-bridge", "ovs-dpdk"}


def test_percent_is_empty_as_virtual_ports_have_no_line_rate():
    data = build(Scenario(systems=(OVS,)))
    assert line_of(lines(data), "ovs-dpdk/p2p/64")["tx_rate_percent"] == ""


def test_what_was_not_measured_is_empty_and_says_why():
    stopped = (("ovs-dpdk/p2p/64", Status.BLOCKED, "placement"),)
    line = line_of(lines(build(Scenario(systems=(BRIDGE, OVS), blocked=stopped))), "ovs-dpdk/p2p/64", "")
    assert (line["throughput_rx_fps"], line["frame_loss_percent"], line["start_time"]) == ("", "", "")
    assert (line["nfvbed_status"], line["nfvbed_reason"]) == ("blocked", "placement")


def test_simulated_rows_say_so():
    found = lines(build(Scenario(systems=(SIMULATED,), rounds=6, far_rounds=())))
    assert {(line["nfvbed_simulated"], line["vswitch"]) for line in found} == {("1", "simulated")}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("phy2phy_cont", "p2p", "OvsDpdkVhost", "", "")),
        ({"flows": 8000}, ("phy2phy_scalability_cont", "p2p", "OvsDpdkVhost", "8000", "")),
        ({"flows": 5}, ("phy2phy_cont", "p2p", "OvsDpdkVhost", "5", "")),
        ({"variant": "linux-bridge"}, ("phy2phy_cont", "p2p", "linux-bridge", "", "")),
        ({"variant": "vpp"}, ("phy2phy_cont_vpp", "p2p", "VppDpdkVhost", "", "")),
        (
            {"topology": "pvp", "vnf": "native", "vnf_resolved": "process-io"},
            ("pvp_cont", "pvp", "OvsDpdkVhost", "", "process-io"),
        ),
        (
            {"topology": "pv2p", "vnf": "vm-io", "vnf_resolved": "vm-io"},
            ("pvvp_cont", "pvvp", "OvsDpdkVhost", "", "vm-io vm-io"),
        ),
        (
            {"topology": "pv4p", "vnf": "vm-io"},
            ("vswitch_p4vp_cont", "pvvp4", "OvsDpdkVhost", "", "vm-io vm-io vm-io vm-io"),
        ),
        ({"topology": "pv3p", "vnf": "vm-io"}, ("demo", "pvvp3", "OvsDpdkVhost", "", "vm-io vm-io vm-io")),
        ({"topology": "v2v", "vnf": "vm-io"}, ("demo", "v2v", "OvsDpdkVhost", "", "vm-io vm-io")),
    ],
)
def test_ids_and_deployments(fields: dict, expected: tuple):
    data = changed(build(Scenario(systems=(OVS,))), **fields)
    line = line_of(lines(data), "ovs-dpdk/p2p/64")
    assert (
        tuple(line[name] for name in ("id", "deployment", "vswitch", "stream_count", "guest_loopback_app")) == expected
    )
    assert (line["match_type"], line["pre-installed_flows"]) == (("L4", "No") if expected[3] else ("", ""))


@pytest.mark.parametrize("deployment", ["p2p", "pvp", "pvvp", "pvpv", "pvvp3", "pvvp8"])
def test_deployments_come_back(deployment: str):
    assert deployment_of(layout(topology_of(deployment)).name) == deployment


def test_the_mix_has_a_mean_size():
    data = changed(build(Scenario(systems=(OVS,))), frame_size="imix")
    line = line_of(lines(data), "ovs-dpdk/p2p/64")
    assert (line["packet_size"], line["imix_avg_framesize"][:6]) == ("imix", "353.83")


def test_mean_of_histograms():
    first, second = HdrHistogram(1, 1_000_000, 3), HdrHistogram(1, 1_000_000, 3)
    first.record_value(100)
    second.record_value(300, 3)
    encoded = [histogram.encode().decode() for histogram in (first, second)]
    assert mean_latency_ns(encoded) == pytest.approx(250, rel=0.01)
    assert mean_latency_ns([]) is None
    with pytest.raises(DamagedError, match="HdrHistogram"):
        mean_latency_ns(["nonsense"])
