"""testpmd as a VNF: how many buffers it gets, what it does when it is idle, and what the plug-in reports."""

import struct
from types import SimpleNamespace

import pytest

from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import PortKind, VnfHandle, VnfKind, VnfPort
from nfvbed.vnfs.process import sharing, testpmd

DESCRIPTORS = 512
HEADER = struct.Struct("=IIII48x")
ROW = struct.Struct("=QQQQQ24x")
MAGIC = 0x4E465659


def test_buffers_on_af_xdp_are_more_than_its_fill_rings_swallow():
    queues = 2
    found = testpmd._mbufs(queues, testpmd.XDP_RINGS + DESCRIPTORS)
    swallowed = queues * testpmd.XDP_RINGS // 2
    assert found >= swallowed + queues * DESCRIPTORS + testpmd.SPARE_MBUFS


def test_few_buffers_where_rings_are_short():
    assert testpmd._mbufs(2, 2 * 64) == testpmd.MIN_MBUFS


def test_rings_that_hold_more_than_the_memory_are_refused():
    with pytest.raises(UnsupportedError, match="hold more frames than its memory") as caught:
        testpmd._mbufs(16, testpmd.XDP_RINGS)
    assert str(testpmd.MAX_MBUFS) in caught.value.observed


def test_what_waits_gets_a_priority_and_what_yields_a_slice(monkeypatch, tmp_path):
    monkeypatch.setattr(sharing, "native_binary", lambda name, root: root / name)
    waits = sharing.environment(tmp_path / "report", tmp_path, waits=True)
    yields = sharing.environment(tmp_path / "report", tmp_path, waits=False)
    assert waits["LD_PRELOAD"] == yields["LD_PRELOAD"] == str(tmp_path / sharing.PLUGIN)
    assert "NFVBED_YIELD_PRIORITY" in waits
    assert "NFVBED_YIELD_PRIORITY" not in yields
    assert "NFVBED_YIELD_SLICE_NS" in yields


def test_report_tells_which_threads_have_polled(tmp_path):
    path = tmp_path / "report"
    rows = [(100, 0, 0, 0, 0), (101, 7, 5, 3, 1), (0, 0, 0, 0, 0)]
    path.write_bytes(HEADER.pack(MAGIC, 1, 2, 2) + b"".join(ROW.pack(*row) for row in rows))
    report = sharing.read_report(path)
    assert (report.ports, report.queues, report.polls, report.empty, report.yields, report.refused) == (
        2,
        2,
        7,
        5,
        3,
        1,
    )
    assert report.threads == {101}


@pytest.mark.parametrize("content", [b"", HEADER.pack(1, 1, 0, 0), HEADER.pack(MAGIC, 9, 0, 0)])
def test_report_of_nobody(tmp_path, content):
    path = tmp_path / "report"
    path.write_bytes(content)
    with pytest.raises(OnboardError, match="does not give the core away"):
        sharing.read_report(path)


class _Process:
    """A process that notes how it is ended."""

    def __init__(self):
        self.ends = []

    def stop(self):
        self.ends.append("stop")

    def kill(self):
        self.ends.append("kill")


@pytest.mark.parametrize(("way", "ends"), [("stop", ["stop"]), ("end", ["kill"])])
def test_it_is_broken_off_only_with_its_deployment_and_gives_its_memory_back(tmp_path, monkeypatch, way, ends):
    (tmp_path / "sgmap_0").touch()
    (tmp_path / "v1a.sock").touch()
    ports = (VnfPort(name="v1a", vnf=0, port=0, kind=PortKind.VHOST_USER, address=str(tmp_path / "v1a.sock"), mac=""),)
    state = testpmd.TestpmdVnfState(run_directory="/r", telemetry="/t", hugepages=str(tmp_path))
    handle = VnfHandle(name="vnf1", kind=VnfKind.PROCESS, forwarding="io", ports=ports, control=state.as_control())
    driver, process = testpmd.TestpmdVnf(), _Process()
    monkeypatch.setattr(driver._processes, "of", lambda handle: process)
    getattr(driver, way)(handle)
    assert process.ends == ends
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("looks", [0, 1, 3])
def test_a_restarted_vnf_waits_for_the_pages_of_the_killed_one(tmp_path, monkeypatch, looks):
    (tmp_path / "rtemap_0").touch()
    rooms = [SimpleNamespace(f_bfree=18, f_blocks=32)] * looks + [SimpleNamespace(f_bfree=32, f_blocks=32)]
    monkeypatch.setattr(testpmd.os, "statvfs", lambda place: rooms.pop(0))
    testpmd._empty(tmp_path)
    assert rooms == [] and not list(tmp_path.iterdir())


def test_pages_that_do_not_come_back_are_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(testpmd, "_PAGES_BACK_S", 0.05)
    monkeypatch.setattr(testpmd.os, "statvfs", lambda place: SimpleNamespace(f_bfree=18, f_blocks=32))
    testpmd._empty(tmp_path)
