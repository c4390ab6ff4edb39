"""A UE behind the host at end 0, its eNB: a namespace with a tun device, and a tunnel to the serving gateway.

`nfvbed-enb` takes the eNB's part of the user plane: what the UE's device sends goes out in GTP-U over the first bearer
that was attached, and what comes back goes into the device. The device has no offloads: the UE's kernel has computed
every checksum and cut every segment before a packet is in the tunnel.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

from pydantic import ValidationError
from pyroute2 import IPRoute

from nfvbed.errors import GeneratorError, UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.native import native_binary
from nfvbed.host.network import links, namespaces
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, Record, Role, WorkThread
from nfvbed.spec.bearers import GTPU_PORT, Bearer
from nfvbed.traffic.sockets.hosts import LISTEN_S, LOG_LINES, Listener, listens
from nfvbed.vnfs.epc.driver import bearers_of
from nfvbed.vnfs.sockets.hosts import (
    PRECEDENCE,
    UE_MTU,
    Host,
    HostResources,
    NamespaceEnds,
    devices_of,
    numbers,
    pair_of,
)

PROGRAM = "nfvbed-enb"
DEVICE = "ue0"


class UplinkCounts(Record):
    """Packets of a UE."""

    from_ue: int
    sent: int
    not_ipv4: int
    too_big: int
    """They did not fit S1-U with a tunnel's headers before them; none is sent in fragments."""
    refused: int
    """By the kernel."""


class DownlinkCounts(Record):
    """Datagrams of GTP-U's port at the eNB."""

    received: int
    to_ue: int
    foreign: int
    """From another address than the serving gateway's."""
    other: int
    """Other messages of GTP than user packets."""
    extended: int
    unknown_teid: int
    malformed: int
    refused: int
    """By the UE's device."""


class EnbCounts(Record):
    """The counts of an eNB's user plane."""

    uplink: UplinkCounts
    downlink: DownlinkCounts

    @property
    def dropped(self) -> int:
        """Packets that it did not pass on, either way."""
        up, down = self.uplink, self.downlink
        return (up.from_ue - up.sent) + (down.received - down.to_ue)

    def told(self) -> str:
        """Return the counts as a sentence."""
        up, down = self.uplink, self.downlink
        return (
            f"The eNB put {up.sent:,} packets of the UE into GTP-U and took {down.to_ue:,} out for it; it dropped"
            f" {self.dropped:,}, {up.too_big:,} of them as too big for S1-U."
        )


@contextmanager
def behind_enb(deployment: Deployment, around: HostResources, ends: NamespaceEnds) -> Iterator[NamespaceEnds]:
    """Put a UE behind the host at end 0 for the length of a block.

    Args:
        deployment: a deployment with a mobile core whose UEs are attached.
        ends: ends of a path: the eNB's end of S1-U, and the server's.

    Raises:
        UnsupportedError: the kernel has no tun devices.
        GeneratorError: the eNB does not come up.
        PrerequisiteError: its program is not built.
    """
    table = bearers_of(deployment.vnfs[0])
    bearer = table.bearers[0]
    number = next(numbers)
    netns = around.workspace.network_namespace(f"ue{number}")
    process: ManagedProcess | None = None
    try:
        _make_device(netns, bearer, table.server)
        enb, server = ends.hosts
        argv = [*PRECEDENCE, str(native_binary(PROGRAM, around.root)), "--tun", DEVICE, "--netns", netns]
        argv += ["--address", enb.address, "--gateway", str(table.sgw)]
        argv += ["--uplink-teid", str(bearer.uplink_teid), "--downlink-teid", str(bearer.downlink_teid)]
        process = around.workspace.spawn(f"enb-u{number}", argv, cores=[ends.cores.client], netns=enb.netns)
        _wait(process, enb.address)
        hosts = (Host(netns, DEVICE, "", str(bearer.ue)), server)
        thread = WorkThread(role=Role.GENERATOR, pid=process.pid, tid=process.pid, core=ends.cores.client, name=PROGRAM)
        yield replace(
            ends,
            hosts=hosts,
            devices=devices_of(hosts),
            pair=pair_of(around, hosts, ends.cores),
            threads=(*ends.threads, thread),
            what=f"a UE, whose tun device {PROGRAM} joins to S1-U in GTP-U, and a server; {ends.what}",
            mtu=UE_MTU,
            told=partial(_told, process),
        )
    finally:
        if process is not None:
            process.stop()
        namespaces.remove(netns)


def counts_of(log: Path) -> EnbCounts:
    """Return the counts that an eNB wrote at its end.

    Raises:
        GeneratorError: it wrote something else, as one does that was killed or failed.
    """
    text = log.read_text(errors="replace").strip()
    try:
        return EnbCounts.model_validate_json(text.splitlines()[-1] if text else "")
    except ValidationError as failure:
        raise GeneratorError(
            "the eNB's user plane did not end as it should", where=str(log), observed=text[-300:] or "it wrote nothing"
        ) from failure


def _told(process: ManagedProcess) -> tuple[str, ...]:
    """End the user plane: it writes its counts then."""
    process.stop()
    return (counts_of(process.log).told(),)


def _make_device(netns: str, bearer: Bearer, server: IPv4Address) -> None:
    def work() -> None:
        links.add_tun(DEVICE)
        links.silence_ipv6(("all", "default", DEVICE))
        with IPRoute() as route:
            index = route.link_lookup(ifname=DEVICE)[0]
            route.link("set", index=index, mtu=UE_MTU)
            route.link("set", index=index, state="up")
            route.addr("add", index=index, address=str(bearer.ue), prefixlen=32)
            route.route("add", dst=f"{server}/32", oif=index, scope="link")

    try:
        inside(netns, work)
    except OSError as failure:
        raise UnsupportedError(
            "a UE's device cannot be made", where=f"tun device {DEVICE}", observed=str(failure), fix=fixes.load("tun")
        ) from failure


def _wait(process: ManagedProcess, address: str) -> None:
    """Wait until it listens: its tun device is open then."""
    table = Path(f"/proc/{process.pid}/net/udp")
    deadline = time.monotonic() + LISTEN_S
    while not listens(table, address, Listener("udp", GTPU_PORT)):
        if not process.alive() or time.monotonic() > deadline:
            raise GeneratorError(
                "the eNB's user plane does not come up",
                where=str(process.log),
                observed=process.log_tail(LOG_LINES) or "it wrote nothing",
                fix="make build; see whether another program is on UDP port 2152 of the eNB's namespace",
            )
        time.sleep(0.01)
