"""The agent of the mobile core's image: user data, keys, the functions' addresses, GTP-U."""

import socket
import threading

import pytest
from agent.refusal import Refusal
from vepcagent import core, edge, gtpu, network, peers, tcp
from vepcagent.given import read
from vepcagent.sims import subscribers

from nfvbed.vnfs.descriptors.seedword import with_seed
from nfvbed.vnfs.epc.configuration import ORDER, NextepcPaths, rendered
from tests.unit.vnfs.descriptors import several

SEED = "0123456789abcdef" * 2
FORMS = (several.TWO, several.EIGHT)
MACHINES = {one.name: one for form in FORMS for one in several.request(form, soft=True).flavour(form).machines}
GUESTS = [name for name in MACHINES if name not in ("core", "edge")]


def given(name, seed=SEED):
    return read(with_seed(MACHINES[name].user_data, seed))


def test_user_data_of_descriptors_is_what_the_agent_reads():
    found = given("core")
    assert (found.machine, found.nics) == ("core", ("s1-u", "sgi", "s1-mme"))
    assert str(found.port("sgw.s1-u")) == "10.77.2.11/24"
    assert found.peer("sgi.igw") == "10.77.9.11"
    assert found.setting("hss.apn") == "internet"
    assert set(found.functions) == core.FUNCTIONS
    assert set(given("edge").functions) == edge.FUNCTIONS
    assert found.nics == tuple(port.link for port in MACHINES["core"].ports)


def test_nics_are_in_the_order_of_their_buses_and_leave_no_checksum_out(tmp_path, monkeypatch):
    """What leaves it out beside a data plane that does not complete it is dropped by the receiver, in silence."""
    for name, bus in {"eth0": "00:05.0", "eth1": "00:03.0", "eth2": "00:04.0", "lo": ""}.items():
        (tmp_path / "net" / name).mkdir(parents=True)
        if bus:
            (tmp_path / "devices" / bus).mkdir(parents=True)
            (tmp_path / "net" / name / "device").symlink_to(tmp_path / "devices" / bus)
    switched = []
    monkeypatch.setattr(network, "_NET", tmp_path / "net")
    monkeypatch.setattr(network.ethtool, "switch", lambda *of: switched.append(of))
    assert network.devices(given("core")) == {"s1-u": "eth1", "sgi": "eth2", "s1-mme": "eth0"}
    assert switched == [(name, "tx", False) for name in ("eth1", "eth2", "eth0")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "no user data"),
        ("vloop.forward=io", "no user data"),
        (MACHINES["core"].user_data, "no vnf.seed"),
        (f"vnf.seed={SEED} vnf.port.mme.s11=s11,10.0.0.1", "length of its prefix"),
    ],
)
def test_user_data_that_lacks_something_is_refused(words, said):
    with pytest.raises(Refusal, match=said) as failure:
        read(words)
    assert SEED not in str(failure.value.document)


def test_an_address_that_is_missing_is_named():
    with pytest.raises(Refusal, match=r"vnf\.peer\.sgi\.server"):
        given("core").peer("sgi.server")
    with pytest.raises(Refusal, match=r"vnf\.config\.mme\.plmn can be 26201 alone"):
        given("core").require("mme.plmn", "26201")


def test_both_guests_make_the_same_keys_and_another_deployment_makes_others():
    ours, others = subscribers(given("core").seed, "internet"), subscribers("f" * 32, "internet")
    assert ours == subscribers(given("edge").seed, "internet")
    assert {ours[0].key, ours[0].opc}.isdisjoint({others[0].key, others[0].opc})
    assert SEED not in ours[0].key + ours[0].opc
    assert ours[0].key not in repr(ours)


def test_functions_are_configured_with_their_addresses(tmp_path):
    addresses = core.addresses_of(given("core"))
    texts = {one: rendered(one, NextepcPaths(tmp_path, tmp_path / f"{one}.log"), addresses) for one in ORDER}
    assert "mongodb://10.77.6.10:27017/nextepc" in texts["hss"]
    assert "10.77.1.11" in texts["mme"]
    assert "10.77.2.11" in texts["sgw"]
    assert "10.45.0.1/16" in texts["pgw"]
    assert "10.230." not in "".join(texts.values())


@pytest.mark.parametrize("function", ORDER)
def test_a_function_in_a_guest_of_its_own_has_the_configuration_that_it_has_beside_others(function, tmp_path):
    installed = NextepcPaths(tmp_path, tmp_path / "log")
    alone, beside = core.addresses_of(given(function)), core.addresses_of(given("core"))
    assert rendered(function, installed, alone) == rendered(function, installed, beside)


