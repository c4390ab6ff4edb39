"""Parts and counts of what is stored."""

from dataclasses import replace

import pytest

from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import CellRole, Status
from nfvbed.store import Store
from nfvbed.store.summaries import Part
from tests.sample_records import BRIDGE, OVS, RUN, Scenario, build
from tests.stored_runs import put


def stored(path: str) -> tuple[Store, RunData]:
    data = build(Scenario(systems=(BRIDGE, OVS), rounds=2))
    with Store.open(path) as store:
        put(store, data)
    return Store.open(path, read_only=True), data


def test_pages_of_trials_follow_each_other(place: str):
    store, data = stored(place)
    with store:
        first, count = store.trials_page(RUN, None, Part(limit=3))
        second, _ = store.trials_page(RUN, None, Part(offset=3, limit=3))
        assert count == len(data.trials)
        assert [trial.sequence for trial in (*first, *second)] == [trial.sequence for trial in data.trials[:6]]
        of_cell, count = store.trials_page(RUN, "ovs-dpdk/p2p/64", Part())
        assert {trial.cell for trial in of_cell} == {"ovs-dpdk/p2p/64"} and count == len(of_cell)


def test_variants_of_a_run_come_in_the_order_of_their_cells(place: str):
    store, data = stored(place)
    with store:
        subjects = [cell.variant for cell in data.cells if cell.role is CellRole.SUBJECT]
        assert store.variants(RUN) == list(dict.fromkeys(subjects)) == ["linux-bridge", "ovs-dpdk"]
        assert store.variants("none") == []


def test_latency_is_read_of_the_variants_asked_for_alone(place: str):
    store, data = stored(place)
    with store:
        assert store.trials(RUN) == list(data.trials)
        one = store.trials(RUN, latency_of=("ovs-dpdk",))
        none = store.trials(RUN, latency_of=())
    with_latency = {trial.cell.split("/")[0] for trial in one if trial.latency_hdr}
    assert with_latency == {"ovs-dpdk"}
    assert not any(trial.latency_hdr for trial in none) and len(none) == len(data.trials)


def test_counts_and_extent_are_those_of_the_rows(place: str):
    store, data = stored(place)
    with store:
        found = store.extent(RUN)
        assert (found.status, found.cells, found.trials) == (Status.OK, 4, max(t.sequence for t in data.trials))
        counts = store.trial_counts(RUN)
        runs, number = store.runs_page(Part(limit=1))
        covered = store.coverage()
    assert sum(sum(own.values()) for own in counts.values()) == len(data.trials)
    assert (number, [run.id for run in runs]) == (1, [RUN])
    assert {(entry.variant, entry.topology, entry.cells) for entry in covered} == {
        ("linux-bridge", "p2p", 2),
        ("ovs-dpdk", "p2p", 2),
    }


@pytest.mark.parametrize(
    ("ended", "measured", "not_measured"),
    [
        (Status.BLOCKED, Status.OK, None),
        (Status.INTERRUPTED, Status.OK, None),
        (Status.OK, Status.OK, None),
        (None, None, None),
    ],
)
def test_a_run_that_ended_early_has_measured_what_has_trials(place: str, ended, measured, not_measured):
    data = build(Scenario(systems=(BRIDGE, OVS), rounds=2))
    kept = tuple(trial for trial in data.trials if trial.cell.startswith("ovs-dpdk/"))
    with Store.open(place) as store:
        put(store, replace(data, trials=kept), ended=ended)
        found = {entry.variant: entry for entry in store.coverage()}
    assert {entry.run_status for entry in found.values()} == {ended}
    assert (found["ovs-dpdk"].status, found["linux-bridge"].status) == (measured, not_measured)


def test_the_newest_run_that_measured_is_one_that_ended_early(place: str):
    data = build(Scenario(systems=(BRIDGE, OVS), rounds=2))
    later = build(Scenario(systems=(BRIDGE, OVS), rounds=2, run=data.run.id[:-1] + "f"))
    later = replace(later, run=later.run.model_copy(update={"started_at": "2099-01-01T00:00:00Z"}), trials=())
    with Store.open(place) as store:
        put(store, data, ended=Status.BLOCKED)
        put(store, later, ended=Status.BLOCKED)
        found = [(entry.variant, entry.run, entry.status) for entry in store.coverage()]
    assert found == [
        *((variant, later.run.id, None) for variant in ("linux-bridge", "ovs-dpdk")),
        *((variant, data.run.id, Status.OK) for variant in ("linux-bridge", "ovs-dpdk")),
    ]
