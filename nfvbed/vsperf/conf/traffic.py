"""Maps TRAFFIC and the TRAFFICGEN settings to an experiment's traffic, frame sizes and trials."""

from typing import Final

from pydantic import ValidationError

from nfvbed.spec.experiment import RepetitionsSpec
from nfvbed.spec.layout import layout
from nfvbed.spec.search import SearchSpec
from nfvbed.spec.searchpresets import NDR
from nfvbed.spec.testkinds.bursts import MAX_FRAMES
from nfvbed.spec.testkinds.loads import LossCurveTest
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES
from nfvbed.vsperf.conf.draft import Draft, flag, number, one_of, whole
from nfvbed.vsperf.conf.offeredload import map_given_load, map_unbounded_load
from nfvbed.vsperf.conf.released import NEWEST, default_of, releases, same
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings
from nfvbed.vsperf.conf.testids import KIND_OF, TestKind

GENOME: Final = {"a": 64, "b": 128, "c": 256, "d": 512, "e": 1024, "f": 1280, "g": 1518, "h": 2112}
"""RFC 6985: the frame sizes that letters stand for."""
_IMIX: Final = ("a" * 7, "d" * 4, "g")
_ADDRESSES: Final = (
    ("l2", "srcmac"),
    ("l2", "dstmac"),
    ("l3", "srcip"),
    ("l3", "dstip"),
    ("l4", "srcport"),
    ("l4", "dstport"),
)
MAX_L4_FLOWS: Final = 65_536
MAX_FLOWS: Final = 1_000_000
ROUND_OVERHEAD_S: Final = 20.0
"""What a cell may take in a round beside its long trial: deployment, warm-up and the paced trial."""
LEAST_TIME_LIMIT_S: Final = 360.0
ROUNDS: Final = 12
OF_THEIR_OWN: Final = frozenset(
    (TestKind.BACK_TO_BACK, TestKind.BURST, TestKind.ADDRESS_CACHING, TestKind.ADDRESS_LEARNING)
)
FORWARDING: Final = ({"kind": "mrr"}, {"kind": "loss-curve", "name": TestKind.FORWARDING_RATE.value})
"""The tests whose loads show the highest forwarding rate: the most that ports take, and parts of what arrived then."""
_TIMES_OF: Final = {
    TestKind.BACK_TO_BACK: "TRAFFICGEN_RFC2544_TESTS",
    TestKind.FORWARDING_RATE: "TRAFFICGEN_RFC2889_TRIALS",
    TestKind.ADDRESS_CACHING: "TRAFFICGEN_RFC2889_TRIALS",
    TestKind.ADDRESS_LEARNING: "TRAFFICGEN_RFC2889_TRIALS",
}
"""The setting that says how often a test is done."""
MAX_REPETITIONS: Final = 1000
OWN_TIME_LIMIT_S: Final = 1200.0
"""Time limit of a test of `OF_THEIR_OWN`, for each frame size."""


def map_kind(draft: Draft, traffic: SettingValue) -> TestKind:
    """Return the native test; a continuous stream below 100 % of line rate is another one than at full load."""
    found = traffic.at("traffic_type")
    kind = KIND_OF[str(one_of(draft, found, tuple(KIND_OF)))]
    rate = traffic.at("frame_rate")
    percent = number(draft, rate, 0, 100)
    if kind is TestKind.MAXIMUM_LOAD and percent == 0:
        raise draft.wrong(rate, "give a part of the line rate above 0, in percent")
    return TestKind.GIVEN_LOAD if kind is TestKind.MAXIMUM_LOAD and percent < 100 else kind


