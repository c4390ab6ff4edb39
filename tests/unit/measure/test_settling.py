"""A trial begins when its cores have their full pace, or when it was waited long enough for that."""

import pytest

from nfvbed.measure import settling, trial
from nfvbed.measure.settling import MOST_SHARE, MOST_WAIT_S, Settling
from nfvbed.records import CORE_PACE, QualityWarning
from nfvbed.records.readings import Part, Reading, Slowdowns, Unavailable
from tests.unit.measure.fake_site import FakeGenerator, FakeSite
from tests.unit.measure.test_trial import TASK

QUIET = {0: 1.01, 1: 1.08}
BUSY = {0: 1.01, 1: 1.9}


class Host:
    """A clock that sleeping alone moves, and what the cores show by it."""

    def __init__(self, *busy: tuple[float, float]) -> None:
        self.now_s = 100.0
        self._busy = busy
        self.settling = Settling(lambda: self.now_s, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def look(self) -> Slowdowns:
        return BUSY if any(begin <= self.now_s < end for begin, end in self._busy) else QUIET

    def wait(self) -> tuple[Slowdowns | Unavailable, float]:
        """Return what was seen at last, and for how many seconds it was waited."""
        settled = self.settling.wait(self.look)
        return settled.slowdowns, settled.waited_ns / 1e9


def test_a_quiet_host_is_not_waited_for():
    assert Host().wait() == (QUIET, 0.0)


def test_a_busy_sibling_is_waited_for():
    seen, waited_s = Host((99.0, 100.4)).wait()
    assert seen == QUIET
    assert waited_s == pytest.approx(0.4, abs=0.05)


def test_no_trial_waits_for_ever():
    host = Host((0.0, 1e9))
    seen, waited_s = host.wait()
    assert seen == BUSY
    assert waited_s == pytest.approx(MOST_WAIT_S, abs=0.05)


def test_waiting_is_a_part_of_the_time_alone():
    """A host that is never quiet makes a run a little longer, whatever number of trials it has."""
    host = Host((0.0, 1e9))
    waited_s = 0.0
    for _ in range(300):
        waited_s += host.wait()[1]
        host.sleep(0.5)
    assert waited_s < MOST_WAIT_S + MOST_SHARE * (host.now_s - 100.0) + 1
    assert waited_s > MOST_SHARE * (host.now_s - 100.0) - 1


def test_what_cannot_be_measured_is_not_waited_for_and_not_told():
    settled = Host().settling.wait(lambda: Unavailable("emulated"))
    assert settled.waited_ns == 0
    assert settled.told(Unavailable("emulated")) == {}
    assert settled.warnings(Unavailable("emulated")) == ()


class Paced(FakeSite):
    """A site whose cores are measured."""

    def __init__(self, *paces: Slowdowns) -> None:
        super().__init__()
        self.paces = list(paces)

    def look(self, deployment, *parts, threads=None):
        pace = Reading(slowdowns=self.paces.pop(0)) if Part.SLOWDOWNS in parts else Reading()
        rest = super().look(deployment, *(part for part in parts if part is not Part.SLOWDOWNS), threads=threads)
        return Reading(rest.threads, rest.cpu, rest.distances_ns, pace.slowdowns, rest.counters, rest.hops)


@pytest.mark.parametrize(
    ("before", "after", "slowed"),
    [(QUIET, QUIET, (False, False)), (QUIET, BUSY, (False, True)), (BUSY, QUIET, (True, False))],
)
def test_a_trials_record_has_the_pace_and_is_marked(monkeypatch, before, after, slowed):
    monkeypatch.setattr(settling, "MOST_WAIT_S", 0.0)
    monkeypatch.setattr(trial, "SETTLING", Settling())
    site = Paced(before, after)
    record = trial.Measurement(site, site.deployment, FakeGenerator()).measure(TASK)
    told = record.switch_counters[CORE_PACE]
    assert told["before"] == {str(core): by for core, by in before.items()}
    assert told["after"] == {str(core): by for core, by in after.items()}
    assert record.slowed == slowed
    assert (QualityWarning.CORE_SLOWED in record.warnings) is any(slowed)


def test_a_record_without_it_does_not_say_that_cores_were_quiet():
    site = FakeSite()
    assert trial.Measurement(site, site.deployment, FakeGenerator()).measure(TASK).slowed is None
