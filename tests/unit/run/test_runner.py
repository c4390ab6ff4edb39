"""A run deploys, measures, records and takes down; what fails is reported and nothing measured is lost."""

from collections.abc import Sequence

import pytest

from nfvbed.compare.rows.placement import classify
from nfvbed.errors import (
    DeployError,
    GeneratorError,
    InterruptedRunError,
    NfvbedError,
    PrerequisiteError,
    StoreError,
    SwitchDiedError,
    UnsupportedError,
)
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import (
    CellRole,
    CoreDistance,
    Deployment,
    Preset,
    QualityWarning,
    Readiness,
    Status,
    Support,
    TrialRecord,
)
from nfvbed.run.tools import Tools
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.store import Store
from tests.unit.run.simulated_runs import WatchedSite, classify_all_alike, keys, only_run, runner, study, variant


@pytest.fixture
def store(place: str) -> Store:
    with Store.open(place) as opened:
        yield opened


class Failing(Measurement):
    """Fails at a chosen trial."""

    error: BaseException = GeneratorError("the generator ended", observed="signal 9")
    at = 3
    count = 0

    def measure(self, task: TrialTask) -> TrialRecord:
        type(self).count += 1
        if self.count == self.at:
            raise self.error
        return super().measure(task)


def failing(error: BaseException, at: int = 3) -> Tools:
    kind = type("FailingNow", (Failing,), {"error": error, "at": at, "count": 0})
    return Tools(measure_with=kind, classify=classify_all_alike)


def test_a_run_from_end_to_end(store: Store) -> None:
    sites: list[WatchedSite] = []

    def open_site(done: int) -> WatchedSite:
        sites.append(WatchedSite(done))
        return sites[-1]

    two = study([variant("sim-a"), variant("sim-b", capacity_pps=3e6)], frame_sizes=(64, "imix"), ceilings=True)
    run = runner(store, open_site).start(two, {"kernel": "x"})
    assert (run.status, run.reason) == (Status.OK, "")
    report = store.get_blob(run.doctor_hash)
    assert report["kernel"] == "x"
    assert {one["variant"]: one["readiness"] for one in report["variants"]} == {"sim-a": "ready", "sim-b": "ready"}
    assert store.get_blob(run.host_hash)["simulated"]
    trials = store.trials(run.id)
    assert all(t.simulated and QualityWarning.SIMULATED in t.warnings for t in trials)
    assert all(t.engine.name == "simulated" for t in trials)
    cells = {cell.id: cell for cell in store.cells(run.id)}
    assert len(cells) == 8
    assert all(cell.simulated and cell.status is Status.OK for cell in cells.values())
    assert store.get_blob(cells["sim-b/p2p/64"].config_hash)["variant"]["options"]["capacity_pps"] == 3e6
    assert store.get_blob(cells["sim-b/p2p/64"].rig_hash)["site"] == "lab"
    assert not sites[0].running
    assert sites[0].deployed[:4] == [
        ("sim-a", CellRole.LOOPBACK),
        ("sim-a", CellRole.REFERENCE),
        ("sim-a", CellRole.SUBJECT),
        ("sim-b", CellRole.SUBJECT),
    ]
    steps = [fact.step for fact in store.facts(run.id)]
    assert steps.count("deploy") == steps.count("destroy") == steps.count("generator") == len(sites[0].deployed)


def test_a_paced_trial_is_paced_by_the_cells_own_median(store: Store) -> None:
    run = runner(store).start(study(trials={"paced_fraction": 0.5}))
    trials = store.trials(run.id)
    mrr = [t.forwarded_rate_pps for t in trials if t.preset is Preset.MRR]
    paced = [t.intended_load_pps for t in trials if t.preset is Preset.PACED]
    assert paced[0] == pytest.approx(mrr[0] / 2, abs=2)
    assert paced[1] == pytest.approx((mrr[0] + mrr[1]) / 4, abs=2)


def test_a_paced_trial_looks_at_its_own_placement_only(store: Store) -> None:
    """Half of what the other state could would be more than this one can."""
    options = {"state_change_per_s": 0.1, "capacity_pps": 5e6, "far_capacity_pps": 1e6, "noise": 0.0}
    spec = study([variant(**options)], repetitions={"needed": 30, "max_rounds": 40})
    trials = store.trials(runner(store, tools=Tools()).start(spec).id)
    labels = classify([trial.core_distance_ns for trial in trials])
    visits = [((labels[at], labels[at + 1]), trials[at + 1]) for at in range(0, len(trials), 2)]
    loads = {(seen, paced.intended_load_pps) for seen, paced in visits if paced.round > 10}
    assert {load for seen, load in loads if seen == ("near", "near")} == {2_500_000}
    assert {load for seen, load in loads if seen == ("far", "far")} == {500_000}


