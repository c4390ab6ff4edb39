"""Workspaces on the real host: hugepages, processes, namespaces. As root."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyroute2 import IPRoute

from nfvbed.errors import PrerequisiteError
from nfvbed.host.cgroups import unified_mount
from nfvbed.host.ledger.entries import MembersEntry, NetnsEntry, ProcessEntry
from nfvbed.host.ledger.poollock import lower_pool, pool_locked
from nfvbed.host.ledger.processes import is_alive
from nfvbed.host.memory.hugepages import HugepagePool
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from tests import footprint
from tests.functional.disturbed import PATIENCE_S, wait_until
from tests.functional.lab_host import PAGES

POOL = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
HOLDER = """
import mmap, time
MAP_HUGETLB = 0x40000
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE | MAP_HUGETLB
held = mmap.mmap(-1, 256 << 20, flags=flags)
print("held", flush=True)
time.sleep(600)
"""
"""A program with 128 pages."""


@pytest.fixture
def workspace():
    made = Workspace.create()
    yield made
    assert made.close() == []
    assert not made.directory.exists()


@pytest.mark.parametrize("there", [True, False])
def test_processes_that_were_moved_to_a_cgroup_go_back_and_go_on(workspace, there):
    group, home = (unified_mount() / f"nfvbed-{name}-{workspace.id}" for name in ("moved", "home"))
    workspace.ledger.record(MembersEntry(path=str(group), previous=str(home)))
    group.mkdir()
    with subprocess.Popen(["sleep", "1000"]) as other:
        try:
            (group / "cgroup.procs").write_text(str(other.pid))
            if there:
                home.mkdir()
            assert workspace.close() == []
            assert not group.exists()
            assert other.poll() is None
            members = (home if there else unified_mount()) / "cgroup.procs"
            assert str(other.pid) in members.read_text().split()
        finally:
            other.kill()
            other.wait()
            if there:
                home.rmdir()


def test_too_few_hugepages_says_what_was_wanted_and_what_there_is(workspace):
    before = PAGES.read_text()
    with pytest.raises(PrerequisiteError, match=r"wanted 104857600 MiB, got \d+ MiB") as caught:
        workspace.hugepages(100 * 1024 * 1024)
    assert caught.value.exit_code == 12
    assert "nr_hugepages" in caught.value.where
    assert "hugepages_mib" in caught.value.fix
    assert PAGES.read_text() == before


def test_hugepages_come_on_top_of_what_was_asked_before_and_are_given_back(workspace):
    before = int(PAGES.read_text())
    free = HugepagePool().free
    first = workspace.hugepages(8 + 2 * free)
    second = workspace.hugepages(6)
    assert int(PAGES.read_text()) == before + 4 + 3
    for path, mib in ((first, 8 + 2 * free), (second, 6)):
        size = os.statvfs(path)
        assert size.f_blocks * size.f_frsize == mib * 1024 * 1024
    assert workspace.close() == []
    assert int(PAGES.read_text()) == before


def test_hugepages_of_a_program_that_ends_while_they_are_given_back_do_not_stay(workspace):
    """The kernel may count them as surplus that is never freed: the pool was 128 pages larger after many a teardown."""
    before = int(PAGES.read_text())
    for late_us in range(0, 500, 20):
        HugepagePool().enlarge(1024, workspace.ledger)
        holder = subprocess.Popen(["taskset", "--cpu-list", "1", sys.executable, "-c", HOLDER], stdout=subprocess.PIPE)
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
        until = time.perf_counter() + late_us / 1e6
        while time.perf_counter() < until:
            pass
        with pool_locked():
            assert wait_until(lambda: lower_pool(POOL, before)), f"{PAGES.read_text()} pages, {late_us} us"
        holder.communicate()
        assert workspace.ledger.undo_all() == []
        assert int(PAGES.read_text()) == before


def test_process_runs_on_its_core_in_its_namespace_and_cgroup(workspace):
    netns = workspace.network_namespace("one")
    process = workspace.spawn(
        "p", ["sh", "-c", "echo $WORD; exec sleep 60"], cores=[1], netns=netns, environment={"WORD": "hello"}
    )
    wait_until(process.log_tail)
    assert process.log_tail() == "hello"
    assert os.sched_getaffinity(process.pid) == {1}
    assert Path(f"/proc/{process.pid}/ns/net").samefile(netns)
    assert (workspace.cgroup() / "cgroup.procs").read_text().split() == [str(process.pid)]
    assert (workspace.directory / "p.log").is_file()
    found = Workspace.attach(workspace.directory).process("p")
    assert (found.pid, found.alive()) == (process.pid, True)
    process.stop()
    assert process.exit_status == -signal.SIGTERM
    assert not found.alive()


def test_program_that_does_not_exist_leaves_its_words_in_the_log(workspace):
    process = workspace.spawn("p", ["/no/such/program"], cores=[0])
    assert process.wait(PATIENCE_S) == 127
    assert "/no/such/program" in process.log_tail()


def test_loopback_of_a_namespace_is_up(workspace):
    netns = workspace.network_namespace("one")
    assert Path(netns).name == f"nfvbed-{workspace.id}-one"
    flags = inside(netns, lambda: Path("/proc/thread-self/net/dev").read_text())
    assert "lo:" in flags


def test_ids_that_now_belong_to_others_are_left_alone(workspace):
    stranger = Workspace.create()
    try:
        process = stranger.spawn("stranger", ["sleep", "60"], cores=[0])
        workspace.ledger.record(ProcessEntry(name="earlier", pid=process.pid, start_time=process.start_time - 1))
        workspace.ledger.record(NetnsEntry(path="/run/netns/nfvbed-never-made"))
        assert workspace.close() == []
        assert is_alive(process.pid, process.start_time)
    finally:
        assert stranger.close() == []


def test_what_cannot_be_removed_is_reported_and_the_ledger_stays():
    made = Workspace.create()
    path = made.directory / "held"
    path.mkdir()
    from nfvbed.host.ledger import undo
    from nfvbed.host.ledger.entries import DirectoryEntry
    from nfvbed.host.network import namespaces

    made.ledger.record(DirectoryEntry(path=str(path)))
    namespaces.mount("nfvbed", str(path), "tmpfs")
    try:
        problems = made.close()
        assert len(problems) == 1
        assert "still mounted" in problems[0]
        assert (made.directory / "ledger.jsonl").is_file()
    finally:
        undo.namespaces.unmount(str(path))
        assert Workspace.attach(made.directory).close() == []


@pytest.mark.parametrize(("there", "others", "left"), [(False, False, False), (True, False, True), (False, True, True)])
def test_what_libxdp_makes_is_removed_unless_it_is_anyone_elses(workspace, tmp_path, monkeypatch, there, others, left):
    made = tmp_path / "xdp"
    monkeypatch.setattr("nfvbed.host.workspace.workspace.LIBXDP_DIRECTORY", made)
    if there:
        made.mkdir()
    workspace.libxdp()
    made.mkdir(exist_ok=True)
    if others:
        (made / "lock").touch()
    assert workspace.close() == []
    assert made.exists() == left


def has_xdp_program(netns, link):
    def look():
        with IPRoute() as route:
            (found,) = route.link("get", ifname=link)
        return bool(found.get_nested("IFLA_XDP", "IFLA_XDP_ATTACHED"))

    return inside(netns, look)


def test_testpmd_on_kernel_ports_leaves_nothing_of_libxdps(workspace):
    before = footprint.take()
    netns = workspace.network_namespace("one")
    inside(netns, lambda: links.add_veth("a", "b", ("02:00:00:00:00:01", "02:00:00:00:00:02")))
    workspace.libxdp()
    argv = ["dpdk-testpmd", "-l", "0,1", "--no-huge", "-m", "256", "--no-pci", "--file-prefix", workspace.id]
    argv += ["--vdev", "net_af_xdp0,iface=a", "--", "--total-num-mbufs=16384", "--tx-first"]
    argv += ["--stats-period", "3600"]  # Else it ends when it is there, as nothing can be read from its input.
    environment = {"RUNTIME_DIRECTORY": str(workspace.directory)}
    process = workspace.spawn("p", argv, cores=[0, 1], netns=netns, environment=environment)
    # libxdp has locked by then, in its folder or elsewhere, as its release has it.
    wait_until(lambda: has_xdp_program(netns, "a") or not process.alive())
    assert has_xdp_program(netns, "a"), process.log_tail(20)
    assert workspace.close() == []
    assert before.left_behind(PATIENCE_S) == []
