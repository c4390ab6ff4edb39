"""Whatever a generator, a tool or a counter says, what leaves its adapter keeps the laws of conservation.

Each module that makes counts of directions is fed arbitrary raw counters here, or is refused the run: an adapter that
is new has to be added.
"""

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfvbed.conservation import fault_of
from nfvbed.errors import GeneratorError
from nfvbed.measure.searching import seen_by_search
from nfvbed.measure.warnings import traffic_warnings
from nfvbed.records import DirectionCounts, Engine, GeneratorPort, Hop, PortKind, QualityWarning, RunRecord
from nfvbed.records.results import TablePayload
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.traffic.nfvgen_protocol import TrialMessage
from nfvbed.traffic.nfvgen_words import result_of
from nfvbed.traffic.simulated.generator import SimulatedGenerator
from nfvbed.traffic.simulated.system import TrialEffect
from nfvbed.traffic.sockets import iperf3, netperf, sockperf
from nfvbed.traffic.trex import counts
from nfvbed.traffic.trex.counts import SendingCounts, UncountedFramesError
from nfvbed.traffic.trex.frames import Part
from nfvbed.vnfs import ends
from nfvbed.vnfs.ends import EndTraffic, VnfEnds
from nfvbed.vsperf.conf import VsperfResult
from nfvbed.vsperf.driver.importing import Measured, import_results
from tests.contract.source import nodes, python_files, text
from tests.sample_records import RUN

SECOND = 1_000_000_000
COUNT = st.one_of(st.integers(0, 50), st.integers(0, 2_000_000), st.integers(0, 10**15))
RAW = st.one_of(COUNT, st.integers(-(10**9), 10**9))
"""Counts of a foreign program, which may say anything."""
PORTS = (
    GeneratorPort(engine="simulated", spec="a", kind=PortKind.SIMULATED),
    GeneratorPort(engine="simulated", spec="b", kind=PortKind.SIMULATED),
)
MESSAGE_BYTES = 100


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(ends.time, "sleep", lambda seconds: None)


def check(result: TrafficResult) -> None:
    """Assert the laws of what left an adapter, and that a surplus is never without its warnings."""
    for way in result.directions:
        assert fault_of(way.model_dump() | {"surplus": way.surplus}) == ""
        assert 0 <= way.received <= way.sent and 0 <= way.lost <= way.sent
    warned = {QualityWarning.DUPLICATED, QualityWarning.LOSS_AT_LEAST} <= set(traffic_warnings(result))
    assert warned or not any(way.surplus for way in result.directions)
    seen = seen_by_search(result.directions, max(1, result.duration_ns), None, False)
    assert seen.missing >= sum(way.lost for way in result.directions), "no direction hides another's loss"
    assert 0 <= seen.loss_ratio <= 1 and seen.surplus == sum(way.surplus for way in result.directions)


def of_ways(*ways: DirectionCounts) -> TrafficResult:
    return TrafficResult(SECOND, 0, ways, (0, 0), (None,) * len(ways))


def nfvgen(draw: Any) -> None:
    """Both engines, here or on another host, and all else that speaks the protocol."""
    names = ("intended", "sent", "received", "unsent", "late", "refused", "reordered", "duplicated", "corrupted")
    way = {name: draw(COUNT) for name in (*names, "sent_bytes", "received_bytes", "surplus")}
    way["lost"] = draw(COUNT)
    if draw(st.integers(0, 4)):
        # As nfvgen has them; what else it says is refused.
        way |= {"intended": way["sent"] + way["unsent"], "late": min(way["late"], way["unsent"])}
        way |= {"lost": max(0, way["sent"] - way["received"]), "surplus": min(way["surplus"], way["duplicated"])}
    rows = [{"tx": tx, "rx": 1 - tx, **way} for tx in (0, 1)]
    told = {"duration_ns": SECOND, "busy_ns": 0, "directions": rows, "foreign": [0, 0], "clock": "tsc"}
    check(result_of(TrialMessage.model_validate(told)))


