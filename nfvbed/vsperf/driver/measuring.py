"""Answers the plug-in's requests with trials and searches of nfvgen on the ports of VSPERF's switch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from nfvbed.compare.rows.placement import classify
from nfvbed.errors import ConfigurationError, GeneratorError, TotalLossError, UnsupportedError
from nfvbed.measure.searching import seen_by_search
from nfvbed.measure.trial import look_for_links
from nfvbed.measure.warnings import is_generator_limited, traffic_warnings
from nfvbed.records import CoreDistance, GeneratorPlace, QualityWarning
from nfvbed.search.engine import Setting, search
from nfvbed.search.measurer import Measurer, Trial
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import LoadRange, SearchResult
from nfvbed.spec.experiment import TrafficSpec
from nfvbed.traffic.generator import Generator, TrafficRequest, TrafficResult
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES, NS_PER_S, FrameSize
from nfvbed.vsperf.conf.draft import Draft
from nfvbed.vsperf.conf.settings import SettingValue
from nfvbed.vsperf.conf.traffic import loss_search, map_traffic
from nfvbed.vsperf.driver.columns import burst_columns, rate_columns

LINK_PATIENCE_S: Final = 15.0
MIN_LOAD_PPS: Final = 10_000
HEADROOM: Final = 2.0
"""Largest load of a search over what the path took at maximum load; the path itself has to be the upper bound."""
PROBE_S: Final = 1.0
MAX_DURATION_S: Final = 3600.0
MAX_BURST: Final = 100_000_000
BROKEN_PATH: Final = (
    "see in VSPERF's log which ports, flows and VNFs it made; frames above 1518 bytes need VSWITCH_JUMBO_FRAMES_ENABLED"
    " and a VSWITCH_JUMBO_FRAMES_SIZE that holds them"
)
"""What to look at where a switch of VSPERF's returns nothing."""


@dataclass(frozen=True)
class AnsweredRequest:
    """One request, with its measurements."""

    command: str
    frame_size: FrameSize
    columns: Mapping[str, Any]
    distance: CoreDistance | None
    """Before and after; of a search before its first and after its last trial."""
    warnings: tuple[QualityWarning, ...] = ()
    search: SearchResult | None = None