def map_traffic(draft: Draft, traffic: SettingValue, topology: str) -> None:
    """Map flows, direction and headers."""
    bidir = traffic.at("bidir")
    # VSPERF takes a text only, in any case.
    if not isinstance(bidir.value, str) or bidir.value.title() not in ("True", "False"):
        raise draft.wrong(bidir, "give the text 'True' or 'False', as VSPERF asks for")
    draft.put("traffic.bidirectional", bidir.value.title() == "True", bidir)
    _flows(draft, traffic, topology)
    _layers(draft, traffic)
    _vlan(draft, traffic)
    for part in ("capture", "scapy"):
        if flag(draft, traffic.at(part, "enabled")):
            draft.lacks(f"TRAFFIC['{part}'] has no equivalent", traffic.at(part, "enabled"))
    if flag(draft, traffic.at("flow_control")):
        draft.lacks("nfvgen's ports have no flow control", traffic.at("flow_control"))
    learning = traffic.at("learning_frames")
    if learning.value is not None and not flag(draft, learning):
        draft.lacks("nfvgen always sends learning frames before a trial", learning)
    histogram = traffic.at("latency_histogram")
    if histogram.value is not None and histogram.place is not None:
        draft.unused(histogram, "the whole histogram of every trial is always stored", is_default=True)


def _flows(draft: Draft, traffic: SettingValue, topology: str) -> None:
    streams = traffic.at("multistream")
    wanted = whole(draft, streams, 0, MAX_FLOWS)
    kind = one_of(draft, traffic.at("stream_type"), ("L2", "L3", "L4"))
    if wanted > 1 and kind == "L4" and wanted > MAX_L4_FLOWS:
        draft.differs(streams, f"as in VSPERF, L4 streams are at most {MAX_L4_FLOWS}")
        wanted = MAX_L4_FLOWS
    ways = layout(topology).ways
    if wanted < ways > 1:
        draft.differs(streams, f"as in VSPERF, {topology} has at least one stream for each of its {ways} VNFs")
        wanted = ways
    if wanted > 1 and kind == "L2":
        draft.lacks("streams that differ in the destination MAC address are not sent", traffic.at("stream_type"))
    elif wanted > 1:
        named = {"L3": "destination IP address", "L4": "destination port"}[kind]
        text = f"nfvgen's flows differ in source IP address and source UDP port, VSPERF's in the {named}"
        draft.differs(traffic.at("stream_type"), text)
    draft.put("traffic.flows", max(wanted, 1), streams)
    if wanted > 1 and str(one_of(draft, traffic.at("pre_installed_flows"), ("Yes", "No"))) == "Yes":
        draft.lacks("a rule for every flow is not installed", traffic.at("pre_installed_flows"))
    if one_of(draft, traffic.at("flow_type"), ("port", "IP")) == "IP":
        draft.lacks("rules match ports, not IP addresses", traffic.at("flow_type"))


def _layers(draft: Draft, traffic: SettingValue) -> None:
    for part in ("l3", "l4"):
        if not flag(draft, traffic.at(part, "enabled")):
            draft.lacks("frames without IP and UDP are not sent", traffic.at(part, "enabled"))
    protocol = traffic.at("l3", "proto")
    if str(protocol.value).lower() != "udp":
        draft.lacks("only UDP is sent", protocol)
    for keys in _ADDRESSES:
        _address(draft, traffic.at(*keys), keys)
    for keys in (("l2", "framesize"), ("l3", "packetsize")):
        size = traffic.at(*keys)
        if size.value is not None and size.place is not None:
            draft.unused(size, "as in VSPERF, TRAFFICGEN_PKT_SIZES says the sizes", is_default=True)


def _address(draft: Draft, found: SettingValue, keys: tuple[str, str]) -> None:
    """Note that an address or port is not used, as a difference where a user asks for one."""
    if found.value is None or found.place is None:
        return
    default = default_of("TRAFFIC", releases()[NEWEST])[keys[0]][keys[1]]
    text = "nfvgen has its own addresses, and those that the path needs"
    if same(found.value, default):
        draft.unused(found, text, is_default=True)
    else:
        draft.differs(found, text)


