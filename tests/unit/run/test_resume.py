"""A run that stopped anywhere goes on: nothing is repeated, nothing is lost."""

import pytest

from nfvbed.errors import NotComparableError, UsageError
from nfvbed.records import Status
from nfvbed.store import Store
from tests.stores import Databases, Stores
from tests.unit.run.simulated_runs import (
    Crash,
    CrashingStore,
    WatchedSite,
    keys,
    only_run,
    runner,
    study,
    variant,
)

CRASHES = 48
"""More than the whole run has transactions."""
MIDDLE = 15
"""A transaction after the first trial and before the last."""


@pytest.fixture(scope="module")
def whole(stores: Stores) -> list[tuple[int, str, str]]:
    """The trials of a run that nothing interrupts."""
    with Store.open(stores.new()) as store:
        run = runner(store).start(study())
        assert run.status is Status.OK
        return keys(store.trials(run.id))


def crash(path: str, at: int, after: bool) -> bool:
    """Run until the n-th transaction; say whether it came to that."""
    with CrashingStore.open(path) as store:
        assert isinstance(store, CrashingStore)
        store.count, store.crash_at, store.after = 0, at, after
        try:
            runner(store).start(study())
        except Crash:
            return True
        return False


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("start", range(1, CRASHES, 6))
def test_a_crash_at_any_point(stores: Stores, whole: list[tuple[int, str, str]], start: int, after: bool) -> None:
    # A server has the same transactions: every third of them on it, all in a file.
    for at in range(start, start + 6, 3 if isinstance(stores, Databases) else 1):
        path = stores.new()
        crashed = crash(path, at, after)
        with Store.open(path) as store:
            if not store.runs():
                continue
            run, before = only_run(store), store.trials(only_run(store).id)
            if not crashed or run.status is Status.OK:
                assert keys(before) == whole
                continue
            assert run.status is None, "a crash writes no end"
            ended = runner(store).resume(run)
            trials = store.trials(run.id)
            assert ended.status is Status.OK
            assert keys(trials) == whole, f"crash at {at}"
            assert trials[: len(before)] == before
            assert [t.sequence for t in trials] == list(range(1, len(trials) + 1))
            assert all(cell.status is Status.OK for cell in store.cells(run.id))


def test_a_second_crash_while_resuming(stores: Stores, whole: list[tuple[int, str, str]]) -> None:
    path = stores.new()
    assert crash(path, MIDDLE, after=True)
    with CrashingStore.open(path) as store:
        assert isinstance(store, CrashingStore)
        store.count, store.crash_at = 0, 12
        with pytest.raises(Crash):
            runner(store).resume(only_run(store))
    with Store.open(path) as store:
        runner(store).resume(only_run(store))
        assert keys(store.trials(only_run(store).id)) == whole


def test_a_resumed_run_draws_other_noise(stores: Stores) -> None:
    path = stores.new()
    crash(path, MIDDLE, after=True)
    with Store.open(path) as store:
        runner(store).resume(only_run(store))
        rates = [t.forwarded_rate_pps for t in store.trials(only_run(store).id) if t.preset.value == "mrr"]
        assert len(set(rates)) == len(rates)


def test_the_plan_is_the_stored_one(stores: Stores, whole: list[tuple[int, str, str]]) -> None:
    """A resumed run does not read the files again: they may have changed since."""
    path = stores.new()
    crash(path, MIDDLE, after=True)
    with Store.open(path) as store:
        run = only_run(store)
        assert store.get_blob(run.plan_hash)["experiment"]["name"] == "study"
        assert keys(store.trials(runner(store).resume(run).id)) == whole


def test_a_run_that_ended_ok_is_not_resumed(stores: Stores) -> None:
    with Store.open(stores.new()) as store:
        run = runner(store).start(study())
        with pytest.raises(UsageError, match="cannot be resumed"):
            runner(store).resume(run)


def test_another_host_is_refused(stores: Stores) -> None:
    class OtherHost(WatchedSite):
        def facts(self) -> dict[str, object]:
            return {"cpu": "another"}

    path = stores.new()
    crash(path, MIDDLE, after=True)
    with Store.open(path) as store:
        with pytest.raises(NotComparableError, match="another host"):
            runner(store, OtherHost).resume(only_run(store))
        assert only_run(store).status is None


def test_another_version_under_test_is_refused(stores: Stores) -> None:
    class Upgraded(WatchedSite):
        def deploy(self, *arguments: object, **named: object) -> object:  # type: ignore[override]
            deployment = super().deploy(*arguments, **named)  # type: ignore[arg-type]
            return deployment.model_copy(update={"versions": {"switch": "2"}})

    path = stores.new()
    crash(path, MIDDLE, after=True)
    with Store.open(path) as store:
        before = store.trials(only_run(store).id)
        with pytest.raises(NotComparableError, match="not what it was"):
            runner(store, Upgraded).resume(only_run(store))  # type: ignore[arg-type]
        assert store.trials(only_run(store).id) == before
        assert only_run(store).status is Status.FAILED


def test_ceilings_and_two_variants_survive_a_crash_too(stores: Stores) -> None:
    two = study([variant("sim-a"), variant("sim-b", capacity_pps=3e6)], ceilings=True)
    with Store.open(stores.new()) as store:
        expected = keys(store.trials(runner(store).start(two).id))
    for at in (15, 40, 60):
        path = stores.new()
        with CrashingStore.open(path) as store:
            assert isinstance(store, CrashingStore)
            store.count, store.crash_at = 0, at
            with pytest.raises(Crash):
                runner(store).start(two)
        with Store.open(path) as store:
            assert keys(store.trials(runner(store).resume(only_run(store)).id)) == expected