def trex(draw: Any) -> None:
    sizes = draw(st.lists(st.sampled_from([64, 570, 1518]), min_size=1, max_size=3))
    planned = [Part(0, tx, 1 - tx, size, draw(st.integers(1, 10**9)), 1e6) for tx in (0, 1) for size in sizes]
    planned = [replace(part, id=number) for number, part in enumerate(planned, 1)]
    lacks = draw(st.integers(0, 4)) == 0
    value = st.one_of(RAW, st.just("N/A")) if lacks else RAW
    by_id = {
        part.id: {"tx_pkts": {part.tx: draw(value)}, "rx_pkts": {part.rx: draw(value)}}
        for part in planned
        if not lacks or draw(st.booleans())
    }
    names = ("ipackets", "opackets", "ierrors")
    at_ports: dict[Any, Any] = {port: {name: draw(value) for name in names} for port in (0, 1)}
    at_ports["global"] = {"queue_full": draw(st.sampled_from([0, 7]))}
    sent = SendingCounts(SECOND, SECOND, draw(st.booleans()))
    told = counts.trial(planned, by_id, at_ports, sent, software=draw(st.booleans()))
    found = result_of(TrialMessage.model_validate(told))
    check(found)
    # Streams are counted, not ports: nothing else is traffic.
    for way, row in zip(found.directions, told["directions"], strict=True):
        own = [part.id for part in planned if part.tx == row["tx"]]
        assert way.received == sum(
            min(max(0, by_id[one]["tx_pkts"][row["tx"]]), max(0, by_id[one]["rx_pkts"][row["rx"]])) for one in own
        )


def sockets(draw: Any) -> None:
    sent, back = draw(RAW), draw(RAW)
    of_iperf3 = {
        "end": {
            "sum_sent": {"packets": sent, "seconds": 1.0},
            "sum_received": {"bytes": back * MESSAGE_BYTES, "jitter_ms": 0.1},
            "streams": [{"udp": {"out_of_order": 0}}],
            "cpu_utilization_percent": {},
        }
    }
    keys = "\n".join(f"{key}=1" for key in netperf.DATAGRAM_KEYS)
    of_netperf = f"{keys}\nLOCAL_SEND_CALLS={sent}\nREMOTE_RECV_CALLS={back}\nELAPSED_TIME=1.0\n"
    programs = netperf.NetperfPrograms(("netperf",), ("netserver",), "2.7")
    times = tuple(1000 for _ in range(draw(st.integers(1, 30))))
    exchange = sockperf.Exchange("under-load", "udp", MESSAGE_BYTES, 1, 1000)
    asked = draw(
        st.sampled_from(
            [
                lambda: iperf3.parse_udp(json.dumps(of_iperf3), MESSAGE_BYTES),
                lambda: netperf.parse_datagrams(of_netperf, programs, MESSAGE_BYTES),
                lambda: sockperf.figures_of(
                    sockperf.RoundTrips(draw(st.integers(0, 40)), 0, SECOND, times),
                    Engine(name="s", version=""),
                    exchange,
                ),
            ]
        )
    )
    found = asked()
    check(of_ways(*found.directions))
    loss = found.value("loss")
    assert loss is None or 0 <= loss <= 100
    assert all(figure.value is None or figure.value >= 0 for figure in found.figures)


def simulated(draw: Any) -> None:
    class Carries:
        late_share = 0.0

        def forwards(self, *_: Any) -> bool:
            return True

        def carry(self, *_: Any) -> TrialEffect:
            return TrialEffect(draw(st.integers(1, 10**9)), draw(COUNT), draw(COUNT), (1000,))

        def burst(self, *_: Any) -> tuple[int, int]:
            return draw(COUNT), SECOND

    system: Any = Carries()
    request = TrafficRequest(
        duration_ns=SECOND,
        frame_size=64,
        rate_pps=draw(st.one_of(st.none(), st.integers(1, 10**7))),
        frames=draw(st.one_of(st.none(), st.integers(1, 10**7))),
        bidirectional=draw(st.booleans()),
    )
    check(SimulatedGenerator(PORTS, system).run(request))


