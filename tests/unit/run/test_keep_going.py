"""A run over many variants: one that fails takes its own cells alone, and what the budget lacks time for is blocked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed.compare.agreement import VariantOutcome, disagreements, outcomes_of
from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.errors import ConfigurationError, DeployError, NfvbedError, PrerequisiteError, SwitchDiedError
from nfvbed.plan.stored import never_reached
from nfvbed.records import CellRole, Deployment, Readiness, Status, Support
from nfvbed.run.tools import Tools
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.store import Store
from tests.unit.run.simulated_runs import WatchedSite, classify_all_alike, runner, study, variant

TWO = (variant("sim-a"), variant("sim-b"))


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "x.sqlite") as store:
        yield store


def broken(error: NfvbedError, name: str = "sim-a") -> type[WatchedSite]:
    class Broken(WatchedSite):
        def deploy(
            self, variant: Variant, topology: str, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None
        ) -> Deployment:
            if variant.name == name and role is CellRole.SUBJECT:
                raise error
            return super().deploy(variant, topology, role, vnf)

    return Broken


@pytest.mark.parametrize(
    ("error", "exit_code"),
    [
        (DeployError("no bridge"), 20),
        (PrerequisiteError("hugepages"), 20),  # 12 and 10 say that a run could not begin
        (ConfigurationError("no file"), 20),
        (SwitchDiedError("died"), SwitchDiedError.exit_code),
    ],
)
def test_a_variant_that_fails_is_given_up_and_the_others_go_on(
    store: Store, error: NfvbedError, exit_code: int
) -> None:
    chosen = runner(store, broken(error))
    run = chosen.start(study(TWO, keep_going=True))
    status = {cell.id: cell.status for cell in store.cells(run.id)}
    assert run.status is Status.FAILED
    assert status["sim-a/p2p/64"] is Status.FAILED
    assert len([t for t in store.trials(run.id, "sim-b/p2p/64") if t.status is Status.OK]) == 4
    assert chosen.failure is not None and chosen.failure.exit_code == exit_code


def test_later_rounds_measure_only_what_lacks(store: Store) -> None:
    """The first point of sim-a's curve is in another class; sim-b has all it needs after two rounds."""
    tools = Tools(classify=lambda found: ["mixed" if index == 0 else "single" for index in range(len(found))])
    repetitions = {"needed": 2, "max_rounds": 5, "only_lacking": True}
    tests = ({"kind": "latency", "fixed_load_pps": 1000, "fractions": (), "duration_s": 0.1},)
    run = runner(store, tools=tools).start(study(TWO, repetitions=repetitions, tests=tests))
    rounds = {cell.id: {t.round for t in store.trials(run.id, cell.id)} for cell in store.cells(run.id)}
    assert run.status is Status.OK
    assert rounds == {"sim-a/p2p/64": {1, 2, 3}, "sim-b/p2p/64": {1, 2}}


def ticking(step_s: float) -> Tools:
    """A clock that goes on with every look at it."""
    now = iter(step_s * count for count in range(100_000))
    return Tools(classify=classify_all_alike, clock=lambda: next(now))


def test_what_does_not_fit_into_the_budget_is_blocked_and_never_missing(store: Store) -> None:
    repetitions = {"needed": 2, "max_rounds": 5, "budget_s": 30}
    run = runner(store, tools=ticking(2.0)).start(study(TWO, repetitions=repetitions))
    cells = store.cells(run.id)
    assert run.status is Status.BLOCKED
    assert [cell.id for cell in cells] == ["sim-a/p2p/64"]
    assert cells[0].reason == "budget: 1 of 2 rounds; more would not have ended within 30 s"
    unreached = never_reached(run, store.get_blob(run.plan_hash), cells, VariantModel)
    assert [(cell.id, cell.status) for cell in unreached] == [("sim-b/p2p/64", Status.BLOCKED)]
    assert unreached[0].reason.startswith("the run ended blocked before it: budget")
    assert runner(store).resume(run).status is Status.OK, "what was blocked is measured when the run goes on"


def test_a_budget_that_is_wide_enough_changes_nothing(store: Store) -> None:
    repetitions = {"needed": 2, "max_rounds": 5, "budget_s": 10_000}
    run = runner(store, tools=ticking(2.0)).start(study(TWO, repetitions=repetitions))
    assert (run.status, len(store.trials(run.id))) == (Status.OK, 8)
    assert never_reached(run, store.get_blob(run.plan_hash), store.cells(run.id), VariantModel) == ()


def test_doctor_and_run_are_held_against_each_other(store: Store) -> None:
    run = runner(store, broken(DeployError("no bridge"))).start(study(TWO, keep_going=True))
    happened = outcomes_of(store.cells(run.id), store.trials(run.id))
    assert [(outcome.variant, outcome.worked) for outcome in happened] == [("sim-a", False), ("sim-b", True)]
    ready = [Support(variant=name, readiness=Readiness.READY) for name in ("sim-a", "sim-b")]
    (found,) = disagreements(ready, happened)
    assert "sim-a: the doctor says ready" in found and "no bridge" in found
    none = [Support(variant="sim-a", readiness=Readiness.UNSUPPORTED, reason="x"), ready[1]]
    assert disagreements(none, happened) == ()
    worked = [VariantOutcome(variant="sim-a", worked=True)]
    assert "frames came through" in disagreements(none, worked)[0]
    assert "says nothing" in disagreements([], worked)[0]
