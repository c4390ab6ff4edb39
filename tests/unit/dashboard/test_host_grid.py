"""A host's rates as a grid: judged in one run, not paired over runs, and what would decide what is open."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfvbed.compare.verdict import Verdict
from nfvbed.dashboard.evidence.openquestions import open_questions
from nfvbed.dashboard.results.hostgrid import RatedRun, RateState
from nfvbed.dashboard.results.hostrates import HostRates
from nfvbed.dashboard.results.source import Source
from nfvbed.store import Store
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.stored_runs import put

NEWER = "01960000-0000-7000-8000-00000000000a"
FASTER = dataclasses.replace(
    OVS, capacity={size: tuple(2 * rate for rate in rates) for size, rates in OVS.capacity.items()}
)


@pytest.fixture(scope="module", name="source")
def _source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    """One run of two variants, and a newer one of the quicker alone, twice as quick."""
    path: Path = tmp_path_factory.mktemp("grid") / "nfvbed.sqlite"
    alone = build(Scenario(run=NEWER, systems=(FASTER,), seed=3))
    moved = alone.run.model_copy(update={"started_at": "2026-03-04T05:06:07.000+00:00"})
    with Store.open(path) as store:
        put(store, build(Scenario(systems=(BRIDGE, OVS))))
        put(store, dataclasses.replace(alone, run=moved))
    with Store.open(path, read_only=True, migrated=False) as opened:
        yield Source(opened)


@pytest.fixture(scope="module", name="rated")
def _rated(source: Source) -> tuple[RatedRun, ...]:
    return HostRates(source).rated(source.store.runs()[0].host_hash, source.store.runs())


def test_a_verdict_is_of_the_newest_run_that_has_both(source: Source, rated: tuple[RatedRun, ...]):
    assert [entry.run.id for entry in rated] == [NEWER, RUN]
    grid = HostRates(source).grid(rated, "linux-bridge", 64)
    rows = {row.variant: row.cells[0] for row in grid.rows}
    assert rows["linux-bridge"].state is RateState.BASELINE and rows["linux-bridge"].run == RUN
    assert (rows["ovs-dpdk"].verdict, rows["ovs-dpdk"].run) == (Verdict.HIGHER, RUN)
    assert "of linux-bridge" in rows["ovs-dpdk"].about
    assert [row.variant for row in grid.rows][0] == "ovs-dpdk", "the highest rate is first"


def test_rates_of_different_runs_are_not_paired(source: Source, rated: tuple[RatedRun, ...]):
    grid = HostRates(source).grid(rated[:1], "", 64)
    assert grid.baseline == "ovs-dpdk" and len(grid.rows) == 1
    only = dataclasses.replace(rated[1], rows=tuple(row for row in rated[1].rows if row.variant == "linux-bridge"))
    grid = HostRates(source).grid((rated[0], only), "ovs-dpdk", 64)
    cell = next(row.cells[0] for row in grid.rows if row.variant == "linux-bridge")
    assert (cell.state, cell.words, cell.verdict) == (RateState.NOT_PAIRED, "not paired", None)
    assert cell.rate and "rounds" in cell.about


def test_what_is_not_paired_has_a_command_that_decides_it(source: Source, rated: tuple[RatedRun, ...]):
    only = dataclasses.replace(rated[1], rows=tuple(row for row in rated[1].rows if row.variant == "linux-bridge"))
    runs = (rated[0], only)
    grid = HostRates(source).grid(runs, "ovs-dpdk", 64)

    def measures(command: str) -> set[str]:
        return {row.cell for entry in runs for row in entry.rows if f"--variant {row.variant} " in command}

    (one,) = (entry for entry in open_questions(grid, runs, measures) if entry.path == grid.paths[0])
    assert one.compared == ("linux-bridge",)
    assert one.command.startswith("nfvbed run ") and "--variant ovs-dpdk --variant linux-bridge" in one.command
    assert all(entry.command == "" for entry in open_questions(grid, runs, lambda _: ()))
    judged = HostRates(source).grid(rated, "linux-bridge", 64)
    assert open_questions(judged, rated, measures) == ()


def test_what_moved_since_the_answer_is_told_unpaired(source: Source, rated: tuple[RatedRun, ...]):
    answered, newest = source.run(RUN), source.run(NEWER)
    since = HostRates(source).since(answered, rated, newest)
    assert since.compared and since.host == ()
    assert {(change.variant, change.verdict) for change in since.rates} == {("ovs-dpdk", Verdict.HIGHER)}
    assert HostRates(source).since(newest, rated, newest).rates == ()
