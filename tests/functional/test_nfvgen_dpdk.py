# SPDX-License-Identifier: Apache-2.0
"""What a trial of nfvgen's DPDK engine sends and counts, looped back and through a testpmd that changes frames."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functional.disturbed import retried, wait_until
from tests.functional.dpdk_driver import CORE, Generator, assert_clean, enough_hugepages, looped, tell


@pytest.fixture(scope="module", autouse=True)
def hugepages() -> Iterator[None]:
    with enough_hugepages():
        yield


@pytest.fixture(scope="module", params=["vhost", "memif"])
def loop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generator]:
    with looped(request.param, tmp_path_factory.mktemp(request.param)) as generator:
        yield generator


over_vhost = pytest.mark.parametrize("loop", ["vhost"], indirect=True)


@pytest.fixture
def testpmd(tmp_path: Path) -> Iterator[tuple[Generator, subprocess.Popen[str]]]:
    """A testpmd between two virtio-user ports; the test starts its forwarding."""
    program = shutil.which("dpdk-testpmd")
    if program is None:
        pytest.fail("dpdk-testpmd is not installed (package dpdk)")
    generator = Generator(tmp_path, [f"net_virtio_user{i},path={tmp_path}/p{i}.sock,server=1" for i in (0, 1)])
    command = [program, "--lcores", "0@0,1@0", "--no-pci", "--in-memory", "--single-file-segments", "--no-telemetry"]
    command += ["--socket-mem", "128", "--iova-mode=va"]
    for i in (0, 1):
        command += ["--vdev", f"net_vhost{i},iface={tmp_path}/p{i}.sock,client=1"]
    command += ["--", "-i", "--total-num-mbufs=8192", "--forward-mode=io"]
    peer = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"RUNTIME_DIRECTORY": str(tmp_path)},
    )
    wait_until(lambda: all(port["link"] == "up" for port in generator.result("hello")["ports"]))
    time.sleep(1)
    yield generator, peer
    peer.kill()
    peer.wait()
    generator.close()


def test_through_testpmd(testpmd: tuple[Generator, subprocess.Popen[str]]) -> None:
    """Forwarded, addresses and ports swapped, dropped altogether, and replaced by frames that are not ours.

    The first test of the module: no other generator is on its core yet.
    """
    generator, peer = testpmd
    paced: dict[str, Any] = {"rate_pps": 20_000, "frame_sizes": [[64, 1], [1518, 1]]}

    def trial_in_which(holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first trial in which it holds for both directions: testpmd obeys when it comes to it."""
        trial = retried(lambda: generator.trial(**paced), lambda trial: all(map(holds, trial["directions"])))
        assert all(map(holds, trial["directions"])), trial
        return trial

    tell(peer, "start")
    for row in trial_in_which(lambda row: row["received"] > 0)["directions"]:
        assert row["corrupted"] == row["duplicated"] == row["reordered"] == 0
    tell(peer, "stop", "set fwd 5tswap", "start")
    for row in trial_in_which(lambda row: row["received"] > 0)["directions"]:
        assert row["corrupted"] == 0
    tell(peer, "stop", "set fwd rxonly", "start")
    for row in trial_in_which(lambda row: row["received"] == 0)["directions"]:
        assert row["lost"] == row["sent"] > 0
    tell(peer, "stop", "set fwd txonly", "start")

    # txonly writes new headers into buffers in which our old payloads may still lie: foreign, or ours and corrupted.
    def arrived(trial):
        return [row["corrupted"] + trial["foreign"][row["rx"]] for row in trial["directions"]]

    trial = retried(lambda: generator.trial(**paced), lambda trial: all(arrived(trial)))
    assert all(arrived(trial)), trial
    assert [row["received"] for row in trial["directions"]] == [0, 0]


def test_hello_tells_the_ports(loop: Generator) -> None:
    hello = loop.result("hello")
    assert (hello["name"], hello["engine"], hello["core"]) == ("nfvgen", "dpdk", CORE)
    assert hello["pid"] == loop.process.pid
    assert hello["thread_id"] in [int(task.name) for task in Path(f"/proc/{hello['pid']}/task").iterdir()]
    assert hello["min_frame_size_bytes"] == 64
    assert len(hello["ports"]) == 2
    assert loop.path.stat().st_mode & 0o777 == 0o600