class Reads:
    """A VNF whose counter rises by anything from one reading to the next, and seldom begins anew."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self._count = 0

    def __call__(self) -> Hop:
        self._count = self._draw(COUNT) + (self._count if self._draw(st.integers(0, 9)) else 0)
        return Hop(name="vnf", rx_packets=self._count, tx_packets=self._count)


def at_vnfs(draw: Any) -> None:
    """Sinks and sources that are VNFs: testpmd's counters, beside the generator's or alone."""

    class Beside(Generator):
        ports = PORTS

        def hello(self) -> GeneratorInfo:
            raise NotImplementedError

        def run(self, request: TrafficRequest) -> TrafficResult:
            sent, unsent = draw(COUNT), draw(COUNT)
            way = DirectionCounts.counted(sent, 0, unsent=unsent, late=min(unsent, draw(COUNT)))
            return replace(of_ways(way), foreign=(draw(COUNT), draw(COUNT)))

        def close(self) -> None:
            pass

    vnfs, generator = draw(
        st.sampled_from(
            [
                (VnfEnds(sink=Reads(draw)), Beside()),
                (VnfEnds(source=Reads(draw)), Beside()),
                (VnfEnds(source=Reads(draw), sink=Reads(draw)), None),
            ]
        )
    )
    check(EndTraffic(vnfs, generator, 1).run(TrafficRequest(duration_ns=SECOND, frame_size=64)))


ADAPTERS: dict[str, Callable[[Any], None]] = {
    "nfvbed.traffic.nfvgen_words": nfvgen,
    "nfvbed.traffic.trex.counts": trex,
    "nfvbed.traffic.sockets.figures": sockets,
    "nfvbed.traffic.simulated.generator": simulated,
    "nfvbed.vnfs.ends": at_vnfs,
}
"""Modules that turn raw counters into counts of directions, with how they are fed."""


@pytest.mark.parametrize("module", ADAPTERS)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_counts_that_cannot_be_leave_no_adapter(module, data):
    try:
        ADAPTERS[module](data.draw)
    except (GeneratorError, UncountedFramesError) as refusal:
        assert refusal.fix if isinstance(refusal, UncountedFramesError) else refusal.observed


def _makes_counts(path: Any) -> bool:
    """Tell whether a module counts: it makes counts of directions, or balances what was sent and what came back."""
    makers = {"DirectionCounts", "DirectionCounts.counted", "balance"}
    if not any(f"{name}(" in text(path) for name in makers):
        return False
    return any(ast.unparse(node.func) in makers for node in nodes(path) if isinstance(node, ast.Call))


def test_every_adapter_is_among_them():
    found = {".".join(path.with_suffix("").parts) for path in python_files("nfvbed") if _makes_counts(path)}
    assert found - {"nfvbed.records.trial", "nfvbed.conservation"} == set(ADAPTERS)


@dataclass
class Kept:
    """A store that keeps what it is given."""

    trials: list[Any]
    results: list[Any]

    def add_cell(self, _: Any) -> None:
        pass

    def set_cell_status(self, *_: Any) -> None:
        pass

    def add_trial(self, trial: Any) -> None:
        self.trials.append(trial)

    def add_result(self, result: Any) -> None:
        self.results.append(result)


RATE = st.floats(0, 1e8, allow_nan=False)


@given(sent=RATE, received=RATE, loss=st.floats(-200, 100, allow_nan=False), tells=st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_vsperf_counted_beyond_what_it_sent_is_in_no_rate(sent, received, loss, tells):
    numbers = {"throughput_rx_fps": received, "frame_loss_percent": loss} | ({"tx_rate_fps": sent} if tells else {})
    line = VsperfResult(
        file="r.csv", line=1, type="rfc2544_continuous", packet_size_bytes=64, vswitch="OvsVanilla", numbers=numbers
    )
    run = RunRecord(
        id=RUN,
        experiment="e",
        site="vsperf",
        host_hash="",
        plan_hash="",
        started_at="2026-01-01",
    )
    measured = Measured(run, "phy2phy_cont", "0.2", "Trex", "p2p", "OvsDpdkVhost", PortKind.PCI, True, 1.0, ("", ""))
    kept: Any = Kept([], [])
    import_results(kept, measured, [line])
    (trial,), (result,) = kept.trials, kept.results
    (row,) = TablePayload.model_validate(result.payload).rows
    values = {found.name: found.value for found in row.quantities}
    assert values["frame loss"] >= 0 and values["received"] <= (sent if tells else received)
    assert not tells or trial.forwarded_rate_pps <= trial.offered_load_pps
    marked = QualityWarning.LOSS_AT_LEAST in trial.warnings
    assert marked == bool(row.reason) == (loss < 0 or (tells and round(received) > round(sent)))