@dataclass
class PluginMeasurer:
    """Answers the plug-in.

    Args:
        open_generator: starts nfvgen on the ports; the switch runs when the plug-in connects.
        distance_ns: measures the one-way cache-line time between the switch's and the generator's core.
    """

    open_generator: Callable[[], Generator]
    distance_ns: Callable[[], float]
    answered: list[AnsweredRequest] = field(default_factory=list)
    _generator: Generator | None = None

    def handle(self, command: str, keys: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer to one request.

        Raises:
            ConfigurationError, UnsupportedError: nfvgen cannot send what is asked for.
            GeneratorError: it did not come up, or ended.
        """
        if command == "connect":
            return {"engine": self._opened().hello().engine.model_dump()}
        kinds = {"continuous": self._continuous, "burst": self._burst, "throughput": self._throughput}
        if command not in kinds:
            raise UnsupportedError(f"NfvGen does not answer {command!r}", fix=f"one of: {', '.join(kinds)}")
        request = plain_request(keys)
        self._opened()
        answer = kinds[command](request, keys)
        self.answered.append(answer)
        return answer.columns

    def close(self) -> None:
        """End nfvgen; idempotent."""
        generator, self._generator = self._generator, None
        if generator is not None:
            generator.close()

    def _opened(self) -> Generator:
        if self._generator is None:
            self._generator = self.open_generator()
            self._wait_for_links(self._generator)
        return self._generator

    def _wait_for_links(self, generator: Generator) -> None:
        if not all(look_for_links(generator, LINK_PATIENCE_S).link_up):
            raise GeneratorError(
                "nfvgen's ports do not come up",
                where=", ".join(port.spec for port in generator.ports),
                observed=f"no link after {LINK_PATIENCE_S:g} s",
                fix="see VSPERF's log: its switch must have both ports by now",
            )

    def _continuous(self, request: TrafficRequest, keys: Mapping[str, Any]) -> AnsweredRequest:
        percent = keys["traffic"].get("frame_rate", 100)
        if percent != 100:
            raise UnsupportedError(
                "a part of the line rate cannot be sent: these ports have none",
                where="TRAFFIC['frame_rate']",
                observed=repr(percent),
                fix="set it to 100, or run the test natively with a declared port speed (nfvbed run --vsperf)",
            )
        return self._trial("continuous", request, rate_columns)

    def _burst(self, request: TrafficRequest, keys: Mapping[str, Any]) -> AnsweredRequest:
        frames = keys["traffic"].get("burst_size")
        if not isinstance(frames, int) or not 1 <= frames <= MAX_BURST:
            raise ConfigurationError("TRAFFIC['burst_size'] is no number of frames", observed=repr(frames))
        return self._trial("burst", replace(request, frames=frames), burst_columns)

    def _trial(
        self, command: str, request: TrafficRequest, columns: Callable[[TrafficResult, FrameSize], dict[str, Any]]
    ) -> AnsweredRequest:
        before = self.distance_ns()
        result = self._opened().run(request)
        distance = CoreDistance(before=before, after=self.distance_ns())
        shown = columns(result, request.frame_size)
        return AnsweredRequest(command, request.frame_size, shown, distance, traffic_warnings(result))

    def _throughput(self, request: TrafficRequest, keys: Mapping[str, Any]) -> AnsweredRequest:
        times = keys.get("tests", 1)
        if times != 1:
            raise UnsupportedError(
                "NfvGen searches once",
                where="TRAFFICGEN_RFC2544_TESTS",
                observed=repr(times),
                fix="set it to 1, or run the test natively, where an experiment repeats it (nfvbed run --vsperf)",
            )
        loss = SettingValue("TRAFFICGEN_LOSSRATE", keys.get("loss_percent", 0.0), None)
        what = loss_search(Draft("throughput"), request.duration_ns / NS_PER_S, loss).resolved()
        drain_ns = None if what.drain_s is None else round(what.drain_s * NS_PER_S)
        searched = _SearchedPorts(self._opened(), replace(request, drain_ns=drain_ns), self.distance_ns)
        loads = LoadRange(min_load_pps=MIN_LOAD_PPS, max_load_pps=searched.most_pps())
        setting = Setting(
            loads=loads,
            directions=request.directions,
            placement=PlacementRule(classify),
            generator_place=GeneratorPlace.SAME_HOST,
        )
        found = search(what, searched, setting)
        (goal,) = found.goals
        if found.nothing_came:
            raise TotalLossError(
                "no frame came back through VSPERF's switch",
                where=f"frames of {request.frame_size} bytes",
                observed=found.nothing_came,
                fix=BROKEN_PATH,
            )
        kept = searched.results.get(goal.lower_bound.load_pps) if goal.lower_bound else None
        if kept is None:
            raise GeneratorError(
                "the search found no load without more loss than allowed",
                observed=f"{goal.irregularity}: {goal.explanation}" if goal.irregularity else "no lower bound",
                fix="give longer trials (TRAFFICGEN_DURATION) or a higher TRAFFICGEN_LOSSRATE",
            )
        columns = rate_columns(kept, request.frame_size)
        distance = CoreDistance(before=searched.first_ns, after=self.distance_ns())
        return AnsweredRequest(
            "throughput", request.frame_size, columns, distance, traffic_warnings(kept, paced=True), found
        )


class _SearchedPorts(Measurer):
    """nfvgen as a search sees it; of every load the counts of the last good trial are kept."""

    def __init__(self, generator: Generator, request: TrafficRequest, distance_ns: Callable[[], float]) -> None:
        self._generator = generator
        self._request = request
        self._distance_ns = distance_ns
        self.first_ns = distance_ns()
        self.results: dict[int, TrafficResult] = {}

    def most_pps(self) -> int:
        """Return the largest load worth trying: above what the path takes at maximum load."""
        shortened = replace(self._request, duration_ns=min(self._request.duration_ns, round(PROBE_S * NS_PER_S)))
        result = self._generator.run(shortened)
        sent = sum(way.sent for way in result.directions)
        return max(2 * MIN_LOAD_PPS, round(HEADROOM * sent * NS_PER_S / result.duration_ns))

    def measure(self, load_pps: float, duration_s: float) -> Trial:
        """Run one trial, the load split evenly over the directions."""
        rate = self._request.share_of(load_pps)
        request = replace(self._request, duration_ns=round(duration_s * NS_PER_S), rate_pps=rate)
        before = self._distance_ns()
        result = self._generator.run(request)
        distance = CoreDistance(before=before, after=self._distance_ns())
        self.results[round(load_pps)] = result
        limited = is_generator_limited(result, paced=True)
        return seen_by_search(result.directions, result.duration_ns, distance, limited)


def plain_request(keys: Mapping[str, Any]) -> TrafficRequest:
    """Return VSPERF's request as a trial at maximum load.

    Raises:
        ConfigurationError: VSPERF would not take it either.
        UnsupportedError: nfvgen does not send such traffic; with all that is missing.
    """
    given, seconds = keys.get("traffic"), keys.get("duration_s")
    if not isinstance(given, dict) or not isinstance(seconds, int | float) or not 0 < seconds <= MAX_DURATION_S:
        raise ConfigurationError("this is no request of the plug-in", observed=f"duration {seconds!r}")
    traffic = SettingValue("TRAFFIC", given, None)
    size = traffic.at("l2", "framesize").value
    if not isinstance(size, int) or not MIN_FRAME_SIZE_BYTES <= size <= MAX_FRAME_SIZE_BYTES:
        raise ConfigurationError("nfvgen sends no such frames", where="TRAFFICGEN_PKT_SIZES", observed=repr(size))
    draft = Draft("of the plug-in")
    map_traffic(draft, traffic, "p2p")
    if traffic.at("imix", "enabled").value:
        draft.lacks("mixes of frame sizes are not sent through the plug-in", traffic.at("imix", "enabled"))
    if draft.missing:
        raise UnsupportedError("NfvGen does not send this traffic", observed="; ".join(draft.missing))
    spec = TrafficSpec.model_validate(draft.experiment["traffic"])
    return TrafficRequest(
        duration_ns=round(seconds * NS_PER_S),
        frame_size=size,
        flows=spec.flows,
        bidirectional=spec.bidirectional,
        ip=spec.ip,
        vlan=spec.vlan,
    )
