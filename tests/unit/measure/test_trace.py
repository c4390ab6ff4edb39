"""Every possible break of a path is found at its place, from made-up counters."""

import pytest

from nfvbed.errors import GeneratorError
from nfvbed.measure.trace import ATTEMPTS, DirectionTrace, LossKind, follow, run_trace
from nfvbed.records import CounterSource, DirectionCounts, Hop, HopKind
from nfvbed.records.drops import Cause
from nfvbed.records.readings import Unavailable
from tests.unit.measure.fake_site import FakeGenerator, FakeSite, counts, result

NONE = counts(received=0, lost=1000)
BEFORE = (Hop(name="p0", rx_packets=7, tx_packets=9), Hop(name="p1", rx_packets=9, tx_packets=7))


def p2p(
    rx0: int = 1000, tx1: int = 1000, rx1: int = 1000, tx0: int = 1000, drops: dict[str, int] | None = None
) -> tuple[Hop, ...]:
    """Return the hops of a switch with two ports after a trace."""
    return (
        Hop(name="p0", rx_packets=7 + rx0, tx_packets=9 + tx0),
        Hop(name="p1", rx_packets=9 + rx1, tx_packets=7 + tx1, drops=drops or {}),
    )


def traced(forward: DirectionCounts, back: DirectionCounts, after: tuple[Hop, ...]) -> tuple[DirectionTrace, ...]:
    return follow(1000, result(forward, back), BEFORE, after)


def test_all_arrive_also_beside_frames_of_others() -> None:
    forward, back = traced(counts(), counts(), p2p(rx0=1003, tx1=1003))
    assert forward.complete
    assert back.complete
    assert forward.lost_at is None
    assert [(p.name, p.packets) for p in forward.points] == [
        ("sent on port 0", 1000),
        ("p0 rx", 1003),
        ("p1 tx", 1003),
        ("received on port 1", 1000),
    ]
    assert [p.name for p in back.points] == ["sent on port 1", "p1 rx", "p0 tx", "received on port 0"]


def test_frames_that_came_twice_are_named() -> None:
    forward, back = traced(DirectionCounts.counted(1000, 1040), counts(duplicated=3), p2p())
    assert "40 frames were counted back beyond those sent" in forward.note and back.note == ""
    assert (forward.points[-1].drops, back.points[-1].drops) == ({"duplicated": 40}, {"duplicated": 3})


@pytest.mark.parametrize(
    ("forward", "after", "place", "kind"),
    [
        (counts(sent=0, received=0, unsent=1000), p2p(0, 0), "sent on port 0", LossKind.GENERATOR_TX),
        (NONE, p2p(0, 0), "p0 rx", LossKind.SWITCH_RX),
        (NONE, p2p(1000, 0), "p1 tx", LossKind.NO_FLOW),
        (NONE, p2p(1000, 0, tx0=2000), "p1 tx", LossKind.WRONG_PORT),
        (counts(received=600, lost=400), p2p(1000, 600, drops={"tx_dropped": 400}), "p1 tx", LossKind.DROPPED),
        (counts(received=600, lost=400), p2p(1000, 600), "p1 tx", LossKind.INSIDE),
        (counts(received=600, lost=400), p2p(), "received on port 1", LossKind.GENERATOR_RX),
        (counts(received=0, lost=1000, corrupted=1000), p2p(), "received on port 1", LossKind.GENERATOR_RX),
    ],
)
def test_the_first_hop_that_lacks_frames_is_named(
    forward: DirectionCounts, after: tuple[Hop, ...], place: str, kind: LossKind
) -> None:
    first, second = traced(forward, counts(), after)
    assert (first.lost_at, first.kind) == (place, kind)
    assert first.hint
    assert second.complete