def _vlan(draft: Draft, traffic: SettingValue) -> None:
    if not flag(draft, traffic.at("vlan", "enabled")):
        return
    draft.put("traffic.vlan", whole(draft, traffic.at("vlan", "id"), 1, 4094), traffic.at("vlan", "id"))
    for name in ("priority", "cfi"):
        found = traffic.at("vlan", name)
        if found.value not in (None, 0):
            draft.lacks(f"the VLAN tag's {name} is always 0", found)


def map_frame_sizes(draft: Draft, settings: TestSettings, traffic: SettingValue) -> None:
    """Map the frame sizes, or the mix of them."""
    found = settings.require("TRAFFICGEN_PKT_SIZES")
    if flag(draft, traffic.at("imix", "enabled")):
        one_of(draft, traffic.at("imix", "type"), ("genome",))
        draft.put("frame_sizes", ["imix"], _mix(draft, traffic.at("imix", "genome")))
        return
    if not isinstance(found.value, list | tuple) or not found.value:
        raise draft.wrong(found, "give a tuple of sizes in bytes: (64, 1518)")
    sizes = [
        whole(draft, SettingValue(found.name, size, found.place), MIN_FRAME_SIZE_BYTES, MAX_FRAME_SIZE_BYTES)
        for size in found.value
    ]
    draft.put("frame_sizes", sizes, found)


def _mix(draft: Draft, found: SettingValue) -> SettingValue:
    text = found.value
    if not isinstance(text, str) or not text or set(text) - set(GENOME):
        raise draft.wrong(found, f"give letters of RFC 6985: {', '.join(f'{k} {v}' for k, v in GENOME.items())}")
    shares = {letter: text.count(letter) for letter in set(text)}
    least = min(shares.values())
    if {letter: share / least for letter, share in shares.items()} == {"a": 7.0, "d": 4.0, "g": 1.0}:
        draft.differs(found, "nfvbed's mix is 7:4:1 of 64, 570 and 1518 bytes (as FD.io CSIT's), not 64, 512 and 1518")
    else:
        draft.lacks(f"the only mix is {''.join(_IMIX)}, 7:4:1 of 64, 570 and 1518 bytes", found)
    return found


def map_trials(draft: Draft, settings: TestSettings, kind: TestKind) -> SearchSpec | None:
    """Map the length of trials, and for a throughput test the search.

    Returns:
        The search of a throughput test, after RFC 2544; None for other tests.
    """
    found = settings.require("TRAFFICGEN_DURATION")
    duration_s = number(draft, found, 0.05, 3600)
    if kind is TestKind.FORWARDING_RATE:
        _forwarding(draft, settings, duration_s)
        return None
    if kind is not TestKind.THROUGHPUT:
        draft.put("trials.mrr_duration_s", duration_s, found)
        if kind is TestKind.GIVEN_LOAD:
            map_given_load(draft, settings, duration_s)
        else:
            map_unbounded_load(draft, settings)
        sizes = len(draft.experiment["frame_sizes"])
        # All rounds that an experiment may need, so that long trials are not cut off by the limit for short ones.
        limit = max(LEAST_TIME_LIMIT_S, ROUNDS * sizes * (duration_s + ROUND_OVERHEAD_S))
        if kind in OF_THEIR_OWN:
            limit = sizes * OWN_TIME_LIMIT_S * _own_test(draft, settings, kind)
        draft.put("repetitions.time_limit_s", limit, found)
        return None
    map_unbounded_load(draft, settings)
    search = loss_search(draft, duration_s, settings.require("TRAFFICGEN_LOSSRATE"))
    draft.put("tests", [{"kind": "search", **search.model_dump(mode="json", exclude_defaults=True)}], found)
    # Unless asked for more, VSPERF searches once, and a search takes minutes.
    times = _repetitions(draft, settings, "TRAFFICGEN_RFC2544_TESTS", found)
    limit = search.resolved().time_limit_s * len(draft.experiment["frame_sizes"]) * times
    draft.put("repetitions.time_limit_s", limit, found)
    return search


