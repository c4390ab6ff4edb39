"""A guest of the edge: UE and eNB, IGW and server, or those of them that the user data names.

The UE attaches through its eNB, pings the server behind the IGW through its tunnel, and sends it bytes by TCP.
"""

import re
import subprocess
import sys
import time
from collections.abc import Mapping
from ipaddress import IPv4Address

from agent.program import run, write
from agent.refusal import Refusal

from nfvbed.errors import NfvbedError
from nfvbed.spec.bearers import Bearer
from nfvbed.vnfs.epc.enb import Enb
from nfvbed.vnfs.epc.sctp import S1AP_PORT, Association
from nfvbed.vnfs.epc.subscribers import APN, Subscriber
from vepcagent import network, tcp
from vepcagent.console import say, uptime_s
from vepcagent.given import Given
from vepcagent.gtpu import End, Tunnel
from vepcagent.sims import subscribers

FUNCTIONS = {"ue-enb", "igw", "server"}
PINGS = 10
_UE, _IGW, _SERVER = "ue", "igw", "server"
_TUN, _LAN = "ue0", "lan"
_UE_MTU = "1400"
"""An outer header, UDP and GTP-U fit beside it into 1500."""
_MME_S = 900.0
"""The core's guest may boot later, and start its functions for minutes on an emulated processor."""
_AGAIN_S = 2.0
_ATTEMPTS = 4
"""An MME takes eNBs in before its HSS has answered; a UE that is not attached then tries again."""
_SERVER_S = 180.0
"""IGW and server may boot later; on the way to them nobody knows an address yet."""
_SCTP = "/proc/sys/net/sctp"
_LOST = re.compile(r"(\d+) packets transmitted, (\d+) packets received")


def start(given: Given) -> None:
    """Make the networks, attach, ping and send; returns when all was carried, and the tunnel stays.

    Raises:
        Refusal: what is not carried, and why.
    """
    run("modprobe", "-a", "crc32c_generic", "sctp", "tun", "veth")
    cards = network.devices(given)
    _connect_server(given, cards)
    if "ue-enb" in given.functions:
        _connect_enb(given, cards)
    say(f"functions up: {' '.join(given.functions)} after {uptime_s():.1f} s of the guest")
    if "ue-enb" in given.functions:
        _attach_and_carry(given)


def _attach_and_carry(given: Given) -> None:
    own, *others = subscribers(given.seed, APN)
    enb = _set_up(given)
    bearer, gateway = _attach(enb, own)
    near = given.port("ue-enb.s1-u").address
    end = End(_TUN, Tunnel(near, str(gateway), bearer.uplink_teid, bearer.downlink_teid))
    _lead_ue(str(bearer.ue))
    end.start()
    _ping(given.setting("ue-enb.server"), end)
    _send(given.setting("ue-enb.server"), end)
    _attach_for_generator(given, enb, others)


def _attach_for_generator(given: Given, enb: Enb, sims: list[Subscriber]) -> None:
    """Attach UEs whose end of S1-U is a generator's, and say which bearers it has."""
    address, count = given.generators.get("s1-u", ""), int(given.config.get("ue-enb.bearers", "0"))
    if not address or not count:
        return
    enb.serve_at(IPv4Address(address))
    for sim in sims[:count]:
        bearer, gateway = _attach(enb, sim)
        say(f"bearer: {bearer.imsi} {bearer.ue} {bearer.uplink_teid} {bearer.downlink_teid}")
    say(f"bearers: {count} from {address} to {gateway}")


def _connect_enb(given: Given, cards: Mapping[str, str]) -> None:
    # Its peer may come up minutes later: the kernel's own pauses between attempts grow to a minute.
    for name, value in (("rto_initial", "1000"), ("rto_max", "5000"), ("max_init_retransmits", "3")):
        write(f"{_SCTP}/{name}", value)
    network.namespace(_UE)
    for name in ("ue-enb.s1-mme", "ue-enb.s1-u"):
        port = given.port(name)
        network.address(_card(cards, port.link), str(port))


