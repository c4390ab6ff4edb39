"""A ceiling bounds what lies at it; one that is exceeded proves nothing, and a few marked trials bound no median."""

import dataclasses
from collections.abc import Callable

import pytest
from sample_records import BRIDGE, CEILINGS, OVS, Scenario, build

from nfvbed.compare.comparison import compare
from nfvbed.compare.rundata import RunData
from nfvbed.compare.summary import CellSummary
from nfvbed.records import CellRole, Preset, QualityWarning, TrialRecord
from nfvbed.results import ResultKind, ResultRecord

CELL = "ovs-dpdk/p2p/64"


def row_of(data: RunData, cell: str = CELL) -> CellSummary:
    return next(row for row in compare([data]).rows if row.cell == cell)


def with_ceiling(role: CellRole, share: float) -> RunData:
    """Give a run in which the result is this share of the ceiling of this role, and no other ceiling is there."""
    exact = dataclasses.replace(OVS, noise=0.0, capacity={64: (10e6, 10e6)})
    ceiling = next(c for c in CEILINGS if c.role is role and c.port_kind is OVS.port_kind)
    rate = 10e6 / share
    ceiling = dataclasses.replace(ceiling, noise=0.0, capacity={64: (rate, rate)})
    return build(Scenario(systems=(BRIDGE, exact, ceiling)))


def marked(data: RunData, kind: QualityWarning, chosen: Callable[[TrialRecord], bool]) -> RunData:
    trials = (t.model_copy(update={"warnings": (kind,)}) if t.cell == CELL and chosen(t) else t for t in data.trials)
    return dataclasses.replace(data, trials=tuple(trials))


@pytest.mark.parametrize("share", [0.96, 1.0, 1.04])
@pytest.mark.parametrize(
    ("role", "kind"),
    [(CellRole.LOOPBACK, QualityWarning.GENERATOR_LIMITED), (CellRole.REFERENCE, QualityWarning.PORT_LIMITED)],
)
def test_a_result_at_its_ceiling_is_a_lower_bound(role: CellRole, kind: QualityWarning, share: float):
    row = row_of(with_ceiling(role, share))
    assert [limit.kind for limit in row.limits] == [kind]
    assert row.limits[0].ceiling_pps == pytest.approx(10e6 / share, rel=0.001)
    assert row.exceeded == ()


@pytest.mark.parametrize("role", [CellRole.LOOPBACK, CellRole.REFERENCE])
def test_a_result_below_its_ceiling_is_not_bound(role: CellRole):
    row = row_of(with_ceiling(role, 0.94))
    assert (row.limits, row.exceeded, row.notes) == ((), (), ())


@pytest.mark.parametrize("role", [CellRole.LOOPBACK, CellRole.REFERENCE])
def test_an_exceeded_ceiling_bounds_nothing_and_is_named(role: CellRole):
    row = row_of(with_ceiling(role, 1.45))
    assert row.limits == ()
    assert [(entry.role, entry.cell) for entry in row.exceeded] == [(role, f"{_name(role)}/p2p/64")]
    assert row.exceeded[0].ratio == pytest.approx(1.45, rel=0.001)
    assert row.loopback_pps is None
    assert "145%" in row.notes[0] and "exceeded" in row.notes[0]
    assert ("one core serves both ends" in row.notes[0]) == (role is CellRole.LOOPBACK)


def _name(role: CellRole) -> str:
    return f"{role.value}:vhost-user"


def test_warnings_of_most_trials_at_maximum_load_make_a_bound():
    data = build(Scenario(systems=(OVS,), far_rounds=(), changing=(), rounds=6))
    most = row_of(marked(data, QualityWarning.GENERATOR_LIMITED, lambda t: t.preset is Preset.MRR and t.round < 4))
    assert [(limit.kind, limit.detail) for limit in most.limits] == [
        (QualityWarning.GENERATOR_LIMITED, "stored with 4 of 6 trials")
    ]


@pytest.mark.parametrize("rounds", [1, 3])
def test_warnings_of_half_the_trials_or_fewer_are_a_doubt(rounds: int):
    data = build(Scenario(systems=(OVS,), far_rounds=(), changing=(), rounds=6))
    row = row_of(marked(data, QualityWarning.GENERATOR_LIMITED, lambda t: t.preset is Preset.MRR and t.round < rounds))
    assert row.limits == ()
    assert [(w.preset, w.trials, w.of) for w in row.warnings] == [(Preset.MRR, rounds, 6)]


def test_warnings_of_paced_trials_are_counted_apart_and_bound_nothing():
    data = build(Scenario(systems=(OVS,), far_rounds=(), changing=(), rounds=6))
    row = row_of(marked(data, QualityWarning.GENERATOR_LIMITED, lambda t: t.preset is Preset.PACED))
    assert row.limits == ()
    assert [(w.preset, w.trials, w.of) for w in row.warnings] == [(Preset.PACED, 6, 6)]
    both = row_of(marked(data, QualityWarning.CPU_STOLEN, lambda t: t.preset is Preset.MRR or t.round == 0))
    assert [(w.preset, w.trials, w.of) for w in both.warnings] == [(Preset.MRR, 6, 6), (Preset.PACED, 1, 6)]


def test_the_clock_rate_of_a_trial_is_no_part_of_the_source():
    data = build(Scenario(systems=(OVS,), far_rounds=(), changing=(), rounds=6))
    trials = tuple(
        t.model_copy(
            update={"cost": t.cost.model_copy(update={"source": f"run time at {2_600_000_000 + t.sequence} Hz"})}
        )
        if t.cost
        else t
        for t in data.trials
    )
    assert row_of(dataclasses.replace(data, trials=trials)).cycles_source == "run time"


def test_the_rate_is_given_as_a_part_of_the_bare_ports_with_its_interval():
    row = row_of(with_ceiling(CellRole.LOOPBACK, 0.5))
    assert row.of_bare_ports is not None and row.of_bare_ports.interval is not None
    assert row.of_bare_ports.ratio == pytest.approx(0.5, rel=0.001)
    assert row.of_bare_ports.ceiling_pps == pytest.approx(20e6, rel=0.001)
    assert row_of(with_ceiling(CellRole.REFERENCE, 0.5)).of_bare_ports is None


def test_a_ceiling_holds_for_ports_that_are_set_like_its_own():
    data = with_ceiling(CellRole.LOOPBACK, 1.0)
    hashes = {cell.id: cell.config_hash for cell in data.cells}
    assert row_of(data).loopback_pps
    ring = {hashes[CELL]: "vhost-user-ring-256"}
    assert row_of(dataclasses.replace(data, ports=ring)).loopback_pps is None
    both = ring | {hashes["loopback:vhost-user/p2p/64"]: "vhost-user-ring-256"}
    assert row_of(dataclasses.replace(data, ports=both)).loopback_pps


def test_tests_of_ceilings_are_told_apart_by_how_their_ports_are_set():
    data = with_ceiling(CellRole.LOOPBACK, 1.0)
    ceiling = next(cell for cell in data.cells if cell.role is CellRole.LOOPBACK)
    floor = ResultRecord(
        run=data.run.id,
        cell=ceiling.id,
        round=1,
        test="latency",
        kind=ResultKind.LATENCY,
        placement_class="only",
        started_at=data.run.started_at,
        ended_at=data.run.started_at,
    )
    ring = {ceiling.config_hash: "vhost-user-ring-256"}
    for ports, name in (({}, "loopback vhost-user"), (ring, "loopback vhost-user-ring-256")):
        (test,) = compare([dataclasses.replace(data, results=(floor,), ports=ports)]).tests
        assert test.variant == name
