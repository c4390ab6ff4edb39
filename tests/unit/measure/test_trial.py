"""A trial's record holds everything that was read around it, and survives JSON."""

import os
import threading
import time
from dataclasses import replace

import pytest

from nfvbed.errors import DeployError, GeneratorError, SwitchDiedError
from nfvbed.measure import trial as trial_module
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import MOST_ROUNDING, Measurement, cost_of, difference
from nfvbed.records import (
    NOT_SEPARABLE,
    CellRole,
    Deployment,
    LoopGaps,
    Preset,
    QualityWarning,
    Role,
    SwitchCounters,
    TrialRecord,
    VnfHandle,
    WorkThread,
)
from nfvbed.records.readings import Part, Reading, Unavailable
from nfvbed.traffic.generator import GeneratorInfo, TrafficRequest, TrafficResult
from tests.sample_records import RUN
from tests.unit.measure.fake_site import FakeGenerator, FakeSite, counts, result

REQUEST = TrafficRequest(duration_ns=100_000_000, frame_size=64, rate_pps=10_000)
TASK = TrialTask(run=RUN, cell="c", sequence=3, round=2, preset=Preset.PACED, request=REQUEST)


def counters(packets: int, busy: int | str, **raw: object) -> SwitchCounters:
    return SwitchCounters(packets=packets, busy_cycles=busy, source="PMD statistics", raw=raw)  # type: ignore[arg-type]


def measured(site: FakeSite, generator: FakeGenerator | None = None) -> TrialRecord:
    return Measurement(site, site.deployment, generator or FakeGenerator()).measure(TASK)


def test_at_maximum_load_what_came_in_the_drain_is_no_part_of_the_rate() -> None:
    way = counts(received=1000, received_in_time=900)
    gaps = LoopGaps(count=2, total_ns=90_000, longest_ns=70_000)
    generator = FakeGenerator(replace(result(way, way), gaps=gaps))
    site = FakeSite()
    at_maximum = replace(TASK, request=replace(TASK.request, rate_pps=None, frames=None))
    fast = Measurement(site, site.deployment, generator).measure(at_maximum)
    assert (fast.forwarded_rate_pps, fast.loss_ratio) == (18_000, 0)
    assert fast.generator_gaps == gaps
    assert TrialRecord.model_validate_json(fast.model_dump_json()) == fast
    assert measured(FakeSite(), generator).forwarded_rate_pps == 20_000
    burst = replace(TASK, request=replace(TASK.request, rate_pps=None, frames=1_000))
    drained = Measurement(site := FakeSite(), site.deployment, generator).measure(burst)
    assert drained.forwarded_rate_pps == 20_000, "the drain of a burst is what it is for"


@pytest.mark.parametrize(("ends", "said"), [(True, GeneratorError), (False, DeployError)])
def test_a_generator_that_ends_while_the_switch_joins_its_ports_is_named(ends: bool, said: type[Exception]) -> None:
    class Ending(FakeGenerator):
        ended = False

        def hello(self) -> GeneratorInfo:
            if self.ended:
                raise GeneratorError("nfvgen ended during hello")
            return super().hello()

    class Waiting(FakeSite):
        def wait_for_generator(self, deployment: Deployment) -> None:
            generator.ended = ends
            raise DeployError("br0 does not join its ports")

    generator = Ending()
    with pytest.raises(said):
        measured(Waiting(), generator)


def test_a_record_is_complete_and_survives_json() -> None:
    site = FakeSite()
    site.readings = [counters(100, 1_000, emc=5, port="a"), counters(2_100, 401_000, emc=905, port="a")]
    generator = FakeGenerator(result(counts(received=999, lost=1), counts(reordered=2), busy_ns=7))
    record = measured(site, generator)
    assert (record.run, record.cell, record.sequence, record.round) == (RUN, "c", 3, 2)
    assert record.intended_load_pps == 20_000
    assert record.offered_load_pps == 20_000
    assert record.forwarded_rate_pps == 19_990
    assert record.loss_ratio == 1 / 2000
    assert record.generator_busy_ns == 7
    assert record.core_distance_ns is not None
    assert (record.core_distance_ns.before, record.core_distance_ns.after) == (30.0, 150.0)
    assert record.cost is not None
    assert record.cost.cycles_per_packet == 200
    assert record.cost.source == "PMD statistics"
    assert record.switch_counters["raw"] == {"emc": 900, "port": "a"}
    assert record.warnings == (QualityWarning.REORDERED, QualityWarning.SIMULATED)
    assert TrialRecord.model_validate_json(record.model_dump_json()) == record


