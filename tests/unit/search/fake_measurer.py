"""A measurer with a known answer and a clock of its own."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from nfvbed.records import CoreDistance
from nfvbed.search.engine import Setting, search
from nfvbed.search.measurer import Measurer, Trial
from nfvbed.search.placement import PlacementRule
from nfvbed.search.result import LoadRange, SearchResult
from nfvbed.search.stop import Irregularity
from nfvbed.spec.search import Search, SearchSpec

NEAR, FAR = 35.0, 150.0
OVERHEAD_S = 0.1


def distance(before: float = NEAR, after: float | None = None) -> CoreDistance:
    return CoreDistance(before=before, after=before if after is None else after)


def lossy(load_pps: float, duration_s: float, capacity_pps: float) -> Trial:
    """Everything is sent; what exceeds the capacity is lost."""
    sent = int(load_pps * duration_s)
    return Trial(duration_s, sent, sent, min(sent, int(capacity_pps * duration_s)), 0)


class FakeMeasurer(Measurer):
    """Forwards up to a capacity; distances come one a trial from `distances`, then stay near."""

    def __init__(
        self,
        capacity_pps: float = 5e6,
        answer: Callable[[float, float, float], Trial] = lossy,
        distances: Iterable[CoreDistance] = (),
    ) -> None:
        self._capacity_pps = capacity_pps
        self._answer = answer
        self._distances = iter(distances)
        self._now_s = 1000.0
        self.calls: list[tuple[float, float]] = []
        self.probe: Callable[[float], float] | None = None
        self.waited_s = 0.0

    def measure(self, load_pps: float, duration_s: float) -> Trial:
        self.calls.append((load_pps, duration_s))
        self._now_s += duration_s + OVERHEAD_S
        trial = self._answer(load_pps, duration_s, self._capacity_pps)
        return replace(trial, core_distance_ns=next(self._distances, distance()))

    def now_s(self) -> float:
        return self._now_s

    def wait(self, duration_s: float) -> None:
        self._now_s += duration_s
        self.waited_s += duration_s

    def probe_distance_ns(self) -> float | None:
        return None if self.probe is None else self.probe(self._now_s)


def find(
    measurer: Measurer,
    what: Search | str = "csit",
    limit: Irregularity = Irregularity.GENERATOR_LIMITED,
    max_load_pps: int = 15_000_000,
    rule: PlacementRule | None = None,
) -> SearchResult:
    """Search from 10 kpps up."""
    wanted = SearchSpec(preset=what).resolved() if isinstance(what, str) else what
    loads = LoadRange(min_load_pps=wanted.min_load_pps, max_load_pps=max_load_pps, limit=limit)
    return search(wanted, measurer, Setting(loads, placement=rule or PlacementRule()))