def test_the_return_path_is_followed_on_its_own() -> None:
    forward, back = traced(counts(), NONE, p2p(tx0=0))
    assert forward.complete
    assert (back.lost_at, back.kind) == ("p0 tx", LossKind.NO_FLOW)
    forward, back = traced(counts(), NONE, p2p(rx1=0, tx0=0))
    assert (back.lost_at, back.kind) == ("p1 rx", LossKind.SWITCH_RX)


def test_drop_counters_and_the_wrong_port_are_in_the_hint() -> None:
    first, _ = traced(counts(received=600, lost=400), counts(), p2p(1000, 600, drops={"tx_dropped": 400}))
    assert "tx_dropped 400 at p1 tx" in first.hint
    first, _ = traced(NONE, counts(), p2p(1000, 0, tx0=2000))
    assert "p0 sent 2000" in first.hint


@pytest.mark.parametrize(
    ("counter", "cause", "says"),
    [
        ("ovs_tx_mtu_exceeded_drops", Cause.MTU, "longer than the MTU"),
        ("ovs_tx_qos_drops", Cause.QOS, "egress policy"),
        ("ovs_tx_invalid_hwol_drops", Cause.OFFLOAD, "hardware"),
        ("ovs_tx_failure_drops", Cause.RING, "was full"),
        ("ovs_tx_unheard_of_drops", Cause.UNKNOWN, "does not know the counter ovs_tx_unheard_of_drops"),
    ],
)
def test_the_counter_that_rose_says_why_and_lost_is_counted_among_sent(counter: str, cause: Cause, says: str) -> None:
    late = counts(sent=415, received=0, lost=415, unsent=585)
    after = tuple(
        hop.model_copy(update={"drops": {counter: 415, "ovs_rx_qos_drops": 9}, "counted_by": CounterSource.OVS})
        for hop in p2p(415, 0)
    )
    first, _ = traced(late, counts(), after)
    assert (first.lost_at, first.kind) == ("p1 tx", LossKind.DROPPED)
    assert [(drop.counter, drop.place, drop.frames, drop.cause) for drop in first.dropped] == [
        (counter, "p1 tx", 415, cause),
        ("ovs_rx_qos_drops", "p0 rx", 9, Cause.QOS),
    ], "each side of a port has its own drops, of its own direction"
    assert says in first.hint
    assert (cause is Cause.RING) == ("ring" in first.hint)
    assert (first.lost, first.sent, first.frames) == (415, 415, 1000)


def test_what_the_datapath_dropped_between_two_ports_is_told() -> None:
    before = (Hop(name="p0", rx_packets=0), Hop(name="datapath"), Hop(name="p1", tx_packets=0))
    drops = {"datapath_drop_meter": 7, "tx_dropped": 7}
    inside = Hop(name="datapath", drops=drops, counted_by=CounterSource.OVS)
    after = (Hop(name="p0", rx_packets=1000), inside, Hop(name="p1", tx_packets=993))
    (trace,) = follow(1000, result(counts(received=993, lost=7)), before, after)
    assert (trace.lost_at, trace.kind) == ("p1 tx", LossKind.DROPPED)
    assert "a meter's rate was exceeded (datapath_drop_meter 7 at datapath)" in trace.hint
    assert "tx_dropped" not in trace.hint, "a counter of several causes adds nothing to one that names its own"


def test_a_hop_in_between_counts_on_its_own_side_and_one_without_counters_is_passed_over() -> None:
    before = (
        Hop(name="p0", rx_packets=0),
        Hop(name="rule"),
        Hop(name="vnf", rx_packets=0),
        Hop(name="p1", tx_packets=0),
    )
    after = (
        Hop(name="p0", rx_packets=1000),
        Hop(name="rule"),
        Hop(name="vnf", rx_packets=400),
        Hop(name="p1", tx_packets=0),
    )
    only = counts(received=0, lost=1000)
    (trace,) = follow(1000, result(only), before, after)
    assert [p.packets for p in trace.points] == [1000, 1000, None, 400, 0, 0]
    assert (trace.lost_at, trace.kind) == ("vnf rx", LossKind.INSIDE)


