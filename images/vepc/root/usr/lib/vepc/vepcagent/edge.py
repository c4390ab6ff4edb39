"""The edge's guest: a UE that attaches through its eNB and pings the server behind the IGW, through its tunnel."""

import re
import subprocess
import time
from ipaddress import IPv4Address

from agent.program import run, write
from agent.refusal import Refusal

from nfvbed.errors import NfvbedError
from nfvbed.spec.bearers import Bearer
from nfvbed.vnfs.epc.enb import Enb
from nfvbed.vnfs.epc.sctp import S1AP_PORT, Association
from nfvbed.vnfs.epc.subscribers import APN, Subscriber
from vepcagent import network
from vepcagent.console import say, uptime_s
from vepcagent.given import Given
from vepcagent.gtpu import End, Tunnel
from vepcagent.sims import subscribers

HOLDS = {"ue-enb", "igw", "server"}
PINGS = 10
_UE, _IGW, _SERVER = "ue", "igw", "server"
_TUN, _LAN = "ue0", "lan"
_UE_MTU = "1400"
"""An outer header, UDP and GTP-U fit beside it into 1500."""
_MME_S = 420.0
"""The core's guest may boot later, and start its functions for minutes on an emulated processor."""
_AGAIN_S = 2.0
_ATTEMPTS = 4
"""An MME takes eNBs in before its HSS has answered; a UE that is not attached then tries again."""
_WARM_UP = 6
_SCTP = "/proc/sys/net/sctp"
_LOST = re.compile(r"(\d+) packets transmitted, (\d+) packets received")


def start(given: Given) -> None:
    """Make the networks, attach, and ping; returns when pings were carried, and the tunnel stays.

    Raises:
        Refusal: what is not carried, and why.
    """
    _connect(given)
    say(f"functions up: ue-enb igw server after {uptime_s():.1f} s of the guest")
    (sim,) = subscribers(given.seed, APN)
    enb = _set_up(given)
    bearer, gateway = _attach(enb, sim)
    near = given.port("ue-enb.s1-u").address
    end = End(_TUN, Tunnel(near, str(gateway), bearer.uplink_teid, bearer.downlink_teid))
    _lead_ue(str(bearer.ue))
    end.start()
    _ping(given.port("server.lan").address, end)


def _connect(given: Given) -> None:
    run("modprobe", "-a", "crc32c_generic", "sctp", "tun", "veth")
    # Its peer may come up minutes later: the kernel's own pauses between attempts grow to a minute.
    for name, value in (("rto_initial", "1000"), ("rto_max", "5000"), ("max_init_retransmits", "3")):
        write(f"{_SCTP}/{name}", value)
    cards = network.devices(given)
    for function, port in (("ue-enb", "s1-mme"), ("ue-enb", "s1-u")):
        one = given.port(f"{function}.{port}")
        if one.link not in cards:
            raise Refusal(f"no NIC is on {one.link}", observed=", ".join(given.nics))
        network.address(cards[one.link], str(one))
    for name in (_UE, _IGW, _SERVER):
        network.namespace(name)
    sgi = given.port("igw.sgi")
    _move(cards[sgi.link], _IGW, str(sgi))
    network.ip(f"link add {_LAN} netns {_IGW} type veth peer name {_LAN} netns {_SERVER}")
    for name, port in ((_IGW, "igw.lan"), (_SERVER, "server.lan")):
        network.ip(f"-n {name} addr add {given.port(port)} dev {_LAN}")
        network.ip(f"-n {name} link set {_LAN} up")
    network.ip(f"-n {_IGW} route add {given.setting('igw.ue-pool')} via {given.peer('sgi.pgw')}")
    network.ip(f"-n {_SERVER} route add default via {given.port('igw.lan').address}")


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
            ((bearer, gateway),) = enb.bearers()
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
    for _ in range(_WARM_UP):
        if _pinged(server, 1)[1]:
            break
    sent, received = _pinged(server, PINGS)
    if not sent or received < sent:
        raise Refusal(
            f"ping carried: {received} of {sent}",
            where=server,
            observed=f"into the tunnel {end.sent} packets, out of it {end.received}",
        )
    say(f"ping carried: {received} of {sent}, after {uptime_s():.1f} s of the guest")


def _pinged(server: str, count: int) -> tuple[int, int]:
    argv = ["ip", "netns", "exec", _UE, "/bin/busybox", "ping", "-c", str(count), "-W", "5", server]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    found = _LOST.search(done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)
