"""Frequency changes and throttling around trials, on cores with known readings."""

from collections.abc import Collection, Sequence

import pytest

from nfvbed.host.cores.clocks import CoreReader, CoreReading
from nfvbed.measure.corewatch import CoreWatch
from nfvbed.records import QualityWarning, Role, WorkThread

PMD = WorkThread(role=Role.SWITCH, pid=1, tid=1, core=0, name="pmd", polling=True)
GENERATOR = WorkThread(role=Role.GENERATOR, pid=2, tid=2, core=1, name="generator", polling=True)
ELSEWHERE = WorkThread(role=Role.VNF, pid=3, tid=3, core=None, name="vnf")
FAST, SLOW = 3_500_000_000, 2_900_000_000
CHANGED, THROTTLED = QualityWarning.FREQUENCY_CHANGED, QualityWarning.THERMAL_THROTTLING


class Recorded(CoreReader):
    """Gives readings of core 0 and core 1 in turn."""

    def __init__(self, *readings: tuple[CoreReading, CoreReading]) -> None:
        self.left = list(readings)

    def read(self, cores: Collection[int]) -> dict[int, CoreReading]:
        pair = self.left.pop(0)
        return {core: pair[core] for core in cores}


def at(hz: int | None, **more: int) -> CoreReading:
    return CoreReading(hz=hz, **more)


def trials(*readings: tuple[CoreReading, CoreReading]) -> list[tuple[QualityWarning, ...]]:
    watch = CoreWatch(Recorded(*readings))
    found = []
    for _ in range(len(readings) // 2):
        watch.begin((PMD, GENERATOR, ELSEWHERE))
        found.append(watch.end())
    return found


@pytest.mark.parametrize(
    ("before", "after", "warnings"),
    [
        ((FAST, FAST), (FAST, FAST), ()),
        ((FAST, FAST), (SLOW, FAST), (CHANGED,)),
        ((FAST, FAST), (int(FAST * 0.98), FAST), ()),
        # The generator sleeps between trials: its core's clock before one means nothing.
        ((FAST, SLOW), (FAST, FAST), ()),
        ((None, None), (None, None), ()),
    ],
)
def test_within_a_trial(
    before: Sequence[int | None], after: Sequence[int | None], warnings: tuple[QualityWarning, ...]
):
    first, last = (tuple(at(hz) for hz in values) for values in (before, after))
    assert trials(first, last) == [warnings]


def test_from_one_trial_to_the_next():
    steady, slower = (at(FAST), at(FAST)), (at(FAST), at(SLOW))
    assert trials(steady, steady, steady, slower, slower, slower) == [(), (CHANGED,), ()]


def test_the_mean_by_counters_goes_before_a_single_reading():
    def counted(aperf: int, mperf: int) -> tuple[CoreReading, CoreReading]:
        return at(SLOW, aperf=aperf, mperf=mperf), at(None)

    start, same, slower = counted(0, 0), counted(1200, 1000), counted(1200 + 1000, 2000)
    assert trials(start, same, same, slower, slower, slower) == [(), (CHANGED,), ()]


def test_heat():
    cool, hot = (at(FAST, throttled=3), at(FAST)), (at(FAST, throttled=4), at(FAST))
    assert trials(cool, hot, hot, hot) == [(THROTTLED,), ()]
