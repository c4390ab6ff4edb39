"""What is shown of a test of cost."""

import pytest

from nfvbed.measure.telemetry import perf, rows
from nfvbed.measure.telemetry.rows import ObservedTrial, Trials
from nfvbed.measure.telemetry.times import Traffic, group_times
from nfvbed.records import Cost, Status
from tests.unit.measure.telemetry.telemetry_samples import (
    FRAMES,
    GENERATOR,
    PMD,
    SECOND,
    SWITCH,
    VNF,
    core,
    groups,
    readings,
    record,
    traced,
    use,
)

HZ = 2_000_000_000


def trials(found, uses, seen, **changes) -> Trials:
    traced_readings = readings(uses, seen)
    times = group_times(found, traced_readings, Traffic(SECOND, FRAMES), True)
    counted = ObservedTrial(record(**changes), readings(uses))
    return Trials(counted, ObservedTrial(record(sequence=2, rate=900_000), traced_readings), times, HZ)


def values(row):
    return {quantity.name: quantity.value for quantity in row.quantities}


def test_the_packets_of_each_and_cycles_from_the_best_source():
    found = groups(PMD, GENERATOR)
    seen = traced(core({11: SECOND}), core({20: SECOND}))
    uses = {PMD: use(SECOND, user=1000, switches=(0, 40)), GENERATOR: use(SECOND, user=1000, switches=(3, 1))}
    cost = Cost(busy_cycles=8 * FRAMES * 100, packets=8 * FRAMES, source="PMD statistics")
    result = trials(found, uses, seen, cost=cost)
    switch, generator = (rows.group_row(group, result) for group in found)
    assert values(switch) == {
        "user": SECOND / (4 * FRAMES), "system": 0.0, "softirq": 0.0, "guest": 0.0, "cycles": 100.0,
        "context switches": 40 / (4 * FRAMES),
    }  # fmt: skip
    assert switch.parameters["cycles_from"] == "PMD statistics"
    assert (switch.sequence, switch.parameters["split_in_trial"]) == (1, 2)
    assert switch.parameters["involuntary_switches"] == 40
    # Half of the second moved frames; they are shared among the two million that were sent.
    assert values(generator)["cycles"] == pytest.approx(0.5 * HZ / (2 * FRAMES))
    assert values(generator)["context switches"] == 4 / (2 * FRAMES)


def test_a_bridges_cycles_are_all_of_its_time():
    found = groups(SWITCH, GENERATOR)
    seen = traced(core({10: SECOND // 2}, SECOND // 4), core({20: SECOND}))
    uses = {SWITCH: use(SECOND // 2, kernel=True), GENERATOR: use(SECOND, user=1000)}
    row = rows.group_row(found[0], trials(found, uses, seen))
    assert values(row)["cycles"] == pytest.approx(0.75 * HZ / (4 * FRAMES))
    assert row.parameters["cycles_from"] == rows.SCHEDULER_SOURCE


def test_a_polling_vnf_has_an_upper_bound_of_its_cycles():
    poller = VNF.model_copy(update={"polling": True})
    found = groups(PMD, poller, GENERATOR, vnfs=1)
    seen = traced(core({11: SECOND}), core({20: SECOND // 2, 30: SECOND // 2}))
    uses = {thread: use(SECOND, user=1000) for thread in (PMD, poller, GENERATOR)}
    row = rows.group_row(found[1], trials(found, uses, seen))
    cycles = next(quantity for quantity in row.quantities if quantity.name == "cycles")
    assert (cycles.value, cycles.low, cycles.high) == (None, 0.0, pytest.approx(0.5 * HZ / FRAMES))
    assert "a poller is always busy" in row.reason


def test_hardware_counters_or_the_reason_why_not():
    found = groups(PMD, GENERATOR)
    uses = {PMD: use(SECOND, user=1000), GENERATOR: use(SECOND, user=1000)}
    result = trials(found, uses, traced(core({11: SECOND}), core({20: SECOND})))
    refused = perf.PerfSupport((), {"instructions": "no PMU counts it"}, "another machine")
    (row,) = rows.hardware_rows(found, result, refused)
    assert (row.status, row.quantities) == (Status.UNSUPPORTED, ())
    assert row.reason == "instructions: no PMU counts it; another machine"
    result.counted.readings.hardware.update({(11, "instructions"): 8 * FRAMES, (20, "instructions"): None})
    switch, generator = rows.hardware_rows(found, result, perf.PerfSupport((perf.INSTRUCTIONS,), {}))
    assert values(switch) == {"instructions": 2.0}
    assert values(generator) == {"instructions": None}


def test_hardware_counters_of_switch_and_vnfs_together_are_of_a_frame_that_came_back():
    found = groups(PMD, VNF, GENERATOR, vnfs=1)
    uses = {thread: use(SECOND, user=1000) for thread in (PMD, VNF, GENERATOR)}
    result = trials(found, uses, traced(core({11: SECOND}), core({20: SECOND, 30: 0})))
    name = perf.DTLB_MISSES.name
    result.counted.readings.hardware.update({(11, name): 6 * FRAMES, (30, name): 2 * FRAMES, (20, name): 90 * FRAMES})
    each = rows.hardware_rows(found, result, perf.PerfSupport((perf.DTLB_MISSES,), {}))
    assert [row.label.partition(",")[0] for row in each] == ["switch", "VNF 1", "generator", rows.PATH]
    received = sum(way.received for way in result.counted.record.directions)
    assert values(each[-1]) == {name: 8 * FRAMES / received}


def test_softirqs_of_cores_and_what_tracing_did_to_the_rate():
    found = groups(PMD, GENERATOR)
    uses = {PMD: use(SECOND, user=1000), GENERATOR: use(SECOND, user=1000)}
    seen = traced(core({11: SECOND}), core({20: SECOND}, 5 * FRAMES))
    result = trials(found, uses, seen)
    first, second = rows.core_rows(seen, record(sequence=2))
    assert (values(first), values(second)) == ({"softirq": 0.0}, {"softirq": 5.0})
    assert second.parameters["NET_RX_ns"] == 5 * FRAMES
    row = rows.rate_row(result)
    assert row is not None
    assert values(row) == {"traced/untraced rate": 0.9}


def test_lost_events_leave_no_value():
    (row, _) = rows.core_rows(traced(core({}, 8 * FRAMES), core({}), lost=2), record())
    (quantity,) = row.quantities
    assert (quantity.value, quantity.low) == (None, 8.0)
    assert row.parameters["lost_events"] == 2
