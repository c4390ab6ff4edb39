"""The guest's agent: requests, CPUs, testpmd's command line. In a guest: tests/image."""

import json

import pytest
from agent import configdrive, cpus, hugepages, management, servers
from agent import request as requests
from agent.__main__ import forward_unasked, reply
from agent.ports import Port, choose, discover
from agent.refusal import Refusal
from agent.testpmd import Testpmd

from tests.image.iso9660 import config_drive

PORTS = [Port("0000:00:02.0", "52:54:00:00:00:01"), Port("0000:00:03.0", "52:54:00:00:00:02")]


class FakeService:
    def __init__(self, result):
        self.result = result

    def answer(self, document):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def ask(document, result=None):
    return reply(json.dumps(document).encode(), FakeService(result if result is not None else {}))


def test_answer_repeats_the_number():
    answer = ask({"schema": "vloop/1", "id": 7, "do": "info"}, {"a": 1})
    assert answer == {"schema": "vloop/1", "id": 7, "ok": True, "result": {"a": 1}}


def test_refusal_has_four_parts():
    answer = ask({"schema": "vloop/1", "id": 7, "do": "x"}, Refusal("no", observed="seen", fix="fix"))
    assert answer["ok"] is False
    assert answer["error"] == {"what": "no", "where": "", "observed": "seen", "fix": "fix"}


def test_fault_of_the_agent_is_reported_with_its_place():
    error = ask({"schema": "vloop/1", "id": 7, "do": "x"}, KeyError("k"))["error"]
    assert error["what"] == "the agent failed"
    assert "test_guest_agent.py:" in error["where"]


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"schema": "vloop/2"}', b"\xff\xfe"])
def test_line_that_is_no_request_is_refused(line):
    assert reply(line, FakeService({}))["ok"] is False


class Recorder:
    def __init__(self, fault=None):
        self.asked = []
        self.fault = fault

    def answer(self, document):
        self.asked.append(document)
        if self.fault is not None:
            raise self.fault
        return {}


@pytest.mark.parametrize(
    ("cmdline", "asked"),
    [
        ("console=ttyS0 quiet", []),
        ("quiet vloop.forward=io vloop.forward=bridge panic=-1", [{"do": "forward", "mode": "bridge"}]),
        ("novloop.forward=io", []),
    ],
)
def test_forwards_unasked_where_the_command_line_says_so(cmdline, asked):
    service = Recorder()
    assert forward_unasked(service, cmdline) == ""
    assert service.asked == asked


def test_why_it_cannot_forward_unasked_is_given():
    service = Recorder(Refusal("forward needs a mode", observed="'fly'"))
    assert forward_unasked(service, "vloop.forward=fly") == "forward needs a mode: 'fly'"


@pytest.mark.parametrize("beyond", [0, 2])
def test_management_needs_one_port_beyond_the_path(beyond):
    with pytest.raises(Refusal, match="one port beyond"):
        management.manage(PORTS[:beyond])


def test_management_port_without_an_address_is_refused_with_dhcps_words(monkeypatch):
    def fails(*argv):
        if argv[0] == "busybox":
            raise Refusal("busybox failed (exit 1)", observed="udhcpc: no lease, failing")

    monkeypatch.setattr(management, "run", fails)
    monkeypatch.setattr(management, "write", lambda path, text: None)
    monkeypatch.setattr(management, "wait_up", lambda name: None)
    monkeypatch.setattr(Port, "name", "eth2")
    with pytest.raises(Refusal, match="no address by DHCP") as caught:
        management.manage(PORTS[:1])
    assert caught.value.document["observed"] == "udhcpc: no lease, failing"


def forward(**keys):
    return requests.forward({"schema": "vloop/1", "id": 1, "do": "forward", **keys})


def test_defaults_are_filled_in():
    assert forward(mode="io")["burst"] == 32


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"mode": "fly"},
        {"mode": "io", "burst": True},
        {"mode": "io", "burst": "32"},
        {"mode": "io", "queues": 0},
        {"mode": "io", "speed": 1},
        {"mode": "io", "driver": "magic"},
        {"mode": "raw", "driver": "dpdk"},
    ],
)
def test_wrong_request_is_refused(keys):
    with pytest.raises(Refusal):
        forward(**keys)


@pytest.mark.parametrize(
    ("every", "apart", "forwarding", "control"),
    [
        ([0], [], [0], [0]),
        ([0, 1], [], [1], [0]),
        ([0, 1, 2, 3], [2, 3], [2, 3], [0, 1]),
        ([0, 1], [0, 1], [0, 1], [0, 1]),
    ],
)
def test_cpus_are_divided(every, apart, forwarding, control):
    assert cpus.split(every, apart) == (forwarding, control)


def test_kernels_lists_are_read():
    assert cpus.listed("0,2-4") == [0, 2, 3, 4]
    assert cpus.listed("") == []


@pytest.fixture
def two_cpus(monkeypatch):
    monkeypatch.setattr(cpus, "online", lambda: [0, 1])
    monkeypatch.setattr(cpus, "isolated", lambda: [])
    monkeypatch.setattr(Port, "vendor", property(lambda self: "0x1af4"))


def test_testpmd_is_reported_what_was_asked(two_cpus):
    testpmd = Testpmd(PORTS, forward(mode="macswap", burst=64, descriptors=512, queues=2, retry=8))
    argv = testpmd.arguments()
    assert "--lcores=0@0,1@1" in argv
    assert argv.count("-a") == 2
    assert {"--burst=64", "--rxq=2", "--txq=2", "--rxd=512", "--txd=512", "--nb-cores=1"} <= set(argv)
    assert testpmd.commands() == "set fwd macswap retry\nset burst tx delay 1 retry 8\nstart\n"