@pytest.mark.parametrize(
    ("error", "code"),
    [(GeneratorError("the generator ended"), 24), (SwitchDiedError("ovs-vswitchd ended", observed="signal 11"), 23)],
)
def test_what_dies_in_mid_run_is_recorded_and_earlier_rows_stay(store: Store, error: NfvbedError, code: int) -> None:
    site = WatchedSite()
    with pytest.raises(type(error)) as caught:
        runner(store, lambda _: site, tools=failing(error)).start(study())
    assert caught.value.exit_code == code
    run = only_run(store)
    assert (run.status, run.reason) == (Status.FAILED, str(error))
    trials = store.trials(run.id)
    assert [t.status for t in trials] == [Status.OK, Status.OK, Status.FAILED]
    assert trials[-1].reason == str(error)
    assert store.cells(run.id)[0].status is Status.FAILED
    assert not site.running
    assert [fact.step for fact in store.facts(run.id)].count("deploy") == 2


def test_a_run_that_failed_goes_on_and_keeps_the_failure(store: Store) -> None:
    with pytest.raises(GeneratorError):
        runner(store, tools=failing(GeneratorError("x"))).start(study())
    ended = runner(store).resume(only_run(store))
    trials = store.trials(ended.id)
    assert ended.status is Status.OK
    assert [t.status for t in trials] == [Status.OK, Status.OK, Status.FAILED, Status.OK, Status.OK]
    assert [t.sequence for t in trials] == [1, 2, 3, 4, 5]
    assert len(set(keys(trials))) == len(keys(trials)) == 4


def test_an_interrupt_takes_everything_down(store: Store) -> None:
    site = WatchedSite()
    with pytest.raises(InterruptedRunError) as caught:
        runner(store, lambda _: site, tools=failing(KeyboardInterrupt())).start(study())
    assert caught.value.exit_code == 130
    assert "--resume" in caught.value.fix
    assert only_run(store).status is Status.INTERRUPTED
    assert len(store.trials(only_run(store).id)) == 2
    assert not site.running
    assert runner(store).resume(only_run(store)).status is Status.OK


def test_a_fault_of_nfvbed_itself_ends_the_run_too(store: Store) -> None:
    site = WatchedSite()
    with pytest.raises(ZeroDivisionError):
        runner(store, lambda _: site, tools=failing(ZeroDivisionError("oops"))).start(study())
    assert "internal error" in only_run(store).reason
    assert not site.running


def test_a_full_disk_ends_the_run_and_leaves_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    site = WatchedSite()
    kept = store.add_trial

    def full(trial: TrialRecord) -> None:
        if trial.sequence == 3:
            monkeypatch.setattr(store, "finish_run", refuse)
            raise StoreError("trial 3 could not be stored", observed="database or disk is full")
        kept(trial)

    def refuse(*_: object) -> None:
        raise StoreError("the end could not be stored")

    monkeypatch.setattr(store, "add_trial", full)
    with pytest.raises(StoreError, match="trial 3"):
        runner(store, lambda _: site).start(study())
    monkeypatch.undo()
    assert not site.running
    run = only_run(store)
    assert run.status is None
    assert runner(store).resume(run).status is Status.OK


@pytest.mark.parametrize(("error", "code"), [(DeployError("no bridge"), 20), (PrerequisiteError("hugepages"), 12)])
def test_a_deployment_that_fails_fails_the_run(store: Store, error: NfvbedError, code: int) -> None:
    class Broken(WatchedSite):
        def deploy(self, *_: object, **__: object) -> Deployment:  # type: ignore[override]
            raise error

    with pytest.raises(type(error)) as caught:
        runner(store, Broken).start(study())
    assert caught.value.exit_code == code
    assert only_run(store).status is Status.FAILED


class Picky(WatchedSite):
    """Cannot run `sim-b`, and finds `sim-c` out only when deploying."""

    def probe(self, variant: Variant) -> Support:
        if variant.name == "sim-b":
            return Support(variant="sim-b", readiness=Readiness.UNSUPPORTED, reason="no module", fix="modprobe it")
        return super().probe(variant)

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        if variant.name == "sim-c":
            raise UnsupportedError("sim-c cannot run here", observed="no device")
        return super().deploy(variant, topology, role, vnf)


def test_unsupported_variants_are_cells_with_a_reason_and_others_go_on(store: Store) -> None:
    run = runner(store, Picky).start(study([variant("sim-b"), variant("sim-c"), variant("sim-a")], ceilings=True))
    cells = {cell.id: cell for cell in store.cells(run.id)}
    assert run.status is Status.OK
    assert cells["sim-a/p2p/64"].status is Status.OK
    assert (cells["sim-b/p2p/64"].status, cells["sim-b/p2p/64"].reason) == (
        Status.UNSUPPORTED,
        "no module (modprobe it)",
    )
    assert cells["sim-c/p2p/64"].status is Status.UNSUPPORTED
    assert "no device" in cells["sim-c/p2p/64"].reason