def test_rates_are_whole_numbers_and_zero_without_a_duration() -> None:
    record = measured(FakeSite(), FakeGenerator(result(duration_ns=0)))
    assert record.offered_load_pps == 0
    record = measured(FakeSite(), FakeGenerator(result(duration_ns=99_999_999)))
    assert record.offered_load_pps == 20_000
    assert isinstance(record.offered_load_pps, int)


def test_without_counters_or_a_second_core_these_are_none_and_not_zero() -> None:
    site = FakeSite()
    site.distances = [None, None]
    record = measured(site)
    assert record.cost is None
    assert record.core_distance_ns is None


def test_a_dead_switch_is_reported_before_the_generators_trouble() -> None:
    site, generator = FakeSite(), FakeGenerator()
    generator.failing = True
    with pytest.raises(GeneratorError):
        measured(site, generator)
    site.dead, site.distances = True, [1.0, 1.0]
    with pytest.raises(SwitchDiedError, match="139"):
        measured(site, generator)


def test_a_switch_that_dies_during_a_trial_gives_no_record() -> None:
    site = FakeSite()
    site.dead = True
    with pytest.raises(SwitchDiedError):
        measured(site)


def test_the_cpu_time_of_a_real_thread_and_the_cost_that_follows_from_it() -> None:
    def busy() -> None:
        asked.wait(60)
        while not done.is_set():
            sum(range(1000))
            if time.thread_time() > 0.02:
                worked.set()

    asked, done, worked = threading.Event(), threading.Event(), threading.Event()
    worker = threading.Thread(target=busy)
    worker.start()
    site = FakeSite(simulated=False)
    site.threads = (WorkThread(role=Role.SWITCH, pid=os.getpid(), tid=worker.native_id or 0, core=None, name="w"),)
    site.readings = [counters(0, NOT_SEPARABLE), counters(10, NOT_SEPARABLE)]

    class Waiting(FakeGenerator):
        def run(self, request: TrafficRequest) -> TrafficResult:
            asked.set()
            worked.wait(60)
            return super().run(request)

    generator = Waiting(pid=os.getpid(), thread_id=threading.get_native_id())
    try:
        record = measured(site, generator)
    finally:
        asked.set()
        done.set()
        worker.join()
    switch = next(t for t in record.cpu if t.role is Role.SWITCH)
    assert isinstance(switch.busy_ns, int)
    assert 10_000_000 < switch.busy_ns < 60_000_000_000
    assert record.cost is not None
    assert record.cost.busy_cycles == switch.busy_ns * 2
    assert "schedstat" in record.cost.source


def test_a_switch_that_works_in_the_senders_softirq_is_not_separable() -> None:
    site = FakeSite(simulated=False)
    site.readings = [counters(0, NOT_SEPARABLE), counters(10, NOT_SEPARABLE)]
    record = measured(site)
    switch = next(t for t in record.cpu if t.role is Role.SWITCH)
    assert switch.busy_ns == NOT_SEPARABLE
    assert record.cost is not None
    assert record.cost.busy_cycles == NOT_SEPARABLE
    assert record.cost.cycles_per_packet is None


def test_a_loopback_has_no_switch_to_account_for() -> None:
    record = measured(FakeSite(role=CellRole.LOOPBACK, simulated=False))
    assert [t.role for t in record.cpu] == [Role.GENERATOR]


def test_no_frame_is_sent_before_the_switch_is_joined_to_the_generator() -> None:
    """The generator has its links earlier; the switch drops frames until then."""
    site, joined = FakeSite(), list[int]()
    site.distances *= 2

    class Watched(FakeGenerator):
        def run(self, request: TrafficRequest) -> TrafficResult:
            joined.append(site.joins)
            return super().run(request)

    measurement = Measurement(site, site.deployment, Watched())
    measurement.measure(TASK)
    measurement.measure(TASK)
    measurement.warm_up(REQUEST)
    assert joined == [1, 1, 2], "once before the first trial, and at each warm-up, whose links may have gone"


def test_warm_up_waits_for_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    site, generator = FakeSite(), FakeGenerator()
    Measurement(site, site.deployment, generator).warm_up(REQUEST)
    assert generator.requests == [REQUEST]
    monkeypatch.setattr(trial_module, "LINK_TIMEOUT_S", 0.05)
    generator.changes["link_up"] = (True, False)
    with pytest.raises(GeneratorError, match="no link") as caught:
        Measurement(site, site.deployment, generator).warm_up(REQUEST)
    assert caught.value.where == "b"