def _repetitions(draft: Draft, settings: TestSettings, name: str, of: SettingValue) -> int:
    """Map the number of repetitions of a test.

    Args:
        draft: gets the result.
        name: the setting with the number.
        of: the setting that is named as the source where that one is not given.

    Returns:
        The number; 1 by default.
    """
    found = settings.get(name)
    times = 1 if found is None else whole(draft, found, 1, MAX_REPETITIONS)
    draft.put("repetitions.needed", times, found or of)
    if times > RepetitionsSpec().max_rounds:
        draft.put("repetitions.max_rounds", times, found or of)
    return times


def _own_test(draft: Draft, settings: TestSettings, kind: TestKind) -> int:
    """Map a test that has a kind of its own in nfvbed, with that kind's bounds.

    Returns:
        How often it is done.
    """
    of = settings.require("TRAFFIC").at("traffic_type")
    if kind is TestKind.BURST:
        draft.put("repetitions.needed", 1, of)
        _burst(draft, settings.require("TRAFFIC"))
        return 1
    times = _repetitions(draft, settings, _TIMES_OF[kind], of)
    loss = settings.require("TRAFFICGEN_LOSSRATE")
    if number(draft, loss, 0, 99.9):
        draft.lacks("the test is without loss", loss)
    draft.put("tests", [{"kind": kind.value}], of)
    draft.differs(of, f"the test {kind.value} has its own lengths; TRAFFICGEN_DURATION is not used")
    return times


def _forwarding(draft: Draft, settings: TestSettings, duration_s: float) -> None:
    """Map the search for the maximum forwarding rate (RFC 2285 section 3.6.3): loads in steps, losses allowed."""
    of = settings.require("TRAFFIC").at("traffic_type")
    mrr, curve = FORWARDING
    draft.put("tests", [mrr, {**curve, "duration_s": duration_s}], of)
    draft.put("trials.mrr_duration_s", duration_s, settings.require("TRAFFICGEN_DURATION"))
    times = _repetitions(draft, settings, _TIMES_OF[TestKind.FORWARDING_RATE], of)
    loads = len(LossCurveTest(kind="loss-curve").fractions) + 1
    visits = len(draft.experiment["frame_sizes"]) * times
    limit = max(LEAST_TIME_LIMIT_S, visits * (loads * duration_s + ROUND_OVERHEAD_S))
    draft.put("repetitions.time_limit_s", limit, of)
    draft.differs(of, "loads are parts of the rate at maximum load, as virtual ports have no line rate")


def _burst(draft: Draft, traffic: SettingValue) -> None:
    """Map one burst; as in VSPERF, each direction has all of its frames."""
    frames, rate = traffic.at("burst_size"), traffic.at("frame_rate")
    draft.put("tests", [{"kind": "burst", "frames": whole(draft, frames, 1, MAX_FRAMES)}], frames)
    if number(draft, rate, 0, 100) < 100:
        draft.lacks("a burst is sent at the port's full speed", rate)
    draft.differs(rate, "the burst is sent at the port's full speed, as virtual ports have no line rate")


def loss_search(draft: Draft, duration_s: float, loss: SettingValue) -> SearchSpec:
    """Return the search of a throughput test: preset `rfc2544` with one goal.

    Args:
        draft: names the test in messages.
        duration_s: of final trials.
        loss: TRAFFICGEN_LOSSRATE, in percent.

    Raises:
        ConfigurationError: no such loss or duration.
    """
    percent = number(draft, loss, 0, 99.9)
    goal = {
        "name": NDR if percent == 0 else f"loss-{percent:g}pct",
        "loss_ratio": percent / 100,
        "initial_trial_duration_s": min(1.0, duration_s),
        "final_trial_duration_s": duration_s,
        "duration_sum_s": duration_s,
    }
    try:
        # VSPERF does not rest between trials either.
        return SearchSpec.model_validate({"preset": "rfc2544", "goals": [goal], "rest_s": 0})
    except ValidationError as error:
        raise draft.wrong(loss, str(error.errors(include_url=False)[0]["msg"])) from error