@pytest.mark.parametrize("name", GUESTS)
def test_a_guest_of_one_function_has_a_nic_on_each_of_its_links(name):
    found = given(name)
    assert found.functions == (name,)
    assert sorted(found.nics) == sorted(one.link for one in found.ports.values())


def test_another_guest_finds_peers_that_it_is_not_told_of_by_links():
    assert given("ue-enb").setting("ue-enb.server") == given("server").port("server.lan").address
    assert given("pgw").setting("pgw.sgw") == given("sgw").port("sgw.s1-u").address
    assert given("mme").at("gtp-c", "pgw") == given("pgw").at("gtp-c", "pgw") == "10.77.3.12"
    with pytest.raises(Refusal, match=r"vnf\.peer\.gtp-c\.hss"):
        given("mme").at("gtp-c", "hss")


def test_a_gateway_that_is_up_takes_connections_and_one_that_is_not_is_named(monkeypatch):
    monkeypatch.setattr(peers, "GTPC_PORT", 0)
    with peers.show_up("127.0.0.1") as shown:
        port = shown.getsockname()[1]
        peers.wait_for("sgw", "127.0.0.1", port, 0)
    with pytest.raises(Refusal, match="the sgw is not up within 0 s") as failure:
        peers.wait_for("sgw", "127.0.0.1", port, 0)
    assert failure.value.document["where"] == f"127.0.0.1 port {port}"


def test_a_packet_goes_into_the_tunnel_and_comes_out_of_it():
    message = gtpu.wrapped(b"packet", 7)
    assert message[:2] == b"\x30\xff"
    assert gtpu.unwrapped(message, 7) == b"packet"
    numbered = b"\x32\xff\x00\x0a\x00\x00\x00\x07\x00\x01\x00\x00packet"
    assert gtpu.unwrapped(numbered, 7) == b"packet"


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x30\xff\x00",
        gtpu.wrapped(b"packet", 8),
        gtpu.wrapped(b"packet", 7)[:-1],
        b"\x30\x1a" + gtpu.wrapped(b"packet", 7)[2:],
        b"\x34\xff\x00\x0a\x00\x00\x00\x07\x00\x00\x00\x85packet",
    ],
    ids=["empty", "short", "another tunnel", "cut off", "an error indication", "an extension header"],
)
def test_what_carries_no_packet_of_the_ue_is_dropped(message):
    assert gtpu.unwrapped(message, 7) is None


def test_an_echo_request_is_answered_with_its_number():
    assert gtpu.answered(b"\x32\x01\x00\x04\x00\x00\x00\x00\x12\x34\x00\x00")[:2] == b"\x32\x02"
    assert gtpu.answered(b"\x32\x01\x00\x04\x00\x00\x00\x00\x12\x34\x00\x00")[8:10] == b"\x12\x34"
    assert gtpu.answered(gtpu.wrapped(b"packet", 7)) is None


@pytest.fixture(name="port")
def _port(monkeypatch):
    """A port of the loopback device that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
    monkeypatch.setattr(tcp, "PORT", number)
    return number


def test_bytes_of_a_connection_come_back_as_they_were_sent(port):
    threading.Thread(target=tcp.serve, args=("127.0.0.1",), daemon=True).start()
    for _ in range(2):
        while True:
            try:
                same, _ = tcp.carry("127.0.0.1", 1 << 20)
                break
            except ConnectionRefusedError:
                continue
        assert same == 1 << 20


def test_bytes_that_come_back_otherwise_are_not_carried(port):
    def answer(listening):
        connection, _ = listening.accept()
        with connection:
            first = connection.recv(100)
            connection.sendall(first[:50] + bytes([first[50] ^ 1]) + first[51:])

    with socket.create_server(("127.0.0.1", port)) as listening:
        threading.Thread(target=answer, args=(listening,), daemon=True).start()
        assert tcp.carry("127.0.0.1", 100)[0] == 50


def test_the_server_and_the_ue_have_the_program_in_their_namespaces():
    assert edge._tcp("ue", "carry", "10.77.9.2")[:4] == ["ip", "netns", "exec", "ue"]
    assert edge._tcp("ue", "carry", "10.77.9.2")[5:] == ["-m", "vepcagent.tcp", "carry", "10.77.9.2"]
