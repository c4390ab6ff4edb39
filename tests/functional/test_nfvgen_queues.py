# SPDX-License-Identifier: Apache-2.0
"""nfvgen's DPDK engine on several queues of a port, served by one core or by several: what each queue counts."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.functional.disturbed import retried, wait_until
from tests.functional.dpdk_driver import Generator, assert_clean, enough_hugepages, loop_ports, tell

CPUS = sorted(os.sched_getaffinity(0))


@pytest.fixture(scope="module", autouse=True)
def hugepages() -> Iterator[None]:
    with enough_hugepages():
        yield


def options(queues: int, cores: int) -> tuple[str, ...]:
    """Return the options for so many queues on so many cores."""
    shared = ("--yield",) if cores > 1 else ()  # the machine's others have turns too
    return ("--queues", str(queues), "--core", ",".join(str(core) for core in CPUS[-cores:]), *shared)


@pytest.fixture(
    scope="module",
    params=[("memif", 4, 1), ("memif", 3, 2), ("vhost", 2, 2)],
    ids=lambda param: "{} with {} queues on {} cores".format(*param),
)
def loop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Generator, int]]:
    kind, queues, cores = request.param
    if cores > len(CPUS):
        pytest.fail(f"this needs {cores} CPUs; there are {len(CPUS)}")
    folder = tmp_path_factory.mktemp(kind)
    generator = Generator(folder, loop_ports(kind, folder), *options(queues, cores))
    try:
        yield generator, queues
    finally:
        generator.close()


def assert_conserved(trial: dict[str, Any], queues: int) -> None:
    """Sent is received and lost, of each queue and in the sum."""
    for row in trial["directions"]:
        assert len(row["queues"]) == queues
        for queue in row["queues"]:
            assert queue["sent"] == queue["received"] + queue["lost"]
        for key in ("sent", "received", "lost", "unsent", "late", "refused", "reordered", "duplicated", "corrupted"):
            assert row[key] == sum(queue[key] for queue in row["queues"]), key


def test_hello_tells_queues_and_cores(loop: tuple[Generator, int]) -> None:
    generator, queues = loop
    hello = generator.result("hello")
    assert hello["queues"] == queues
    assert hello["core"] == hello["cores"][0]


def test_maximum_rate_counts_every_frame_of_every_queue(loop: tuple[Generator, int]) -> None:
    generator, queues = loop
    trial = generator.trial(flows=1000)
    assert_clean(trial)
    assert_conserved(trial, queues)
    for row in trial["directions"]:
        assert all(queue["sent"] for queue in row["queues"])


def test_queues_are_paced_together(loop: tuple[Generator, int]) -> None:
    """The frames of one rate are dealt out in turn: what is due is the same to one frame, whatever the rate."""
    generator, queues = loop
    for rate_pps in (9_973, 97):
        trial = generator.trial(duration_ns=300_000_000, rate_pps=rate_pps, frame_sizes=[[64, 7], [570, 4], [1518, 1]])
        assert_clean(trial, frames=0)
        assert_conserved(trial, queues)
        for row in trial["directions"]:
            due = [queue["sent"] + queue["unsent"] for queue in row["queues"]]
            assert max(due) - min(due) <= 1
            assert sum(due) == -(-rate_pps * 300_000_000 // 10**9)


def test_a_number_of_frames_is_of_all_queues(loop: tuple[Generator, int]) -> None:
    generator, queues = loop
    trial = generator.trial(duration_ns=10**11, frames=10_001, flows=3)
    assert_clean(trial)
    assert [row["sent"] for row in trial["directions"]] == [10_001, 10_001]
    sent = [queue["sent"] for queue in trial["directions"][0]["queues"]]
    assert sent == [len(range(queue, 10_001, queues)) for queue in range(queues)]


def test_one_direction(loop: tuple[Generator, int]) -> None:
    generator, queues = loop
    trial = generator.trial(directions=[[1, 0]], flows=1_000_000)
    assert_clean(trial)
    assert_conserved(trial, queues)


@pytest.mark.parametrize("stack", [{"vlan": 5, "ip": 6}, {"ip": 4, "vxlan": 7}])
def test_parsed_frames_are_of_their_queue(loop: tuple[Generator, int], stack: dict[str, int]) -> None:
    generator, queues = loop
    trial = generator.trial(stack=stack, frame_sizes=[[178, 7], [571, 4]], flows=70_000)
    assert_clean(trial)
    assert_conserved(trial, queues)


def test_a_timeline_needs_one_core(loop: tuple[Generator, int]) -> None:
    generator, _ = loop
    wanted: dict[str, Any] = {"timeline_ns": 1_000_000, "rate_pps": 10_000}
    if len(generator.result("hello")["cores"]) > 1:
        assert generator.refused(**wanted)["field"] == "timeline_ns"
        return
    trial = generator.trial(**wanted)
    assert_clean(trial)
    for row in trial["directions"]:
        assert row["timeline"]["bins"] == []


def memif_ports(folder: Path, role: str) -> list[str]:
    """Return both ports of one side."""
    return [f"net_memif{i},role={role},socket={folder}/p{i},socket-abstract=no,id=0" for i in (0, 1)]


def start_testpmd(folder: Path, ports: list[str]) -> subprocess.Popen[str]:
    """Start testpmd with two queues a port, on the core that the generator is on."""
    program = shutil.which("dpdk-testpmd")
    if program is None:
        pytest.fail("dpdk-testpmd is not installed (package dpdk)")
    argv = [program, "--lcores", "0@0,1@0", "--no-pci", "--in-memory", "--single-file-segments", "--no-telemetry"]
    argv += ["--socket-mem", "128", "--iova-mode=va"]
    for port in ports:
        argv += ["--vdev", port]
    argv += ["--", "-i", "--total-num-mbufs=8192", "--forward-mode=io", "--rxq=2", "--txq=2"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = os.environ | {"RUNTIME_DIRECTORY": str(folder)}
    return subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, text=True, **quiet)


def wait_for_links(generator: Generator) -> None:
    """Wait until both ports have a peer."""
    assert wait_until(lambda: all(port["link"] == "up" for port in generator.result("hello")["ports"]))
    time.sleep(1)


@contextmanager
def forwarded(folder: Path) -> Iterator[tuple[Generator, subprocess.Popen[str]]]:
    """Yield a generator with two queues, and a testpmd between its ports that sends each queue's frames on the same."""
    generator = Generator(folder, memif_ports(folder, "server"), "--queues", "2", "--yield")
    peer = start_testpmd(folder, memif_ports(folder, "client"))
    try:
        wait_for_links(generator)
        yield generator, peer
    finally:
        peer.kill()
        peer.wait()
        generator.close()


