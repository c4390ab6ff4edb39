"""What is written for a gateway, and what is understood of its answers."""

import json
import socket
import threading

import pytest

from nfvbed.errors import OnboardError
from nfvbed.spec.bearers import Bearer, BearerTable
from nfvbed.vnfs.gateway.client import GatewayClient, PortCounts
from nfvbed.vnfs.gateway.process import GatewaySpec, arguments
from nfvbed.vnfs.gateway.table import text_of

ONE = Bearer(imsi="001010000000001", ue="45.45.0.2", uplink_teid=1, downlink_teid=4294967295)
TWO = Bearer(imsi="001010000000002", ue="45.45.0.3", uplink_teid=2, downlink_teid=7)
TABLE = BearerTable(enb="10.11.0.1", sgw="10.11.0.2", server="198.19.0.1", bearers=(ONE, TWO))
COUNTS = {name: 0 for name in PortCounts.model_fields if name not in ("name", "neighbour")}
PORTS = [
    {"name": "s1u", "neighbour": None, **COUNTS, "received": 9, "forwarded": 3, "arp": 2, "echo": 1, "malformed": 3},
    {"name": "sgi", "neighbour": "02:00:00:00:00:01", **COUNTS},
]
SPEC = GatewaySpec(kind="xdp", s1u="u0", sgi="u1", sgi_address="198.19.0.254", core=0)


def answering(path, document):
    """Answer one question with a document; give what was asked."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen()
    asked = []

    def work():
        with server, server.accept()[0] as connection:
            asked.append(connection.recv(200).decode())
            connection.sendall(json.dumps(document).encode())

    threading.Thread(target=work).start()
    return asked


def test_table_is_a_line_for_each_bearer():
    assert text_of(TABLE) == "45.45.0.2 1 4294967295\n45.45.0.3 2 7\n"


def test_arguments_name_both_sides(monkeypatch, tmp_path):
    monkeypatch.setattr("nfvbed.vnfs.gateway.process.native_binary", lambda name: tmp_path / name)
    argv = arguments(SPEC, TABLE, tmp_path)
    pairs = dict(zip(argv[1::2], argv[2::2], strict=True))
    assert argv[0] == str(tmp_path / "nfvbed-xdp-gateway")
    assert pairs == {
        "--socket": f"{tmp_path}/gateway.sock",
        "--table": f"{tmp_path}/gateway.table",
        "--s1u": "u0",
        "--sgi": "u1",
        "--s1u-address": "10.11.0.2",
        "--sgi-address": "198.19.0.254",
        "--enb": "10.11.0.1",
        "--next-hop": "198.19.0.1",
    }


def test_neighbours_that_are_given_are_passed_on(monkeypatch, tmp_path):
    monkeypatch.setattr("nfvbed.vnfs.gateway.process.native_binary", lambda name: tmp_path / name)
    given = {"enb_mac": "02:00:00:00:00:01", "next_hop": "198.19.0.9", "next_hop_mac": "02:00:00:00:00:02"}
    argv = arguments(SPEC.model_copy(update={**given, "outer_checksum": False}), TABLE, tmp_path)
    assert argv[argv.index("--enb") + 1] == "10.11.0.1,02:00:00:00:00:01"
    assert argv[argv.index("--next-hop") + 1] == "198.19.0.9,02:00:00:00:00:02"
    assert argv[-1] == "--no-outer-checksum"


def test_dpdk_has_options_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setattr("nfvbed.vnfs.gateway.process.native_binary", lambda name: tmp_path / name)
    macs = ("02:00:00:00:00:01", "02:00:00:00:00:02")
    given = {"kind": "dpdk", "core": 3, "macs": macs, "hugepages": False, "yield_when_idle": True}
    argv = arguments(SPEC.model_copy(update=given), TABLE, tmp_path)
    assert argv[0] == str(tmp_path / "nfvbed-dpdk-gateway")
    own = "--core 3 --memory-mib 128 --mtu 1964 --s1u-mac 02:00:00:00:00:01 --sgi-mac 02:00:00:00:00:02"
    assert " ".join(argv[argv.index("--core") :]) == f"{own} --no-huge --yield"


def test_counters_are_those_of_both_ports(tmp_path):
    asked = answering(tmp_path / "s", {"gateway": "xdp", "bearers": 2, "ports": PORTS})
    found = GatewayClient(tmp_path / "s").counters()
    assert asked == ["counters\n"]
    assert (found.s1u.dropped, found.sgi.dropped) == (3, 0)
    assert (found.s1u.neighbour, found.sgi.neighbour) == (None, "02:00:00:00:00:01")


@pytest.mark.parametrize(
    ("ask", "line"),
    [
        (lambda client: client.add(ONE), "add 45.45.0.2 1 4294967295\n"),
        (lambda client: client.remove(TWO.ue), "remove 45.45.0.3\n"),
    ],
)
def test_refusals_are_told(tmp_path, ask, line):
    asked = answering(tmp_path / "s", {"error": "File exists"})
    with pytest.raises(OnboardError, match="the gateway refuses") as failure:
        ask(GatewayClient(tmp_path / "s"))
    assert asked == [line]
    assert failure.value.observed == "File exists"


def test_nobody_answers(tmp_path):
    with pytest.raises(OnboardError, match="does not answer"):
        GatewayClient(tmp_path / "s").counters()