def test_a_length_is_asked_for_unless_the_host_limits_the_mtu(two_cpus):
    limited = Port("0000:00:02.0", "52:54:00:00:00:01", limited=True)
    assert "--max-pkt-len=1522" in Testpmd(PORTS, forward(mode="io")).arguments()
    assert "--max-pkt-len=1522" not in Testpmd([limited, PORTS[1]], forward(mode="io")).arguments()
    assert "--max-pkt-len=1522" not in Testpmd(PORTS, forward(mode="raw")).arguments()


@pytest.mark.parametrize(("bits", "limited"), [("1110" + "0" * 60, False), ("1001" + "0" * 60, True), ("", False)])
def test_a_virtio_device_tells_whether_its_mtu_is_limited(tmp_path, monkeypatch, bits, limited):
    device = tmp_path / "0000:00:02.0"
    network = device / "virtio1/net/eth7"
    network.mkdir(parents=True)
    (device / "class").write_text("0x020000\n")
    (device / "virtio1/features").write_text(bits + "\n")
    monkeypatch.setattr("agent.ports.PCI", str(tmp_path))
    (found,) = discover()
    assert (found.pci, found.limited) == ("0000:00:02.0", limited)


def test_source_has_size_and_flows(two_cpus):
    argv = Testpmd(PORTS[:1], forward(mode="source", frame_size_bytes=512, flows=9)).arguments()
    assert {"--txpkts=512", "--flowgen-flows=9", "--port-topology=loop"} <= set(argv)


@pytest.mark.parametrize(
    ("vendor", "keys", "over_kernel"),
    [
        ("0x1af4", {}, False),
        ("0x10ec", {}, True),
        ("0x10ec", {"driver": "dpdk"}, False),
        ("0x1af4", {"driver": "af_packet"}, True),
        ("0x1af4", {"mode": "raw"}, True),
    ],
)
def test_driver_is_chosen(two_cpus, monkeypatch, vendor, keys, over_kernel):
    monkeypatch.setattr(Port, "vendor", property(lambda self: vendor))
    assert Testpmd(PORTS, forward(**({"mode": "io"} | keys))).over_kernel is over_kernel


def test_several_queues_over_the_kernel_are_refused(two_cpus):
    with pytest.raises(Refusal, match="one queue"):
        Testpmd(PORTS, forward(mode="raw", queues=2)).start()


def test_ports_are_chosen_by_mac_in_order():
    assert choose(PORTS, [PORTS[1].mac.upper(), PORTS[0].mac], 2) == PORTS[::-1]
    assert choose(PORTS, None, 1) == PORTS[:1]


@pytest.mark.parametrize(("macs", "words"), [(["02:00:00:00:00:09"], "no port"), ([], "one to 2")])
def test_ports_that_are_not_there_are_refused(macs, words):
    with pytest.raises(Refusal, match=words):
        choose(PORTS, macs, 2)


@pytest.mark.parametrize(("free", "written"), [(40, None), (10, "42")])
def test_hugepages_are_taken_when_lacking(monkeypatch, free, written):
    state = {"page_kib": 2048, "total": 20, "free": free}
    wrote = []
    monkeypatch.setattr(hugepages, "state", lambda: dict(state))
    monkeypatch.setattr(hugepages, "write", lambda path, text: (wrote.append(text), state.update(free=32)))
    hugepages.provide(64)
    assert wrote == ([written] if written else [])


def test_too_few_hugepages_are_refused(monkeypatch):
    monkeypatch.setattr(hugepages, "state", lambda: {"page_kib": 2048, "total": 0, "free": 0})
    monkeypatch.setattr(hugepages, "write", lambda path, text: None)
    with pytest.raises(Refusal, match="too few hugepages"):
        hugepages.provide(64)


def test_listening_is_read_from_procfs(monkeypatch):
    rows = "head\n 0: 00000000:1451 00000000:0000 0A\n 1: 0100007F:1F90 00000000:0000 01\n"
    monkeypatch.setattr(servers, "read", lambda path: rows if path == "/proc/net/tcp" else "")
    assert servers.listens(5201)
    assert not servers.listens(8080)


@pytest.mark.parametrize("label", ["config-2", "CONFIG-2"])
def test_config_drive_is_found_by_its_label(tmp_path, label):
    for name, content in (("sr0", config_drive(b"", "other")), ("vda", bytes(99)), ("vdb", config_drive(b"", label))):
        (tmp_path / name).write_bytes(content)
    assert configdrive.find(str(tmp_path), str(tmp_path)) == f"{tmp_path}/vdb"


def test_machine_without_config_drive_has_no_user_data(tmp_path):
    (tmp_path / "sr0").write_bytes(b"")
    (tmp_path / "loop0").mkdir()
    assert configdrive.find(str(tmp_path), str(tmp_path)) == ""
    assert configdrive.find(str(tmp_path / "no-such-folder"), str(tmp_path)) == ""
    assert configdrive.text(str(tmp_path / "user_data")) == ""


@pytest.mark.parametrize(
    ("content", "modes"),
    [
        (b"vloop.forward=bridge", ["bridge"]),
        (b"#cloud-config\npackages: [x]\n", []),
        (b"\xff\xfe vloop.forward=io\n", ["io"]),
    ],
)
def test_user_data_of_any_kind_is_read(tmp_path, content, modes):
    path = tmp_path / "user_data"
    path.write_bytes(content)
    service = Recorder()
    assert forward_unasked(service, configdrive.text(str(path))) == ""
    assert [asked["mode"] for asked in service.asked] == modes