def test_another_program_forwards_all_queues_or_none(tmp_path: Path) -> None:
    """What is lost is lost by each queue."""
    with forwarded(tmp_path) as (generator, peer):

        def came(row: dict[str, Any]) -> bool:
            return all(queue["received"] == queue["sent"] > 0 for queue in row["queues"])

        tell(peer, "start")
        trial = retried(
            lambda: generator.trial(rate_pps=5_000, flows=64), lambda trial: all(map(came, trial["directions"]))
        )
        assert_clean(trial)
        assert_conserved(trial, 2)
        tell(peer, "stop", "set fwd rxonly", "start")
        trial = generator.trial(rate_pps=5_000)
        assert_conserved(trial, 2)
        for row in trial["directions"]:
            assert all(queue["lost"] == queue["sent"] > 0 for queue in row["queues"])


def hugepage_files(generator: Generator) -> set[int]:
    """Return the files of hugepages that the generator has open, by inode."""
    found = set()
    for entry in Path(f"/proc/{generator.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            about = entry.stat()
            if about.st_blksize == 2 * 1024 * 1024:
                found.add(about.st_ino)
    return found


def test_a_client_shares_its_memory_and_keeps_it_when_the_peer_goes(tmp_path: Path) -> None:
    """Frames are in place: DPDK's driver then closes descriptors that are not its own (native/nfvgen/dpdk/memory.c)."""
    peer = start_testpmd(tmp_path, memif_ports(tmp_path, "server"))
    try:
        assert wait_until(lambda: all((tmp_path / f"p{i}").exists() for i in (0, 1)))
        generator = Generator(tmp_path, memif_ports(tmp_path, "client"), "--queues", "2", "--yield")
        try:
            wait_for_links(generator)
            tell(peer, "start")
            trial = retried(
                lambda: generator.trial(rate_pps=5_000, flows=64),
                lambda trial: all(row["received"] == row["sent"] > 0 for row in trial["directions"]),
            )
            assert_clean(trial)
            assert_conserved(trial, 2)
            before = hugepage_files(generator)
            assert before
            peer.kill()
            assert wait_until(lambda: all(port["link"] == "down" for port in generator.result("hello")["ports"]))
            assert hugepage_files(generator) == before
        finally:
            generator.close()
    finally:
        peer.kill()
        peer.wait()


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        (("--core", "0,1"), "--queues"),
        (("--core", "0,0", "--queues", "2"), "each once"),
        (("--core", "0,", "--queues", "2"), "--core"),
        (("--queues", "17"), "1 to 16"),
        (("--engine", "xdp", "--queues", "2"), "only for --engine dpdk"),
    ],
)
def test_wrong_options(tmp_path: Path, wrong: tuple[str, ...], names: str) -> None:
    with pytest.raises(AssertionError, match=names):
        Generator(tmp_path, loop_ports("memif", tmp_path), *wrong)
