"""A search's trials are measured as any other, and their records are kept."""

from dataclasses import replace

import pytest
from plain_search import simulated_measurer

from nfvbed.measure.searching import trial_of
from nfvbed.records import CpuTime, QualityWarning, Role, TrialRecord


def test_a_trial_is_split_over_the_directions_and_kept():
    records: list[TrialRecord] = []
    measurer = simulated_measurer(0, records, noise=0.0, capacity_pps=1e6)
    trial = measurer.measure(400_000.4, 0.5)
    assert (trial.intended, trial.sent, trial.received, trial.unsent) == (200_000, 200_000, 200_000, 0)
    assert trial.duration_s == 0.5
    assert trial.core_distance_ns == records[0].core_distance_ns
    assert records[0].intended_load_pps == 400_000
    assert records[0].latency_hdr == (None, None)


def test_above_capacity_the_rest_is_unsent_behind_a_full_ring():
    trial = simulated_measurer(0, noise=0.0, capacity_pps=1e6).measure(1.5e6, 1.0)
    assert trial.unsent == 500_000
    assert trial.back_pressure
    assert trial.loss_ratio == pytest.approx(1 / 3, rel=1e-5)


def test_simulated_time_passes_with_trials():
    measurer = simulated_measurer(0)
    assert measurer.now_s() == 0
    measurer.measure(1000, 2.0)
    measurer.wait(1.5)
    assert measurer.now_s() == 3.5
    assert measurer.probe_distance_ns() is None


def test_a_generator_with_nothing_left_is_reported():
    records: list[TrialRecord] = []
    simulated_measurer(0, records).measure(1000, 0.1)
    assert not trial_of(records[0]).generator_limited
    limited = records[0].model_copy(update={"warnings": (QualityWarning.GENERATOR_LIMITED,)})
    assert trial_of(limited).generator_limited


def test_late_frames_are_reported_from_those_that_a_port_refused():
    records: list[TrialRecord] = []
    simulated_measurer(0, records).measure(10_000, 0.1)
    counts = {"intended": 500, "sent": 400, "received": 400, "unsent": 100, "late": 60, "refused": 8}
    way = records[0].directions[0].model_copy(update=counts)
    trial = trial_of(records[0].model_copy(update={"directions": (way,)}))
    assert (trial.base, trial.missing, trial.late_ratio, trial.back_pressure) == (440, 40, 0.12, True)


def test_stolen_time_is_the_systems_and_never_the_generators():
    records: list[TrialRecord] = []
    simulated_measurer(0, records).measure(10_000, 0.1)
    times = [
        CpuTime(role=role, core=0, user_ns=0, system_ns=0, softirq_ns=0, busy_ns=0, source="", stolen_ns=stolen)
        for role, stolen in ((Role.GENERATOR, 9_000_000), (Role.SWITCH, 2_000_000), (Role.VNF, 4_000_000))
    ]
    trial = trial_of(records[0].model_copy(update={"cpu": tuple(times)}))
    assert trial.stolen_s == 0.004
    lost = replace(trial, received=trial.sent - 60)
    assert (lost.is_explained(2.0), lost.is_explained(1.0), trial.is_explained(2.0)) == (True, False, False)