def test_hops_that_show_nothing_leave_the_generators_own_count() -> None:
    first, _ = traced(counts(received=999, lost=1), counts(), p2p(1003, 1003))
    assert first.lost_at == "received on port 1"


def test_nothing_sent_at_all_is_an_error_and_no_answer() -> None:
    silent = counts(intended=0, sent=0, received=0)
    with pytest.raises(GeneratorError, match="sent nothing"):
        traced(silent, silent, p2p(0, 0, 0, 0))


def test_a_trace_sends_the_frames_without_learning_frames_and_reads_the_hops_around_them() -> None:
    site, generator = FakeSite(), FakeGenerator()
    site.hop_readings = [BEFORE, p2p()]
    report = run_trace(site, site.deployment, generator, 64, 1000)
    assert report.complete
    last = generator.requests[-1]
    assert (last.frames, last.learning_frames, last.bidirectional) == (1000, 0, True)


def test_a_site_without_hops_does_not_say_where_frames_were_lost() -> None:
    site, generator = FakeSite(), FakeGenerator(result(counts(received=990, lost=10), counts()))
    site.hop_readings = [Unavailable("a tenant sees no switch"), BEFORE] * ATTEMPTS
    first, second = run_trace(site, site.deployment, generator, 64, 1000).directions
    assert first.lost_at == "received on port 1"
    assert first.hint == "no hop between the generator's ports is counted: a tenant sees no switch"
    assert second.complete


def bridge(**rises: int) -> tuple[Hop, ...]:
    """Return the hops of a bridge between veth pairs, as the lab reads them: the generator's ends are hops too."""
    seen = {"g0": 1000, "s0": 1000, "s1": 1000, "g1": 1000} | rises
    return (
        Hop(name="generator port 0 (g0)", kind=HopKind.GENERATOR_PORT, rx_packets=1000, tx_packets=seen["g0"]),
        Hop(name="br0 port s0", rx_packets=seen["s0"], tx_packets=1000),
        Hop(name="br0", drops={"rx_dropped": 0}),
        Hop(name="br0 port s1", rx_packets=1000, tx_packets=seen["s1"]),
        Hop(name="generator port 1 (g1)", kind=HopKind.GENERATOR_PORT, rx_packets=seen["g1"], tx_packets=1000),
    )


@pytest.mark.parametrize(
    ("rises", "place", "kind"),
    [
        ({"g0": 0, "s0": 0, "s1": 0, "g1": 0}, "generator port 0 (g0) tx", LossKind.GENERATOR_TX),
        ({"s0": 0, "s1": 0, "g1": 0}, "br0 port s0 rx", LossKind.SWITCH_RX),
        ({"s1": 0, "g1": 0}, "br0 port s1 tx", LossKind.NO_FLOW),
        ({"g1": 0}, "generator port 1 (g1) rx", LossKind.GENERATOR_RX),
        ({}, "received on port 1", LossKind.GENERATOR_RX),
    ],
)
def test_a_bridge_with_the_generators_own_links_as_hops(rises: dict[str, int], place: str, kind: LossKind) -> None:
    before = bridge(g0=0, s0=0, s1=0, g1=0)
    zero = tuple(h.model_copy(update={"rx_packets": 0, "tx_packets": 0}) if h.name != "br0" else h for h in before)
    forward, back = follow(1000, result(NONE, counts()), zero, bridge(**rises))
    assert (forward.lost_at, forward.kind) == (place, kind)
    assert back.complete


def test_frames_that_were_late_are_not_lost_and_the_trace_is_tried_again() -> None:
    late = counts(sent=523, received=523, unsent=477)
    forward, _ = traced(late, counts(), p2p(523, 523))
    assert forward.complete
    assert "477 frames were not sent" in forward.note
    refused = counts(sent=523, received=523, unsent=477, refused=477)
    forward, _ = traced(refused, counts(), p2p(523, 523))
    assert (forward.kind, forward.lost_at) == (LossKind.GENERATOR_TX, "sent on port 0")
    site, generator = FakeSite(), FakeGenerator(result(late, counts()))
    site.hop_readings = [BEFORE, p2p(523, 523)] * 5
    assert run_trace(site, site.deployment, generator, 64, 1000).complete
    assert not site.hop_readings