def test_nothing_runnable_is_unsupported(store: Store) -> None:
    for variants in (["sim-b"], ["sim-b", "sim-c"]):
        with pytest.raises(UnsupportedError) as caught:
            runner(store, Picky).start(study([variant(name) for name in variants]))
        assert caught.value.exit_code == 11
        assert "no module" in caught.value.observed
        assert store.runs()[0].status is Status.UNSUPPORTED


def test_frames_that_the_engine_cannot_send_are_unsupported(store: Store) -> None:
    run = runner(store).start(study(frame_sizes=(64, 9018)))
    assert run.status is Status.OK
    from nfvbed.traffic.simulated import generator as simulated

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulated, "MAX_FRAME_SIZE_BYTES", 3400)
        run = runner(store).start(study(frame_sizes=(64, 9018)))
    cell = store.cells(run.id)[1]
    assert cell.status is Status.UNSUPPORTED
    assert "at most 3400" in cell.reason


def test_a_missing_topology_is_a_cell_that_is_not_applicable(store: Store) -> None:
    without = variant("sim-b").model_copy(update={"topologies": ()})
    run = runner(store).start(study([variant("sim-a"), without]))
    status = {cell.id: cell.status for cell in store.cells(run.id)}
    assert status == {"sim-b/p2p/64": Status.NOT_APPLICABLE, "sim-a/p2p/64": Status.OK}


def changing(distances: Sequence[CoreDistance | None]) -> list[str]:
    """Every round, of two trials, in a class of its own."""
    return [f"class-{index // 2}" for index in range(len(distances))]


CURVE = ({"kind": "latency", "fixed_load_pps": 1000, "fractions": (0.5,), "of": "mrr", "duration_s": 0.1},)
"""One result of two trials."""


def test_a_class_that_never_fills_blocks_a_test(store: Store) -> None:
    tests = ({"kind": "mrr"}, *CURVE)
    run = runner(store, tools=Tools(classify=changing)).start(study(tests=tests))
    cell = store.cells(run.id)[0]
    assert (run.status, cell.status) == (Status.BLOCKED, Status.BLOCKED)
    assert run.reason == cell.reason
    assert cell.reason.startswith("placement: ")
    assert "of 2 repetitions of latency in class class-" in cell.reason


def test_mixed_trials_block_a_test_and_not_the_mrr(store: Store) -> None:
    mixed = Tools(classify=lambda d: ["mixed"] * len(d))
    assert runner(store, tools=mixed).start(study()).status is Status.OK
    run = runner(store, tools=mixed).start(study(tests=({"kind": "mrr"}, *CURVE)))
    cell = store.cells(run.id)[0]
    assert (run.status, cell.status) == (Status.BLOCKED, Status.BLOCKED)
    assert cell.reason == "placement: 0 of 2 repetitions of latency in class single after 3 rounds"
    assert len(store.results(run.id)) == 3, "no round is left out"
    assert runner(store).resume(run).status is Status.OK, "another rule may find what it needs"


def test_no_round_starts_after_the_time_limit(store: Store) -> None:
    now = iter(float(value) for value in range(0, 10_000, 5))
    tools = Tools(classify=classify_all_alike, clock=lambda: next(now))
    repetitions = {"needed": 50, "max_rounds": 50, "time_limit_s": 100}
    run = runner(store, tools=tools).start(study(repetitions=repetitions))
    assert run.status is Status.BLOCKED
    assert 0 < len(store.trials(run.id)) < 20
    assert store.cells(run.id)[0].reason.startswith("time limit: ")


def test_no_frame_at_all_is_reported(store: Store) -> None:
    class Deaf(Measurement):
        def measure(self, task: TrialTask) -> TrialRecord:
            return super().measure(task).model_copy(update={"forwarded_rate_pps": 0})

    started = runner(store, tools=Tools(measure_with=Deaf, classify=classify_all_alike))
    run = started.start(study())
    assert run.status is Status.FAILED
    assert "no frame came back from sim-a/p2p/64" in str(started.failure)
    assert len(store.trials(only_run(store).id)) == 1


def test_ceilings_are_measured_in_the_first_rounds_whatever_their_class(store: Store) -> None:
    """The ceilings' first trials are mixed."""

    def classify_ceilings_late(distances: Sequence[CoreDistance | None]) -> list[str]:
        return ["mixed" if index in (0, 1) else "near" for index in range(len(distances))]

    spec = study(ceilings=True, repetitions={"needed": 3, "needed_ceilings": 2, "max_rounds": 5})
    run = runner(store, tools=Tools(classify=classify_ceilings_late)).start(spec)
    rounds = {cell.id: [t.round for t in store.trials(run.id, cell.id)] for cell in store.cells(run.id)}
    assert run.status is Status.OK
    assert rounds == {
        "loopback:simulated/p2p/64": [1, 2],
        "reference:simulated/p2p/64": [1, 2],
        "sim-a/p2p/64": [1, 1, 2, 2, 3, 3],
    }
