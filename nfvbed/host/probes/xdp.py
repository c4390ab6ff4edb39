"""Probes of XDP: AF_XDP sockets, and live frames from a BPF test run."""

import socket

from nfvbed.host.network.liveframes import try_live_frames
from nfvbed.host.probes.host import RECORDED, Host
from nfvbed.records.findings import Finding, State

_AF_XDP = 44


def probe_af_xdp(host: Host) -> Finding:
    """Open an AF_XDP socket."""
    topic = "AF_XDP"
    if not host.live:
        return Finding(topic=topic, state=State.UNKNOWN, summary="not tried", probed=RECORDED)
    try:
        socket.socket(_AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        summary, fix = f"no socket: {error.strerror}", "boot a kernel with CONFIG_XDP_SOCKETS; run as root"
        return Finding(topic=topic, state=State.ABSENT, summary=summary, probed="opened a socket", fix=fix)
    return Finding(topic=topic, state=State.PRESENT, summary="a socket opens", probed="opened a socket")


def probe_live_frames(host: Host) -> Finding:
    """Send one live frame through an XDP program that drops it; the generator's XDP engine needs live frames."""
    topic, probed = "XDP live frames", "ran a program that drops one live frame"
    if not host.live:
        return Finding(topic=topic, state=State.UNKNOWN, summary="not tried", probed=RECORDED)
    refusal = try_live_frames()
    if refusal:
        fix = "boot kernel 5.18 or later; run as root"
        return Finding(topic=topic, state=State.ABSENT, summary=refusal, probed=probed, fix=fix)
    return Finding(topic=topic, state=State.PRESENT, summary="a frame was run", probed=probed)
