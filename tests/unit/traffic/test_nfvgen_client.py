"""The client of nfvgen, against a stand-in on a real socket."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.errors import BusyError, ConfigurationError, GeneratorError
from nfvbed.records import GeneratorPort, LoopGaps, PortKind, Sessions
from nfvbed.traffic import nfvgen
from nfvbed.traffic.generator import Addressing, BearerPath, LoadPhase, TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions
from nfvbed.traffic.timeline import Bin, Gap, Timeline
from tests.unit.traffic.bearer_tables import bearer_table
from tests.unit.traffic.fake_nfvgen import HELLO, FakeNfvgen, direction, encode, trial

REQUEST = TrafficRequest(duration_ns=1_000_000, frame_size=64)
HOUR_S = 3600
"""Longer than a test may take: one that waited for its end would fail."""


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeNfvgen]:
    server = FakeNfvgen(tmp_path / "s")
    yield server
    server.stop()


def options(path: Path, **changes: object) -> NfvgenOptions:
    ports = tuple(GeneratorPort(engine="dpdk", spec=f"net_null{i}", kind=PortKind.VHOST_USER) for i in (0, 1))
    usual = NfvgenOptions(
        binary=Path("/nfvgen"), engine="dpdk", ports=(ports[0], ports[1]), core=1, socket_path=path, drain_ns=1_000_000
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def client(fake: FakeNfvgen, **changes: object) -> NfvgenClient:
    return NfvgenClient(options(fake.path, **changes), lambda argv: fake)


def test_a_trial_gives_the_counts_and_the_latency_of_both_directions(fake: FakeNfvgen) -> None:
    generator = client(fake)
    result = generator.run(TrafficRequest(duration_ns=1_000_000, frame_size="imix", rate_pps=10_000, vlan=7))
    generator.close()
    assert result.duration_ns == 100_000_123
    assert [d.received for d in result.directions] == [1000, 1000]
    assert result.foreign == (0, 2)
    latency = HdrHistogram.decode(result.latency_hdr[0])
    assert latency.get_total_count() == 1000
    assert latency.get_value_at_percentile(50) == 900
    start = next(r for r in fake.requests if r["command"] == "start")
    assert start["schema"] == "nfvgen/1"
    assert start["frame_sizes"] == [[64, 7], [570, 4], [1518, 1]]
    assert start["directions"] == [[0, 1], [1, 0]]
    assert start["stack"] == {"vlan": 7, "ip": 4, "vxlan": None, "gtpu": None}


def test_one_direction_is_asked_for_as_one(fake: FakeNfvgen) -> None:
    fake.replies["stats"] = lambda _: {
        "state": "done", "elapsed_ns": 1, "error": None, "trial": trial(direction(0, 1, latency=None))
    }  # fmt: skip
    result = client(fake).run(replace(REQUEST, bidirectional=False))
    assert len(result.directions) == 1
    assert result.latency_hdr == (None,)
    assert next(r for r in fake.requests if r["command"] == "start")["directions"] == [[0, 1]]


def test_timelines_are_asked_for_and_read(fake: FakeNfvgen) -> None:
    seen = {"bin_ns": 1000, "bins": [[3, 20, 1, 8]], "gap": {"from_ns": 3010, "to_ns": None}}
    quiet = {"bin_ns": 1000, "bins": [], "gap": None}
    ways = (direction(0, 1, timeline=seen), direction(1, 0, timeline=quiet))
    fake.replies["stats"] = lambda _: {"state": "done", "elapsed_ns": 1, "error": None, "trial": trial(*ways)}
    result = client(fake).run(replace(REQUEST, rate_pps=5, timeline_ns=1000, then=LoadPhase(2, 1_000_000)))
    first, second = result.timelines
    assert first == Timeline(1000, (Bin(3, 20, 1, 8),), Gap(3010, None))
    assert (first.missing(), first.missing(4000), second.missing(), second.gap) == (13, 0, 0, None)
    start = next(r for r in fake.requests if r["command"] == "start")
    assert (start["timeline_ns"], start["then"]) == (1000, {"rate_pps": 2, "duration_ns": 1_000_000})


def test_counts_of_queues_are_read(fake: FakeNfvgen) -> None:
    names = ("sent", "unsent", "late", "refused", "received", "lost", "reordered", "duplicated", "corrupted")
    queues = [dict.fromkeys(names, 0) | {"sent": sent, "received": sent} for sent in (501, 499)]
    fake.replies["hello"] = lambda _: HELLO | {"cores": [1, 2], "thread_ids": [4712, 4713], "queues": 2}
    fake.replies["stats"] = lambda _: {
        "state": "done", "elapsed_ns": 1, "error": None, "trial": trial(direction(0, 1, queues=queues))
    }  # fmt: skip
    generator = client(fake)
    assert generator.hello().more_threads == ((4713, 2),)
    counts = generator.run(replace(REQUEST, bidirectional=False)).directions[0]
    assert [queue.sent for queue in counts.queues] == [501, 499]
    queues[0] |= {"received": 500, "lost": 1}
    with pytest.raises(GeneratorError, match="contradict each other"):
        generator.run(replace(REQUEST, bidirectional=False))


def test_destinations_are_named_only_where_the_deployment_asks_for_some(fake: FakeNfvgen) -> None:
    client(fake).run(REQUEST)
    client(fake, destination_macs=("02:00:00:00:00:08", "02:00:00:00:01:08"), destination_mac_count=2).run(REQUEST)
    plain, several = (r for r in fake.requests if r["command"] == "start")
    assert not {"destination_macs", "destination_mac_count"} & set(plain)
    assert several["destination_macs"] == ["02:00:00:00:00:08", "02:00:00:00:01:08"]
    assert several["destination_mac_count"] == 2


def test_addresses_are_asked_for_only_where_they_are_not_the_generators_own(fake: FakeNfvgen) -> None:
    moved = Addressing(
        flow_address="destination", flow_macs=("source",), macs=("02:00:00:00:00:01", "02:00:00:01:00:00")
    )
    fake.replies["stats"] = lambda _: {
        "state": "done", "elapsed_ns": 1, "error": None, "trial": trial(direction(1, 0, latency=None))
    }  # fmt: skip
    client(fake).run(replace(REQUEST, bidirectional=False))
    client(fake).run(replace(REQUEST, bidirectional=False, backward=True, addressing=moved))
    plain, other = (r for r in fake.requests if r["command"] == "start")
    assert not {"flow_address", "flow_macs", "macs", "ipv4"} & set(plain)
    assert other["directions"] == [[1, 0]]
    assert (other["flow_address"], other["flow_macs"]) == ("destination", ["source"])
    assert other["macs"] == ["02:00:00:00:00:01", "02:00:00:01:00:00"]
    assert "ipv4" not in other


def test_mirrored_sessions_are_asked_for_by_name_and_only_of_a_generator_that_has_them(fake: FakeNfvgen) -> None:
    mirrored = replace(REQUEST, sessions=Sessions.MIRRORED)
    with pytest.raises(ConfigurationError, match="no mirrored sessions"):
        client(fake).run(mirrored)
    assert not any(r["command"] == "start" for r in fake.requests), "nothing was sent"
    fake.replies["hello"] = lambda _: HELLO | {"capabilities": [*HELLO["capabilities"], "sessions"]}
    generator = client(fake)
    assert generator.hello().mirrors
    generator.run(REQUEST)
    generator.run(mirrored)
    plain, other = (r for r in fake.requests if r["command"] == "start")
    assert "sessions" not in plain and other["sessions"] == "mirrored"


def test_bearers_are_asked_for_as_a_stack_with_a_flow_each(fake: FakeNfvgen) -> None:
    macs = ("02:00:00:00:00:08", "02:00:00:00:01:08")
    generator = client(fake, destination_macs=("02:00:00:00:00:01", "02:00:00:00:00:02"))
    generator.run(replace(REQUEST, frame_size=3364, bearers=BearerPath(bearer_table(2), macs)))
    start = next(r for r in fake.requests if r["command"] == "start")
    assert start["flows"] == 2
    assert start["destination_macs"] == list(macs)
    assert start["stack"]["gtpu"] == {
        "enb": "192.0.2.1",
        "sgw": "192.0.2.2",
        "server": "203.0.113.9",
        "bearers": [["10.45.0.2", 1, 4294967295], ["10.45.0.3", 2, 4294967294]],
    }
    with pytest.raises(ConfigurationError, match="64 to 3364"):
        generator.run(replace(REQUEST, frame_size=3365, bearers=BearerPath(bearer_table(2))))


def test_hello_describes_engine_limits_and_links(fake: FakeNfvgen) -> None:
    info = client(fake).hello()
    assert info.engine.name == "nfvgen-dpdk"
    assert info.engine.version == "0.1.0 (DPDK 22.11.11)"
    assert info.link_up == (True, False)
    assert (info.pid, info.thread_id, info.core) == (4711, 4712, 1)


def test_during_a_trial_the_generator_is_left_alone(fake: FakeNfvgen) -> None:
    client(fake).run(replace(REQUEST, duration_ns=200_000_000))
    assert sum(r["command"] == "stats" for r in fake.requests) == 2


def test_a_frame_size_beyond_the_engine_is_refused_before_anything_is_sent(fake: FakeNfvgen) -> None:
    with pytest.raises(ConfigurationError, match="64 to 3400") as caught:
        client(fake).run(replace(REQUEST, frame_size=9018))
    assert caught.value.exit_code == 10
    assert not any(r["command"] == "start" for r in fake.requests)


def test_a_value_that_the_generator_finds_out_of_range_names_the_limit(fake: FakeNfvgen) -> None:
    fake.refuse("start", "out-of-range", "64 bytes do not hold VXLAN", field="frame_sizes", limit=128)
    with pytest.raises(ConfigurationError, match="128") as caught:
        client(fake).run(REQUEST)
    assert "64 bytes do not hold VXLAN" in str(caught.value)


def test_a_failed_port_is_the_generators_error_in_its_own_words(fake: FakeNfvgen) -> None:
    fake.refuse("start", "port", "net_null0: link is down")
    with pytest.raises(GeneratorError, match="link is down"):
        client(fake).run(REQUEST)


def test_a_failed_trial_gives_its_reason(fake: FakeNfvgen) -> None:
    fake.replies["stats"] = lambda _: {"state": "failed", "elapsed_ns": 1, "error": "device reset", "trial": None}
    with pytest.raises(GeneratorError, match="device reset"):
        client(fake).run(REQUEST)


def test_a_generator_that_dies_in_mid_trial_is_noticed_at_once_with_its_last_lines(fake: FakeNfvgen) -> None:
    def die(_: object) -> None:
        fake.log = "cannot allocate mbufs\nbye"
        fake.die(-9)

    fake.replies["stats"] = die
    with pytest.raises(GeneratorError, match="cannot allocate mbufs") as caught:
        client(fake, grace_s=HOUR_S).run(REQUEST)
    assert caught.value.exit_code == 24
    assert "-9" in str(caught.value)


def test_a_connection_that_ends_wakes_the_sleeping_client(fake: FakeNfvgen) -> None:
    def die_after_the_answer(request: dict[str, object]) -> bytes:
        fake.die(137)
        return encode({"schema": "nfvgen/1", "id": request["id"], "ok": True, "result": {}})

    fake.replies["start"] = die_after_the_answer
    with pytest.raises(GeneratorError, match="137"):
        client(fake).run(replace(REQUEST, duration_ns=HOUR_S * 1_000_000_000))


@pytest.mark.parametrize(
    ("garbage", "message"),
    [
        (b"\x00\xff not json\n", "not JSON"),
        (b'["nfvgen/1"]\n', "another protocol"),
        (encode({"schema": "nfvgen/2", "id": 1, "ok": True, "result": {}}), "nfvgen/2"),
        (encode({"schema": "nfvgen/1", "id": 99, "ok": True, "result": {}}), "another request"),
        (encode({"schema": "nfvgen/1", "id": 1, "ok": True, "result": {}, "extra": 1}), "extra"),
        (encode({"schema": "nfvgen/1", "id": 1, "ok": "yes", "result": {}}), "does not follow"),
        (encode({"schema": "nfvgen/1", "id": 1, "ok": True}), "neither a result"),
        (encode({"schema": "nfvgen/1", "id": 1, "ok": True, "result": {**HELLO, "colour": "red"}}), "colour"),
        (encode({"schema": "nfvgen/1", "id": 1, "ok": True, "result": {**HELLO, "pid": "4711"}}), "pid"),
    ],
)
def test_an_answer_that_the_protocol_does_not_allow_is_named(fake: FakeNfvgen, garbage: bytes, message: str) -> None:
    fake.replies["hello"] = lambda _: garbage
    with pytest.raises(GeneratorError, match=message):
        client(fake)
    assert fake.stopped == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"sent": 900},
        {"lost": 2000},
        {"latency": {"unit": "ns", "min": 0, "max": 0, "sum": 0, "counts": [[10**12, 1]]}},
    ],
)
def test_counts_that_cannot_be_are_refused(fake: FakeNfvgen, wrong: dict[str, object]) -> None:
    fake.replies["stats"] = lambda _: {
        "state": "done", "elapsed_ns": 1, "error": None, "trial": trial(direction(0, 1, **wrong))
    }  # fmt: skip
    with pytest.raises(GeneratorError, match=r"contradict|impossible"):
        client(fake).run(REQUEST)


def test_a_trial_that_does_not_end_is_given_up(fake: FakeNfvgen) -> None:
    fake.replies["stats"] = lambda _: {"state": "running", "elapsed_ns": 5, "error": None, "trial": None}
    with pytest.raises(GeneratorError, match="did not end"):
        client(fake, grace_s=0.1).run(REQUEST)


def test_a_slow_generator_is_waited_for(fake: FakeNfvgen) -> None:
    fake.delay_s = 0.1
    assert client(fake).run(REQUEST).busy_ns == 90_000_000


def test_gaps_and_what_came_in_time_are_kept(fake: FakeNfvgen) -> None:
    found = client(fake).run(REQUEST)
    assert found.gaps == LoopGaps(count=1, total_ns=50_000, longest_ns=50_000)
    assert [way.received_in_time for way in found.directions] == [990, 990]


def test_a_request_may_drain_longer_but_not_shorter_than_the_generator(fake: FakeNfvgen) -> None:
    generator = client(fake)
    for wanted, sent in ((None, 1_000_000), (1, 1_000_000), (2_000_000_000, 2_000_000_000)):
        generator.run(replace(REQUEST, drain_ns=wanted))
        started = [request for request in fake.requests if request["command"] == "start"]
        assert started[-1]["drain_ns"] == sent


def test_a_process_that_ends_at_once_gives_its_exit_status_and_last_lines(fake: FakeNfvgen, tmp_path: Path) -> None:
    fake.log = "port net_null0: no hugepages"
    fake.die(24)
    with pytest.raises(GeneratorError, match="no hugepages") as caught:
        NfvgenClient(options(tmp_path / "nothing"), lambda argv: fake)
    assert "exit status 24" in str(caught.value)
    assert fake.stopped == 1


def test_a_busy_socket_is_a_busy_error(fake: FakeNfvgen, tmp_path: Path) -> None:
    fake.die(13)
    with pytest.raises(BusyError):
        NfvgenClient(options(tmp_path / "nothing"), lambda argv: fake)


def test_a_generator_that_never_opens_its_socket_is_given_up(fake: FakeNfvgen, tmp_path: Path) -> None:
    with pytest.raises(GeneratorError, match="not ready"):
        NfvgenClient(options(tmp_path / "nothing", start_timeout_s=0.1), lambda argv: fake)
    assert fake.stopped == 1


def test_close_quits_and_stops_once(fake: FakeNfvgen) -> None:
    generator = client(fake)
    generator.close()
    generator.close()
    assert [r["command"] for r in fake.requests] == ["hello", "quit"]
    assert fake.stopped == 1
    with pytest.raises(GeneratorError, match="closed"):
        generator.run(REQUEST)


def test_close_of_a_dead_generator_is_quiet(fake: FakeNfvgen) -> None:
    fake.replies["quit"] = lambda _: None
    client(fake).close()
    assert fake.stopped == 1


def test_a_socket_path_that_no_socket_can_have_is_refused_before_the_start(tmp_path: Path) -> None:
    def never(argv: object) -> FakeNfvgen:
        raise AssertionError("started")

    with pytest.raises(GeneratorError, match="too long"):
        NfvgenClient(options(tmp_path / ("x" * 120)), never)


def test_the_command_line_of_both_engines(tmp_path: Path) -> None:
    dpdk = options(tmp_path / "s", file_prefix="a", yield_when_idle=True, sink_core=0).argv()
    assert dpdk[:9] == [
        "/nfvgen",
        "--engine",
        "dpdk",
        "--socket",
        str(tmp_path / "s"),
        "--core",
        "1",
        "--port",
        "net_null0",
    ]
    assert dpdk[-3:] == ["--file-prefix", "a", "--yield"]
    assert "--sink-core" not in dpdk
    several = options(tmp_path / "s", queues=4, more_cores=(3, 5)).argv()
    assert several[several.index("--core") + 1] == "1,3,5"
    assert several[several.index("--queues") + 1] == "4"
    xdp = options(tmp_path / "s", engine="xdp", sink_core=0).argv()
    assert xdp[-2:] == ["--sink-core", "0"]
    assert "--memory-mib" not in xdp


@pytest.mark.parametrize(
    ("keys", "seconds"),
    [
        ({"duration_ns": 300_000_000}, 0.312),
        ({"duration_ns": 300_000_000, "rate_pps": 1000, "frames": 100}, 0.112),
        ({"duration_ns": 300_000_000, "frames": 100}, 0.012),
    ],
)
def test_the_end_is_looked_for_when_all_is_sent_and_not_after_the_longest_drain(keys, seconds):
    request = TrafficRequest(frame_size=64, **keys)
    assert nfvgen._expected_s(request, 50_000_000) == pytest.approx(seconds)
    assert nfvgen._expected_s(request, 1_000_000) == pytest.approx(seconds - 0.011)