def test_refused_frames_are_tried_again_and_stay_a_break_when_they_are_always_refused() -> None:
    refused = counts(sent=523, received=523, unsent=477, refused=477)
    site, generator = FakeSite(), FakeGenerator(result(refused, counts()))
    site.hop_readings = [BEFORE, p2p(523, 523)] * 5
    report = run_trace(site, site.deployment, generator, 64, 1000)
    assert report.directions[0].kind is LossKind.GENERATOR_TX
    assert not site.hop_readings


WAY = ("v1a", "vnf1 port 0", "vnf1 port 1", "v1b", "v2a", "vnf2 port 0", "vnf2 port 1", "v2b")


def parallel(shares: tuple[int, int] = (500, 500), out: int | None = None, **seen: int) -> tuple[Hop, ...]:
    """Return the hops of two VNFs side by side after a trace: what went into each, and what came out at the end."""
    leaves = sum(shares) if out is None else out
    inner = []
    for place, name in enumerate(WAY):
        forward = seen.get(name.replace(" ", "_"), shares[place // 4])
        enters = place % 2
        rx, tx = (forward, 500) if enters else (500, forward)
        inner.append(Hop(name=name, vnf=place // 4, rx_packets=rx, tx_packets=tx))
    first = Hop(name="s0", rx_packets=1000, tx_packets=1000)
    return (first, *inner, Hop(name="s1", rx_packets=1000, tx_packets=leaves))


def parallel_trace(forward: DirectionCounts, after: tuple[Hop, ...]) -> tuple[DirectionTrace, ...]:
    before = tuple(Hop(name=hop.name, rx_packets=0, tx_packets=0) for hop in after)
    return follow(1000, result(forward, counts()), before, after, 2)


def test_vnfs_side_by_side_each_get_their_share() -> None:
    forward, back = parallel_trace(counts(), parallel())
    assert forward.complete
    assert back.complete
    for trace in (forward, back):
        assert [(s.vnf, s.expected, s.entered, s.left) for s in trace.shares] == [
            ("vnf1", 500, 500, 500),
            ("vnf2", 500, 500, 500),
        ]


@pytest.mark.parametrize(
    ("forward", "after", "place", "kind"),
    [
        (counts(), parallel((1000, 0)), "v2a tx", LossKind.WRONG_SHARE),
        (counts(), parallel((0, 1000)), "v1a tx", LossKind.WRONG_SHARE),
        (counts(received=500, lost=500), parallel((500, 0)), "v2a tx", LossKind.NO_FLOW),
        (counts(received=500, lost=500), parallel((1000, 0), out=500), "v2a tx", LossKind.WRONG_PORT),
        (
            counts(received=750, lost=250),
            parallel((500, 500), out=750, vnf2_port_1=250, v2b=250),
            "vnf2 port 1 tx",
            LossKind.INSIDE,
        ),
        (counts(received=999, lost=1), parallel(out=999), "s1 tx", LossKind.INSIDE),
    ],
)
def test_share_that_a_vnf_lacks_is_found(
    forward: DirectionCounts, after: tuple[Hop, ...], place: str, kind: LossKind
) -> None:
    trace, back = parallel_trace(forward, after)
    assert not trace.complete
    assert (trace.lost_at, trace.kind) == (place, kind)
    assert back.complete


def test_every_vnf_side_by_side_is_sent_a_flow() -> None:
    site, generator = FakeSite(), FakeGenerator()
    site.hop_readings = [parallel(), parallel()]
    run_trace(site, site.deployment.model_copy(update={"topology": "pvpv"}), generator, 64, 1000)
    assert {request.flows for request in generator.requests} == {2}
