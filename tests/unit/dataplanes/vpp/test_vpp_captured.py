"""What VPP 26.06 wrote, with two vhost-user ports cross-connected and some frames through them.

`show-runtime-26.06.txt` is its console's table, `statistics-26.06.json` its statistics segment a moment later: what is
read of the segment must be what VPP itself shows.
"""

import copy
import json
import re
from pathlib import Path

import pytest

from nfvbed.dataplanes.vpp import telemetry
from nfvbed.dataplanes.vpp.busy import BusyMeter
from nfvbed.dataplanes.vpp.reading import counters, hops
from nfvbed.dataplanes.vpp.runtime import CALLS, CLOCKS, VECTORS, NodeRuntime, runtime_of
from nfvbed.dataplanes.vpp.statistics import interface_counters
from nfvbed.errors import InternalError
from nfvbed.spec.layout import layout

CAPTURED = Path(__file__).parent / "captured"
ENTRIES = json.loads((CAPTURED / "statistics-26.06.json").read_text())
SHOWN = (CAPTURED / "show-runtime-26.06.txt").read_text()
NUMBERS = {"p0": 1, "p1": 2}


def shown(thread):
    """Read the console's table of a thread: calls, vectors and clocks a packet, by node."""
    block = re.split(r"^Thread ", SHOWN, flags=re.MULTILINE)[thread + 1]
    lines = [line.split() for line in block.splitlines() if " active " in line or " polling " in line]
    return {words[0]: (int(words[2]), int(words[3]), float(words[5])) for words in lines}


def test_nodes_are_those_of_show_runtime():
    read = {name: node for (thread, name), node in runtime_of(ENTRIES).items() if thread == 1 and node.vectors}
    table = shown(1)
    assert {name: counts[1] for name, counts in table.items() if counts[1]} == {n: r.vectors for n, r in read.items()}
    for name, (calls, _, clocks) in table.items():
        if name != "vhost-user-input":  # it goes on polling between the two
            assert read[name].calls == calls
            assert read[name].cycles_per_packet == pytest.approx(clocks, rel=0.005)
    assert read["vhost-user-input"].calls >= table["vhost-user-input"][0]


class Segment:
    """Stands for VPP's statistics segment: it gives readings that were captured."""

    def __init__(self, *readings):
        self._readings = list(readings)
        self.closed = False

    def read(self):
        return self._readings.pop(0)

    def close(self):
        self.closed = True


def earlier(factor):
    """Return the reading as it was when VPP had counted so much of everything."""
    entries = copy.deepcopy(ENTRIES)
    for name in (CALLS, VECTORS, CLOCKS):
        entries[name] = [[int(count * factor) for count in counts] for counts in entries[name]]
    return entries


@pytest.mark.parametrize("factor", [0, 0.5])
def test_the_cost_of_a_trial_has_a_row_for_each_node_that_took_packets(monkeypatch, tmp_path, factor):
    segment, asked = Segment(earlier(factor), ENTRIES), []
    monkeypatch.setattr(telemetry, "Statistics", lambda socket: asked.append(socket) or segment)
    reader = telemetry.VppReader(tmp_path / "stats.sock")
    reader.start()
    reader.stop()
    assert (asked, segment.closed) == ([tmp_path / "stats.sock"], True)
    rows = {row.parameters["node"]: row for row in reader.rows() if row.parameters["thread"] == 1}
    table = {name: counts for name, counts in shown(1).items() if counts[1]}
    assert table
    assert set(rows) == set(table)
    for name, (_, vectors, clocks) in table.items():
        (cycles,) = rows[name].quantities
        assert (cycles.name, cycles.unit) == ("cycles", "cycles/packet")
        assert rows[name].parameters["vectors"] == pytest.approx(vectors * (1 - factor), abs=1)
        if name != "vhost-user-input":  # it went on polling between the two
            assert cycles.value == pytest.approx(clocks, rel=0.01)


def test_ports_and_hops():
    first, second = (interface_counters(ENTRIES, number) for number in NUMBERS.values())
    assert first.rx_packets == second.tx_packets > 0
    assert second.rx_packets == first.tx_packets > 0
    assert set(first.drops) == {"drops", "punt", "rx_miss", "rx_error", "rx_no_buf", "tx_error"}
    found = hops(ENTRIES, NUMBERS, layout("p2p"))
    assert [hop.name for hop in found] == ["vpp port p0", "vpp graph", "vpp port p1"]
    assert (found[0].rx_packets, found[2].tx_packets) == (first.rx_packets, first.rx_packets)
    assert found[1].drops == {"error-drop": 0}


def test_counters():
    found = counters(ENTRIES, NUMBERS, 12345)
    assert found.packets == sum(interface_counters(ENTRIES, number).rx_packets for number in NUMBERS.values())
    assert (found.busy_cycles, found.source) == (12345, "VPP runtime")
    assert {node["node"] for node in found.raw["nodes"]} >= {"vhost-user-input", "ethernet-input", "l2-output"}


def test_interface_that_is_not_there():
    with pytest.raises(InternalError, match="lacks an interface"):
        interface_counters(ENTRIES, 9)


def reading(polls, clocks, batches=0, packets=0, graph=0):
    nodes = (
        NodeRuntime(1, "vhost-user-input", polls, packets, clocks),
        NodeRuntime(1, "ethernet-input", batches, packets, graph),
        NodeRuntime(1, "unix-epoll-input", polls, 0, 7 * polls),
        NodeRuntime(0, "ethernet-input", batches, packets, graph),
    )
    return {(node.thread, node.node): node for node in nodes}


def test_empty_polls_are_taken_off_at_what_they_cost_when_idle():
    meter = BusyMeter()
    meter.add(reading(0, 0))
    meter.add(reading(1000, 50_000))
    assert meter.busy_cycles == 0, "an idle port's polls are no work"
    # 1,000 polls more, 100 of which found ten packets each; 900 found nothing at 50 clocks.
    meter.add(reading(2000, 50_000 + 900 * 50 + 100_000, batches=100, packets=1000, graph=20_000))
    assert meter.busy_cycles == 100_000 + 20_000


def test_more_batches_than_polls():
    # A poll looks at every queue, so it may find several batches.
    meter = BusyMeter()
    meter.add(reading(0, 0))
    meter.add(reading(10, 500))
    meter.add(reading(20, 10_500, batches=20, packets=600, graph=1000))
    assert meter.busy_cycles == 11_000
