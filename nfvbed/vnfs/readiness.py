"""A VNF that reports itself ready is not trusted: frames through it decide."""

import time
from collections.abc import Callable

from nfvbed.errors import GeneratorError, OnboardError
from nfvbed.records import Deployment, Hop, Record
from nfvbed.spec.layout import layout
from nfvbed.traffic.bearers import BearerGenerator
from nfvbed.traffic.generator import Generator, TrafficRequest
from nfvbed.units import NS_PER_S

PROBE_RATE_PPS = 1_000
PROBE_FRAME_BYTES = 128
_PAUSE_S = 0.01

Hops = Callable[[], tuple[Hop, ...]]
Check = Callable[[], None]


class ProbeReport(Record):
    """The result of the frames that probed whether the path forwards."""

    attempts: int
    sent: int
    received: int
    corrupted: int
    """Frames of the successful attempt, both directions."""
    waited_ns: int
    """From the first attempt to the end of the successful one."""


def wait_until_forwarding(
    generator: Generator, frames: int, timeout_s: float, watch: tuple[Hops, Check], deployment: Deployment
) -> ProbeReport:
    """Send a few frames, repeatedly, until some come back in both directions, through every VNF.

    Args:
        frames: per attempt, in each direction.
        timeout_s: limit of all attempts together.
        watch: reads the path's counters; raises when the switch or a VNF has died.

    Raises:
        OnboardError: none came through in time; the message shows the counters along the path.
    """
    hops, check = watch
    began = time.monotonic_ns()
    before = hops()
    attempts = 0
    while True:
        attempts += 1
        check()
        report = _attempt(generator, frames, (attempts, began), layout(deployment.topology).ways)
        if report is not None:
            return report
        if time.monotonic_ns() - began > timeout_s * NS_PER_S:
            raise OnboardError(
                f"no frame comes through the VNFs of {deployment.variant} ({deployment.topology})",
                where=", ".join(f"{vnf.name} ({vnf.kind}, {vnf.forwarding})" for vnf in deployment.vnfs),
                observed=f"{attempts} attempts in {timeout_s:g} s; frames counted on the way: {_risen(before, hops())}",
                fix="see the first hop that counts none, and the logs in the run directory (nfvbed trace keeps them)",
            )
        time.sleep(_PAUSE_S)


def _attempt(generator: Generator, frames: int, so_far: tuple[int, int], ways: int) -> ProbeReport | None:
    attempts, began = so_far
    if not all(generator.hello().link_up):
        return None
    request = TrafficRequest(
        duration_ns=2 * frames * NS_PER_S // PROBE_RATE_PPS + NS_PER_S // 50,
        frame_size=PROBE_FRAME_BYTES,
        rate_pps=PROBE_RATE_PPS,
        frames=frames,
        flows=ways,
    )
    try:
        result = generator.run(request)
    except GeneratorError:
        if not all(generator.hello().link_up):
            return None  # A link went away while it sent: a VNF that restarts does that.
        raise
    if isinstance(generator, BearerGenerator) and any(d.corrupted or d.received != d.sent for d in result.directions):
        return None  # A frame that is not as its bearer has it says that the gateway's table is wrong.
    # Side by side: more than all VNFs but one could have passed on.
    if not all(d.received * ways > d.sent * (ways - 1) for d in result.directions):
        return None
    return ProbeReport(
        attempts=attempts,
        sent=sum(d.sent for d in result.directions),
        received=sum(d.received for d in result.directions),
        corrupted=sum(d.corrupted for d in result.directions),
        waited_ns=time.monotonic_ns() - began,
    )


def _risen(before: tuple[Hop, ...], after: tuple[Hop, ...]) -> str:
    first = {hop.name: hop for hop in before}
    shown = []
    for hop in after:
        old = first.get(hop.name, hop)
        counts = [
            f"{side} {now - (then or 0)}"
            for side, now, then in (
                ("rx", hop.rx_packets, old.rx_packets),
                ("tx", hop.tx_packets, old.tx_packets),
            )
            if now is not None
        ]
        lost = {name: count - old.drops.get(name, 0) for name, count in hop.drops.items()}
        counts += [f"{name} {count}" for name, count in lost.items() if count]
        shown.append(f"{hop.name}: {' '.join(counts) or 'no counters'}")
    return "; ".join(shown) or "no hop counts"
