"""The balancer of multi-queue taps on the real host: spread flows, moves, a program that was taken off. As root."""

import fcntl
import os
import struct
from functools import reduce
from operator import or_

import pytest

from nfvbed.dataplanes.linux_bridge.balancer import TapBalancer
from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.linux_bridge.queues import PROGRAM, QueueCounts
from nfvbed.errors import SwitchDiedError
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.native import native_binary
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Status
from nfvbed.records.results import TablePayload
from nfvbed.store import Store
from tests.functional.lab_host import measure

OPTIONS = LinuxBridgeOptions(dataplane="linux-bridge", queue_balancer=True, queue_balancer_period_s=0.1)
CORES = read_topology().allowed
MAC = "02:4e:46:56:03:01"
TUNSETIFF, TUNSETSTEERINGEBPF = 0x400454CA, 0x800454E0
QUEUE = 0x0002 | 0x0100 | 0x1000 | 0x4000
SHORT = (
    *("--no-doctor", "--quick", "--set", "repetitions={needed: 1, max_rounds: 1}"),
    *("--set", "tests=[{kind: queue-balance, queues: [3], colliding: [true], duration_s: 1}]"),
)


@pytest.fixture(name="tap")
def _tap(before):
    workspace = Workspace.create()
    netns = workspace.network_namespace("switch")
    inside(netns, lambda: links.add_tap("q0", 4))
    inside(netns, lambda: links.add_bridge("br0", ["q0"], {"br_stp_state": 0, "br_forward_delay": 0}, True))
    inside(netns, lambda: links.add_bridge_port("br0", "q0", MAC))
    yield TapBalancer(workspace, netns, "q0")
    assert workspace.close() == []


def send(tap, seconds, flows):
    argv = [str(native_binary(PROGRAM)), "--tap", tap.tap, "--queues", "4", "--link", "br0", "--mac", MAC]
    argv += ["--duration-ms", str(round(1000 * seconds))]
    for port, rate in flows.items():
        argv += ["--flow", f"{port}:{rate}"]
    process = tap.workspace.spawn("ends", argv, cores=CORES, netns=tap.netns)
    assert process.wait(seconds + 20) == 0, process.log_tail()
    return QueueCounts.model_validate_json(process.log_tail(1))


def take_off(tap):
    """Give the choice of queues back to the kernel, as a process that has a queue open can."""

    def work():
        queue = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(queue, TUNSETIFF, struct.pack("16sH22x", tap.tap.encode(), QUEUE))
        fcntl.ioctl(queue, TUNSETSTEERINGEBPF, struct.pack("i", -1))
        os.close(queue)

    inside(tap.netns, work)


def test_new_flows_go_to_idle_queues_and_a_program_that_was_taken_comes_back(tap):
    tap.start(4, OPTIONS, CORES, timed=True)
    counts = send(tap, 0.6, dict.fromkeys(range(5001, 5005), 500))
    take_off(tap)
    send(tap, 1.5, {5001: 500})
    tap.check()
    totals = tap.stop()
    # Flows whose first packets come periods apart, as from a sender that had no core, may meet on a queue and be moved.
    used = [flow.queues for flow in counts.flows]
    assert reduce(or_, used) == 0b1111
    assert totals.moves or sorted(used) == [1, 2, 4, 8], used
    assert totals.attached_again >= 1 and totals.no_entry == 0
    assert totals.mapper_runs == totals.packets > 4 * 300 and totals.mapper_ns > 0


def test_the_remapper_moves_small_flows_away_from_a_large_one(tap):
    tap.start(4, OPTIONS, CORES)
    # Five flows: the fifth joins one of the first four, and the rates are such that it joins the largest.
    counts = send(tap, 1.5, {1: 4000, 2: 1000, 3: 1000, 4: 1000, 5: 800})
    totals = tap.stop()
    assert totals.moves >= 1
    assert sum(flow.received for flow in counts.flows) == sum(flow.sent for flow in counts.flows)
    assert counts.intervals[-1].count(0) == 0


def test_a_tap_that_is_not_there_is_told(before):
    workspace = Workspace.create()
    netns = workspace.network_namespace("switch")
    try:
        with pytest.raises(SwitchDiedError) as caught:
            TapBalancer(workspace, netns, "q9").start(2, OPTIONS, CORES)
        assert "q9: No such device" in str(caught.value)
        assert inside(netns, links.all_counters).keys() == {"lo"}, "none was made"
    finally:
        assert workspace.close() == []


@pytest.mark.slow
def test_colliding_flows_are_spread_by_the_balancer_alone(before, tmp_path):
    store = tmp_path / "results.sqlite"
    measure("seed-snu-balancer", store, *SHORT)
    with Store.open(str(store), read_only=True) as opened:
        (found,) = opened.runs()
        results = opened.results(found.id)
    assert [result.status for result in results] == [Status.OK, Status.OK]
    imbalance = {}
    for result in results:
        table = TablePayload.model_validate(result.payload)
        (row,) = table.rows
        imbalance[result.cell] = {quantity.name: quantity.value for quantity in row.quantities}["imbalance"]
        assert len(table.series[0].values) == 5
    assert imbalance["linux-bridge/p2p/64"] == 3, "all on one queue"
    assert imbalance["linux-bridge-balancer/p2p/64"] < 1.9
