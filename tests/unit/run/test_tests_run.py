"""Tests beside the MRR: executed in order, built on each other, each with one result; what fails keeps none back."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.compare.rows.placement import classify
from nfvbed.errors import (
    DeployError,
    DeploymentGoneError,
    GeneratorError,
    NfvbedError,
    SwitchDiedError,
    VnfDiedError,
)
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import CellRole, Deployment, Preset, Status, TrialRecord
from nfvbed.records.results import LoadsPayload, ResultKind, ResultRecord
from nfvbed.run.tools import Tools
from nfvbed.search.result import SearchResult
from nfvbed.search.stop import Irregularity
from nfvbed.store import Store
from nfvbed.traffic.simulated.system import SimulatedSystem
from tests.unit.run.simulated_runs import (
    Crash,
    CrashingStore,
    WatchedSite,
    classify_all_alike,
    only_run,
    runner,
    study,
    variant,
)

SEARCH = {"kind": "search", "preset": "csit-quick"}
LOADS = (
    {"kind": "continuous", "fraction": 0.5, "of": "NDR", "duration_s": 1},
    {"kind": "loss-curve", "fractions": (1.5, 1.0, 0.5)},
    {"kind": "latency", "duration_s": 0.5},
    {"kind": "soak", "fraction": 0.9, "of": "PDR", "duration_s": 3, "interval_s": 0.5},
)
ONCE = {"needed": 1, "max_rounds": 3}
ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store.open(tmp_path / "x.sqlite") as opened:
        yield opened


def quiet(name: str = "sim-a", **options: object):
    return variant(name, **{"capacity_pps": 5e6, "noise": 0.0, **options})


def of_variants(store: Store) -> list[ResultRecord]:
    return [result for result in store.results(only_run(store).id) if not result.cell.startswith("loopback")]


def of(store: Store, label: str) -> list[ResultRecord]:
    return [result for result in of_variants(store) if result.test == label]


def points(result: ResultRecord):
    return LoadsPayload.model_validate(result.payload).points


def test_all_tests_in_order_with_one_result_each(store: Store) -> None:
    spec = study([quiet()], tests=({"kind": "mrr"}, SEARCH, *LOADS), ceilings=True, repetitions=ONCE)
    run = runner(store).start(spec)
    assert run.status is Status.OK
    results = of_variants(store)
    assert [result.test for result in results] == ["search", "continuous", "loss-curve", "latency", "soak"]
    assert all((result.status, result.reason, result.simulated) == (Status.OK, "", True) for result in results)
    trials = {trial.sequence: trial for trial in store.trials(run.id)}
    assert list(trials) == list(range(1, len(trials) + 1))
    for result in results:
        own = [trial for trial in trials.values() if result.holds(trial.sequence)]
        assert {trial.preset.value for trial in own} == {result.kind.value}
    found = SearchResult.model_validate(results[0].payload)
    assert found.label == "csit-quick (clean 0.05 s trials, 0 % void)"
    assert found.of("NDR").conditional_throughput_pps == pytest.approx(5e6, rel=0.01)
    assert found.loads.limit is Irregularity.GENERATOR_LIMITED
    assert found.loads.max_load_pps == pytest.approx(4 * 5e6, rel=0.01)
    searched = [trial for trial in trials.values() if trial.preset is ResultKind.SEARCH]
    assert all(trial.cost is None and trial.latency_hdr == (None, None) for trial in searched)
    assert len(searched) > found.trials


def test_loads_are_parts_of_what_was_found(store: Store) -> None:
    spec = study([quiet()], tests=({"kind": "mrr"}, SEARCH, *LOADS), ceilings=True, repetitions=ONCE)
    runner(store).start(spec)
    found = SearchResult.model_validate(of(store, "search")[0].payload)
    (point,) = points(of(store, "continuous")[0])
    assert point.intended_load_pps == pytest.approx(found.of("NDR").lower_bound.load_pps / 2, abs=2)
    assert point.missing_ratio == 0
    curve = points(of(store, "loss-curve")[0])
    assert [round(entry.missing_ratio, 3) for entry in curve] == [pytest.approx(1 / 3, abs=0.001), 0, 0]
    latency = LoadsPayload.model_validate(of(store, "latency")[0].payload)
    assert [entry.fraction for entry in latency.points] == [0.01, 0.1, 0.5, 0.9, None]
    assert latency.points[-1].intended_load_pps == 100_000
    assert latency.reference.of == "PDR"
    assert latency.reference.regular
    trials = {trial.sequence: trial for trial in store.trials(only_run(store).id)}
    assert all(all(trials[entry.sequence].latency_hdr) for entry in latency.points)
    assert len(points(of(store, "soak")[0])) == 6


def test_repetitions_are_counted_for_every_test(store: Store) -> None:
    spec = study([quiet("sim-a"), quiet("sim-b")], tests=(SEARCH,), ceilings=True, repetitions={"needed": 2})
    run = runner(store).start(spec)
    assert run.status is Status.OK
    assert [(r.round, r.cell) for r in store.results(run.id)] == [
        (1, "sim-a/p2p/64"),
        (1, "sim-b/p2p/64"),
        (2, "sim-b/p2p/64"),
        (2, "sim-a/p2p/64"),
    ]
    assert {t.preset for t in store.trials(run.id) if t.cell.startswith("sim")} == {ResultKind.SEARCH}


def test_only_tests_that_lack_something_are_repeated(store: Store) -> None:
    """Where the class flips, a soak counts in every class, as the MRR does, so they have enough before a latency."""
    options = {"state_change_per_s": 0.04, "far_capacity_pps": 1e6, "noise": 0.0}
    soak = {"kind": "soak", "load_pps": 1000, "duration_s": 40, "interval_s": 1}
    latency = {"kind": "latency", "of": "mrr", "fractions": (0.5,), "fixed_load_pps": None, "duration_s": 20}
    spec = study(
        [variant(**options)], tests=({"kind": "mrr"}, soak, latency), repetitions={"needed": 2, "max_rounds": 60}
    )
    run = runner(store, tools=Tools(classify=classify)).start(spec)
    assert run.status is Status.OK
    soaks, latencies = of(store, "soak"), of(store, "latency")
    assert "mixed" in [r.placement_class for r in soaks]
    rounds = {trial.round for trial in store.trials(run.id) if trial.preset is Preset.MRR}
    assert len(latencies) > len(rounds) == len(soaks) == 2


def test_a_search_stays_in_the_class_that_the_run_is_in(store: Store) -> None:
    options = {"state_change_per_s": 0.02, "far_capacity_pps": 1e6, "capacity_pps": 5e6, "noise": 0.0}
    repetitions = {"needed": 12, "max_rounds": 40}
    spec = study([variant(**options)], tests=({"kind": "mrr"}, SEARCH), ceilings=True, repetitions=repetitions)
    run = runner(store, tools=Tools(classify=classify)).start(spec)
    truth = {"near": 5e6, "far": 1e6}
    found = [(r.placement_class, SearchResult.model_validate(r.payload)) for r in store.results(run.id)]
    regular = [(label, result.of("NDR").conditional_throughput_pps) for label, result in found if result.regular]
    assert regular
    # A search that ended before the host showed a second state is of the `only` one; never of both.
    for label, throughput in regular:
        near = min(truth.values(), key=lambda capacity: abs(capacity - throughput))
        assert throughput == pytest.approx(truth.get(label, near), rel=0.011)


def test_a_point_of_another_class_is_measured_again(store: Store) -> None:
    options = {"state_change_per_s": 0.1, "far_capacity_pps": 1e6, "capacity_pps": 5e6, "noise": 0.0}
    tests = ({"kind": "mrr"}, {"kind": "loss-curve", "duration_s": 1, "fractions": (1.0, 0.5, 0.3)})
    spec = study([variant(**options)], tests=tests, repetitions={"needed": 3, "max_rounds": 60})
    run = runner(store, tools=Tools(classify=classify)).start(spec)
    assert run.status is Status.OK
    trials = store.trials(run.id)
    labels = dict(zip((t.sequence for t in trials), classify([t.core_distance_ns for t in trials]), strict=True))
    more = 0
    for result in store.results(run.id):
        assert len(points(result)) == 3
        more += sum(result.holds(t.sequence) for t in trials) - 3
        if result.placement_class in ("near", "far"):
            assert {labels[t.sequence] for t in trials if result.placed_by(t.sequence)} == {result.placement_class}
    assert more > 0


def test_without_the_load_that_it_is_a_part_of_a_test_is_blocked(store: Store) -> None:
    """A search whose smallest load is too much has no lower bound."""
    tests = ({**SEARCH, "min_load_pps": 10**7}, {"kind": "latency"})
    run = runner(store).start(study([quiet()], tests=tests, ceilings=True, repetitions=ONCE))
    search, latency = of_variants(store)
    assert (search.status, "min-load" in search.reason) == (Status.OK, True)
    assert latency.status is Status.BLOCKED
    assert "no lower bound" in latency.reason or "lower bound for PDR" in latency.reason
    assert (latency.first_sequence, latency.payload, latency.placement_class) == (None, {}, "")
    assert run.status is Status.OK


class FailingAt(Measurement):
    error: NfvbedError = GeneratorError("the generator ended", observed="signal 9")
    preset = ResultKind.SEARCH
    left = 1

    def measure(self, task: TrialTask) -> TrialRecord:
        if task.preset is self.preset and task.cell.startswith("sim-a") and type(self).left:
            type(self).left -= 1
            raise self.error
        return super().measure(task)


def failing(**values: object) -> Tools:
    return Tools(measure_with=type("FailingNow", (FailingAt,), values), classify=classify_all_alike)


def test_a_test_that_fails_keeps_the_others_going(store: Store) -> None:
    tests = ({"kind": "mrr"}, SEARCH, {"kind": "loss-curve"})
    spec = study([quiet("sim-a"), quiet("sim-b")], tests=tests, ceilings=True, repetitions=ONCE, frame_sizes=(64, 128))
    site = WatchedSite()
    runs = runner(store, lambda _: site, tools=failing())
    run = runs.start(spec)
    results = {(r.cell, r.test): r for r in store.results(run.id)}
    assert results["sim-a/p2p/64", "search"].status is Status.FAILED
    assert "signal 9" in results["sim-a/p2p/64", "search"].reason
    assert sum(result.status is Status.OK for result in results.values()) == 7
    assert run.status is Status.FAILED
    assert isinstance(runs.failure, GeneratorError)
    assert "search of sim-a/p2p/64 in round 1" in runs.failure.where
    assert site.deployed.count(("sim-a", "subject")) == 2
    assert not site.running
    assert [t.status for t in store.trials(run.id) if t.status is not Status.OK] == [Status.FAILED]
    before = len(store.trials(run.id))
    again = runner(store).resume(only_run(store))
    assert (again.status, len(store.trials(run.id))) == (Status.FAILED, before), "a result is kept, not repeated"


class SiteWithEnded(WatchedSite):
    """Its switch has ended once."""

    ended: NfvbedError | None = None

    def verify(self, deployment: Deployment) -> None:
        if self.ended is not None:
            found, self.ended = self.ended, None
            raise found


@pytest.mark.parametrize(
    "ended",
    [
        SwitchDiedError("ovs-vswitchd has ended", observed="signal 6; the last lines of its log:\nassertion failed"),
        DeploymentGoneError("the run directory of a deployment is gone", where="/run/nfvbed/1"),
    ],
)
def test_what_has_ended_is_named_whatever_was_noticed_of_it_first(store: Store, ended: NfvbedError) -> None:
    site = SiteWithEnded()
    noticed = DeployError("the bridge does not do what OpenFlow asks", where="/run/nfvbed/1/br0.mgmt")

    class Noticing(FailingAt):
        error, left = noticed, 1

        def measure(self, task: TrialTask) -> TrialRecord:
            if task.preset is self.preset and task.cell.startswith("sim-a") and type(self).left:
                site.ended = ended
            return super().measure(task)

    tools = Tools(measure_with=Noticing, classify=classify_all_alike)
    tests = ({"kind": "mrr"}, SEARCH, {"kind": "loss-curve"})
    spec = study([quiet("sim-a")], tests=tests, ceilings=True, repetitions=ONCE)
    runs = runner(store, lambda _: site, tools=tools)
    assert runs.start(spec).status is Status.FAILED
    results = {result.test: result for result in of_variants(store)}
    assert results["search"].reason == str(ended)
    assert isinstance(runs.failure, type(ended))
    assert results["loss-curve"].status is Status.OK, "on a deployment of its own"
    assert site.deployed.count(("sim-a", "subject")) == 2


def test_a_vnf_that_dies_in_a_test_costs_its_cell_and_leaves_no_result(store: Store) -> None:
    spec = study([quiet("sim-a"), quiet("sim-b")], tests=(SEARCH,), ceilings=True, repetitions=ONCE)
    runs = runner(store, tools=failing(error=VnfDiedError("the VNF ended")))
    assert runs.start(spec).status is Status.FAILED
    assert isinstance(runs.failure, VnfDiedError)
    assert [r.cell for r in store.results(only_run(store).id)] == ["sim-b/p2p/64"]
    ended = runner(store).resume(only_run(store))
    assert ended.status is Status.OK
    assert {r.cell for r in store.results(ended.id)} == {"sim-a/p2p/64", "sim-b/p2p/64"}


def key_list(results: Sequence[ResultRecord]) -> list[tuple[int, str, str]]:
    return sorted(result.key for result in results)


@pytest.mark.parametrize("at", [25, 40, 55, 70, 85, 95])
def test_a_resumed_run_repeats_a_test_without_a_result_and_no_other(tmp_path: Path, at: int) -> None:
    tests = ({"kind": "mrr"}, {**SEARCH, "goals": ({"name": "NDR"},)}, {"kind": "loss-curve"})
    spec = study([quiet("sim-a"), quiet("sim-b")], tests=tests, ceilings=True, repetitions=ONCE)
    with CrashingStore.open(tmp_path / "x.sqlite") as store:
        assert isinstance(store, CrashingStore)
        store.count, store.crash_at = 0, at
        with pytest.raises(Crash):
            runner(store).start(spec)
    with Store.open(tmp_path / "x.sqlite") as store:
        run = only_run(store)
        kept, before = store.results(run.id), store.trials(run.id)
        assert runner(store).resume(run).status is Status.OK
        after = store.results(run.id)
        assert after[: len(kept)] == kept
        assert key_list(after) == sorted(
            (1, f"sim-{name}/p2p/64", test) for name in "ab" for test in ("search", "loss-curve")
        )
        assert store.trials(run.id)[: len(before)] == before
        mrr = [t for t in store.trials(run.id) if t.preset in (Preset.MRR, Preset.PACED)]
        assert len(mrr) == 2 + 2 * 2


def test_the_generators_own_latency_is_measured_at_the_fixed_load(tmp_path: Path):
    """Looped back, and named so: the floor of what a variant adds."""
    tests = "tests=[{kind: mrr}, {kind: latency, of: mrr, duration_s: 0.1, fixed_load_pps: 20000}]"
    store = str(tmp_path / "f.sqlite")
    options = ("--root", str(ROOT), "--store", store, "--frame-size", "64", "--repetitions", "1")
    assert main(["run", "simulated", "--set", tests, *options]) == 0
    with Store.open(store, read_only=True) as found:
        results = {result.cell: result.payload["points"] for result in found.results(found.runs()[0].id)}
    floor, own = results["loopback:simulated/p2p/64"], results["simulated/p2p/64"]
    assert [point["intended_load_pps"] for point in floor] == [20_000]
    assert len(own) == 5


ALONE = {
    "continuous": {"kind": "continuous", "load_pps": 1000, "duration_s": 1},
    "latency": {"kind": "latency", "fixed_load_pps": 1000, "fractions": (), "duration_s": 0.5},
    "soak": {"kind": "soak", "load_pps": 1000, "duration_s": 3, "interval_s": 0.5},
    "back-to-back": {"kind": "back-to-back"},
    "burst": {"kind": "burst"},
    "flow-scaling": {"kind": "flow-scaling", "load_pps": 1000},
    "reset": {"kind": "reset", "load_pps": 1000},
    **{
        f"search {name}": {"kind": "search", "preset": name} for name in ("rfc2544-quick", "tst009-quick", "csit-quick")
    },
}


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("late_share", [0.0, 0.01])
def test_a_path_that_returns_nothing_fails_every_kind_of_test_whatever_was_late(
    store: Store, name: str, late_share: float
) -> None:
    broken = quiet(largest_frame=1518, late_share=late_share)
    spec = study([broken], tests=(ALONE[name],), ceilings=True, repetitions=ONCE, frame_sizes=(2000,))
    started = runner(store)
    run = started.start(spec)
    (result,) = of_variants(store)
    assert (run.status, result.status) == (Status.FAILED, Status.FAILED)
    assert "sent frames came back" in result.reason
    assert started.failure is not None and started.failure.exit_code == 20
    assert result.reason in str(started.failure)


def test_frames_that_are_lost_at_one_size_leave_the_others_measured(store: Store) -> None:
    sizes = (1518, 2000, 512)
    started = runner(store)
    run = started.start(study([quiet(largest_frame=1518)], frame_sizes=sizes))
    cells = {cell.frame_size: cell for cell in store.cells(run.id)}
    assert run.status is Status.FAILED
    assert cells[2000].status is Status.FAILED
    assert cells[2000].reason.startswith("none of")
    trials = store.trials(run.id)
    assert {trial.status for trial in trials if trial.cell == cells[2000].id} == {Status.FAILED}
    assert all(len([t for t in trials if t.cell == cells[size].id]) == 4 for size in (512, 1518))
    assert started.failure is not None and started.failure.exit_code == 20


def test_a_ceiling_that_returns_nothing_fails_too(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedSystem, "forwards", lambda self, size: self._role is not CellRole.REFERENCE)
    started = runner(store)
    run = started.start(study([quiet()], ceilings=True))
    status = {cell.id: cell.status for cell in store.cells(run.id)}
    assert run.status is Status.FAILED
    assert status["reference:simulated/p2p/64"] is Status.FAILED
    assert started.failure is not None and "reference" in str(started.failure)