def _connect_server(given: Given, cards: Mapping[str, str]) -> None:
    """Give IGW and server a namespace each, and join them, by a link within the guest or by NICs."""
    held = [name for name in (_IGW, _SERVER) if name in given.functions]
    for name in held:
        network.namespace(name)
    if held == [_IGW, _SERVER]:
        network.ip(f"link add {_LAN} netns {_IGW} type veth peer name {_LAN} netns {_SERVER}")
    for name in held:
        lan = given.port(f"{name}.lan")
        if len(held) == 1:
            _move(_card(cards, lan.link), name, str(lan))
        else:
            network.ip(f"-n {name} addr add {lan} dev {_LAN}")
            network.ip(f"-n {name} link set {_LAN} up")
    if _IGW in held:
        sgi = given.port("igw.sgi")
        _move(_card(cards, sgi.link), _IGW, str(sgi))
        network.ip(f"-n {_IGW} route add {given.setting('igw.ue-pool')} via {given.peer('sgi.pgw')}")
    if _SERVER in held:
        network.ip(f"-n {_SERVER} route add default via {given.at('lan', _IGW)}")
        subprocess.Popen(_tcp(_SERVER, "serve", str(given.port("server.lan").address)), stdin=subprocess.DEVNULL)


def _card(cards: Mapping[str, str], link: str) -> str:
    if link not in cards:
        raise Refusal(f"no NIC is on {link}", observed=", ".join(cards) or "there are none")
    return cards[link]


def _move(device: str, namespace: str, address: str) -> None:
    network.ip(f"link set {device} netns {namespace}")
    network.ip(f"-n {namespace} addr add {address} dev {device}")
    network.ip(f"-n {namespace} link set {device} up")


def _set_up(given: Given) -> Enb:
    mme, near = given.peer("s1-mme.mme"), given.port("ue-enb.s1-u").address
    deadline = time.monotonic() + _MME_S
    while True:
        try:
            enb = Enb(Association(mme, S1AP_PORT), IPv4Address(near))
            enb.set_up()
        except NfvbedError as failure:
            if time.monotonic() > deadline:
                why = ": ".join(filter(None, (failure.what, failure.observed)))
                raise Refusal(f"no MME at {mme} within {_MME_S:g} s", observed=why) from failure
            time.sleep(_AGAIN_S)
        else:
            say(f"S1 set up with the MME at {mme} after {uptime_s():.1f} s of the guest")
            return enb


def _attach(enb: Enb, sim: Subscriber) -> tuple[Bearer, IPv4Address]:
    causes: list[str] = []
    for attempt in range(1, _ATTEMPTS + 1):
        report = enb.attach([sim])
        (outcome,) = report.outcomes
        if not outcome.failure:
            bearer, gateway = next(pair for pair in enb.bearers() if pair[0].imsi == sim.imsi)
            took_s = outcome.duration_ns / 1_000_000_000
            say(f"attached: UE {bearer.ue} in {took_s:.3f} s, attempt {attempt}")
            return bearer, gateway
        causes.append(outcome.failure)
        time.sleep(_AGAIN_S)
    raise Refusal(f"the UE is not attached after {_ATTEMPTS} attempts", observed=", ".join(dict.fromkeys(causes)))


def _lead_ue(address: str) -> None:
    network.ip(f"link set {_TUN} netns {_UE}")
    network.ip(f"-n {_UE} addr add {address}/32 dev {_TUN}")
    network.ip(f"-n {_UE} link set {_TUN} mtu {_UE_MTU} up")
    network.ip(f"-n {_UE} route add default dev {_TUN}")


def _ping(server: str, end: End) -> None:
    """Ping the server from the UE's namespace: there is no other way to it than the tunnel."""
    deadline = time.monotonic() + _SERVER_S
    while not _pinged(server, 1)[1] and time.monotonic() < deadline:
        time.sleep(_AGAIN_S)
    sent, received = _pinged(server, PINGS)
    if not sent or received < sent:
        raise Refusal(
            f"ping carried: {received} of {sent}",
            where=server,
            observed=f"into the tunnel {end.sent} packets, out of it {end.received}",
        )
    say(f"ping carried: {received} of {sent}, after {uptime_s():.1f} s of the guest")


def _send(server: str, end: End) -> None:
    """Send bytes by TCP from the UE's namespace to the server, which sends them back."""
    argv = _tcp(_UE, "carry", server)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    same, count, seconds = done.stdout.split() or ("0", str(tcp.BYTES), "0")
    if same != count:
        lines = done.stderr.splitlines() or [""]
        observed = f"into the tunnel {end.sent} packets, out of it {end.received}; {lines[-1]}"
        raise Refusal(f"tcp carried: {same} of {count} bytes and back", where=server, observed=observed)
    took = f"{float(seconds):.1f} s"
    say(f"tcp carried: {same} of {count} bytes and back in {took}, after {uptime_s():.1f} s of the guest")


def _tcp(namespace: str, do: str, address: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, sys.executable, "-m", tcp.__name__, do, address]


def _pinged(server: str, count: int) -> tuple[int, int]:
    argv = ["ip", "netns", "exec", _UE, "/bin/busybox", "ping", "-c", str(count), "-W", "5", server]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = _LOST.search(done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)