def test_maximum_rate_counts_every_frame(loop: Generator) -> None:
    trial = loop.trial()
    assert_clean(trial)
    assert 0 < trial["busy_ns"] <= trial["duration_ns"] - trial["gaps"]["total_ns"]
    assert trial["clock"] == "tsc"


def test_a_generator_that_keeps_its_core_keeps_its_pace(loop: Generator) -> None:
    """Another process, or the hypervisor, makes frames late: those are unsent, and never lost.

    What the scheduler admits to is allowed for; a hypervisor may say nothing, and spares some of many short trials.
    """
    hello = loop.result("hello")
    schedstat = Path(f"/proc/{hello['pid']}/task/{hello['thread_id']}/schedstat")

    def unexplained() -> float:
        waited_ns = -int(schedstat.read_text().split()[1])
        trial = loop.trial(duration_ns=20_000_000, rate_pps=100_000)
        waited_ns += int(schedstat.read_text().split()[1])
        assert_clean(trial)
        return max(row["unsent"] for row in trial["directions"]) - waited_ns / 10_000

    assert min(unexplained() for _ in range(20)) <= 100, "5 % of one direction's"


@over_vhost
@pytest.mark.parametrize(
    ("stack", "smallest"),
    [
        ({"vlan": 100}, 68),
        ({"ip": 6}, 84),
        ({"vlan": 100, "ip": 6}, 88),
        ({"vxlan": 5000}, 114),
        ({"ip": 6, "vxlan": 5000, "vlan": 7}, 158),
    ],
)
def test_stacks_at_their_smallest_and_at_1518(loop: Generator, stack: dict[str, int], smallest: int) -> None:
    assert loop.refused(stack=stack, frame_sizes=[[smallest - 1, 1]])["limit"] == smallest
    assert_clean(loop.trial(stack=stack, frame_sizes=[[smallest, 1]], flows=1000, rate_pps=50_000))
    assert_clean(loop.trial(stack=stack, frame_sizes=[[smallest, 1], [1518, 1]], flows=1000, rate_pps=50_000))


def test_a_million_flows(loop: Generator) -> None:
    assert_clean(loop.trial(flows=1_000_000, duration_ns=10**11, frames=100_000), frames=100_000)


@pytest.mark.parametrize("stack", [{"ip": 4}, {"vlan": 5, "ip": 6}, {"ip": 4, "vxlan": 7}])
def test_several_destinations(loop: Generator, stack: dict[str, int]) -> None:
    keys = {"destination_macs": ["02:00:00:00:00:f8", "02:00:00:00:01:00"], "destination_mac_count": 8, "flows": 1000}
    for sizes in ([[178, 1]], [[178, 7], [571, 4]]):
        assert_clean(loop.trial(stack=stack, frame_sizes=sizes, frames=1000, duration_ns=10**11, **keys), frames=1000)


@pytest.mark.parametrize("address", ["source", "destination", "destination-network"])
@pytest.mark.parametrize("ip", [4, 6])
def test_moving_addresses_keep_their_checksums(loop: Generator, ip: int, address: str) -> None:
    keys = {"flow_macs": ["source", "destination"], "flow_address": address, "flows": 70_000, "stack": {"ip": ip}}
    for sizes in ([[178, 1]], [[178, 7], [571, 4]]):
        assert_clean(loop.trial(frame_sizes=sizes, frames=1000, duration_ns=10**11, **keys), frames=1000)


@pytest.mark.parametrize("stack", [{"ip": 4}, {"vlan": 5, "ip": 6}, {"ip": 4, "vxlan": 7}])
def test_mirrored_sessions_are_checked_as_others_are(loop: Generator, stack: dict[str, Any]) -> None:
    keys = {"sessions": "mirrored", "flows": 70_000, "flow_macs": ["source"], "stack": stack}
    for sizes in ([[178, 1]], [[178, 7], [571, 4]]):
        assert_clean(loop.trial(frame_sizes=sizes, frames=1000, duration_ns=10**11, **keys), frames=1000)


@over_vhost
def test_largest_frame(loop: Generator) -> None:
    largest = loop.result("hello")["max_frame_size_bytes"]
    assert largest >= 9018
    assert_clean(loop.trial(frame_sizes=[[largest, 1], [9018, 1]], rate_pps=5_000))
    assert loop.refused(frame_sizes=[[largest + 1, 1]])["limit"] == largest