def vnf(**changes: object) -> VnfHandle:
    values = {"name": "vnf1", "kind": "process", "forwarding": "io", "ports": ()}
    return VnfHandle.model_validate({**values, **changes})


def test_a_vnf_without_a_thread_is_not_separable() -> None:
    site = FakeSite(simulated=False)
    site.deployment = site.deployment.model_copy(update={"vnfs": (vnf(forwarding="bridge"),)})
    busy = {time.role: time.busy_ns for time in measured(site).cpu}
    assert (busy[Role.SWITCH], busy[Role.VNF]) == (NOT_SEPARABLE, NOT_SEPARABLE)


def test_a_vnf_looped_back_alone_has_no_switch_to_account_for() -> None:
    site = FakeSite(role=CellRole.VNF, simulated=False)
    thread = WorkThread(role=Role.VNF, pid=os.getpid(), tid=os.getpid(), core=None, name="vnf1", polling=True)
    site.threads = (thread,)
    site.deployment = site.deployment.model_copy(update={"vnfs": (vnf(),)})
    assert {time.role for time in measured(site).cpu} == {Role.GENERATOR, Role.VNF}


def test_a_vnf_that_sends_is_not_accounted_as_a_generator() -> None:
    site = FakeSite(simulated=False)
    record = measured(site, FakeGenerator(pid=0, thread_id=0))
    assert Role.GENERATOR not in {time.role for time in record.cpu}


def test_a_path_of_one_direction_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = FakeGenerator(result(counts()))
    monkeypatch.setattr(generator, "ports", ())
    record = measured(FakeSite(), generator)
    assert len(record.directions) == 1
    assert QualityWarning.WIRE_LIMITED not in record.warnings


@pytest.mark.parametrize(("accelerator", "uncertain"), [("tcg", True), ("kvm", False), ("none", False)])
def test_rates_of_an_emulated_guest_have_a_warning(accelerator: str, uncertain: bool) -> None:
    site = FakeSite()
    site.deployment = site.deployment.model_copy(update={"vnfs": (vnf(kind="vm", accelerator=accelerator),)})
    assert (QualityWarning.EMULATED_ACCELERATOR in measured(site).warnings) == uncertain


def test_warnings_of_the_deployment_are_with_every_trial() -> None:
    site = FakeSite()
    site.deployment = site.deployment.model_copy(update={"warnings": (QualityWarning.HUGEPAGES_SHORT,)})
    measurement = Measurement(site, site.deployment, FakeGenerator())
    site.distances *= 2
    assert [QualityWarning.HUGEPAGES_SHORT in measurement.measure(TASK).warnings for _ in range(2)] == [True, True]


def test_roles_whose_threads_a_site_does_not_show_have_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    site = FakeSite(simulated=False)
    hidden = Unavailable("a compute node's cores are not its tenants'")

    def look(_deployment: object, *parts: Part, threads: object = None) -> Reading:
        return Reading.of(parts, {}, hidden.reason)

    monkeypatch.setattr(site, "look", look)
    record = measured(site)
    (switch,) = record.cpu
    assert (switch.role, switch.busy_ns, switch.source) == (Role.SWITCH, NOT_SEPARABLE, hidden.reason)
    assert (record.cost, record.core_distance_ns, record.switch_counters) == (None, None, {})


def test_busy_cycles_that_ran_backwards_are_no_cost():
    cost = cost_of(difference(counters(10, 500), counters(20, -700)), (), 2_000_000_000)
    assert (cost.busy_cycles, cost.packets, cost.cycles_per_packet) == ("not-separable", 10, None)
    assert "ran backwards" in cost.source


@pytest.mark.parametrize(
    ("roundings", "busy", "kept"),
    [((None, None), 1000, None), ((30, 40), 1000, 70), ((0, 0), 1000, 0), ((60, 41), 1000, "not-separable")],
)
def test_what_a_switch_rounds_is_kept_with_the_cost(roundings, busy, kept):
    """Roundings of both readings add up; beyond a tenth of what the trial took the figure means nothing."""
    before, after = (
        counters(packets, cycles).model_copy(update={"rounding_cycles": rounding})
        for packets, cycles, rounding in zip((10, 20), (500, 500 + busy), roundings, strict=True)
    )
    cost = cost_of(difference(before, after), (), 2_000_000_000)
    assert MOST_ROUNDING == 0.1
    if kept == "not-separable":
        assert (cost.busy_cycles, cost.cycles_per_packet) == ("not-separable", None)
        assert "10%" in cost.source
    else:
        assert (cost.busy_cycles, cost.rounding_cycles) == (busy, kept)
