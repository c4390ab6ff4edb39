"""A row taken apart: every trial has its place, and says why it has it."""

import dataclasses

import pytest

from nfvbed.compare.comparison import ComparisonOptions
from nfvbed.compare.explain import TrialUse, explain
from nfvbed.errors import UnknownNameError
from nfvbed.records import Preset, Role, Status
from tests.sample_records import BRIDGE, OVS, Scenario, build

CELL = "ovs-dpdk/p2p/64"


def test_every_trial_of_the_row_is_reported_with_its_use():
    data = build(Scenario(systems=(BRIDGE, OVS)))
    found = explain([data], CELL, ComparisonOptions(baseline="linux-bridge"))
    assert len(found.trials) == 18
    maximum = [trial for trial in found.trials if trial.preset is Preset.MRR]
    assert [trial.use for trial in maximum].count(TrialUse.MATCHED) == 8
    (changed,) = [trial for trial in maximum if trial.use is TrialUse.ALL_STATES]
    assert (changed.round, changed.placement) == (7, "mixed")
    assert "share no class" in changed.why
    assert {trial.use for trial in found.trials if trial.preset is Preset.PACED} == {TrialUse.GIVEN_LOAD}
    assert found.difference is not None and len(found.difference.pairs) == 9
    assert found.row.mrr is not None and len(found.row.mrr.visits) == 9
    baseline = explain([data], "linux-bridge/p2p/64", ComparisonOptions(baseline="linux-bridge"))
    assert baseline.difference is None and [entry.cell for entry in baseline.baseline_of] == [CELL]


def test_trials_that_are_not_used_say_why():
    data = build(Scenario(systems=(BRIDGE, OVS)))
    died = [t for t in data.trials if t.cell == CELL and t.preset is Preset.MRR][0]
    trials = tuple(
        t.model_copy(update={"status": Status.FAILED, "reason": "the switch died"}) if t == died else t
        for t in data.trials
    )
    found = explain([dataclasses.replace(data, trials=trials)], CELL, ComparisonOptions(placement_class="near"))
    unused = {trial.why for trial in found.trials if trial.use is TrialUse.UNUSED}
    assert unused == {
        "failed: the switch died",
        "in class far, and near was asked for",
        "in class mixed, and near was asked for",
    }


def test_stolen_time_is_reported_by_role_and_for_the_host():
    data = build(Scenario(systems=(BRIDGE, OVS)))
    trials = tuple(
        t.model_copy(
            update={
                "cpu": tuple(
                    entry.model_copy(update={"stolen_ns": t.duration_ns // (4 if entry.role is Role.SWITCH else 10)})
                    for entry in t.cpu
                )
            }
        )
        for t in data.trials
    )
    found = explain([dataclasses.replace(data, trials=trials)], CELL)
    first = found.trials[0]
    assert first.stolen_ns == {Role.SWITCH: first.duration_ns // 4, Role.GENERATOR: first.duration_ns // 10}
    assert first.stolen_ratio == pytest.approx(0.25)
    assert found.host.stolen_ratio == pytest.approx(0.25)
    assert explain([data], CELL).host.stolen_ratio is None, "nobody looked"


def test_a_cell_is_named_in_full_or_by_an_end_that_only_one_has():
    data = build(Scenario(systems=(BRIDGE, OVS)))
    assert explain([data], "ovs-dpdk/p2p/64").row.cell == CELL
    with pytest.raises(UnknownNameError, match="several cells end"):
        explain([data], "p2p/64")
    with pytest.raises(UnknownNameError, match="no cell is named"):
        explain([data], "vpp/p2p/64")
