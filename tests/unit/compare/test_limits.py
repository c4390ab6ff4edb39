"""A ceiling bounds what lies at it; one that is exceeded proves nothing, and a few marked trials bound no median."""

import dataclasses
from collections.abc import Callable

import pytest

from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.differences.limits import WITHIN, _lies_above, _Shares, bounds_of, share_of
from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary, Limit, SummaryOptions, summarise, summarise_rate_alone
from nfvbed.compare.rows.visits import LabelledTrial
from nfvbed.compare.samples.ranks import Interval
from nfvbed.compare.verdict import Bounds, Rules
from nfvbed.records import CellRole, PortKind, Preset, QualityWarning, TrialRecord
from nfvbed.records.results import ResultKind, ResultRecord
from tests.sample_records import BRIDGE, CEILINGS, OVS, Scenario, build

CELL = "ovs-dpdk/p2p/64"


@pytest.mark.parametrize(
    ("low", "is_range", "above"),
    [
        (1.001, False, True),
        (1.0, False, False),
        (1.001, True, False),
        (1 + WITHIN + 0.001, True, True),
        (1 + WITHIN, True, False),
    ],
)
def test_a_range_refutes_a_ceiling_by_more_than_an_interval_has_to(low: float, is_range: bool, above: bool):
    assert _lies_above(Interval(low=low, high=2.0, level=0.0 if is_range else 0.95, is_range=is_range)) is above


def row_of(data: RunData, cell: str = CELL) -> CellSummary:
    return next(row for row in compare([data]).rows if row.cell == cell)


def with_ceiling(role: CellRole, share: float, noise: float = 0.0) -> RunData:
    """Return a run in which the result is this share of the ceiling of this role, and no other ceiling is there."""
    exact = dataclasses.replace(OVS, noise=noise, capacity={64: (10e6, 10e6)})
    ceiling = next(c for c in CEILINGS if c.role is role and c.port_kind is OVS.port_kind)
    rate = 10e6 / share
    ceiling = dataclasses.replace(ceiling, noise=0.0, capacity={64: (rate, rate)})
    return build(Scenario(systems=(BRIDGE, exact, ceiling)))


def marked(data: RunData, kind: QualityWarning, chosen: Callable[[TrialRecord], bool]) -> RunData:
    trials = (t.model_copy(update={"warnings": (kind,)}) if t.cell == CELL and chosen(t) else t for t in data.trials)
    return dataclasses.replace(data, trials=tuple(trials))


@pytest.mark.parametrize("share", [0.96, 0.999])
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
def test_a_result_that_may_be_at_its_ceiling_is_possibly_limited_and_not_bound(role: CellRole):
    data = with_ceiling(role, 0.96, noise=0.03)
    row = row_of(data)
    assert row.limits == () and not row.limited
    (limit,) = row.possible_limits
    assert limit.interval is not None and limit.interval.low < 0.95 < limit.interval.high


@pytest.mark.parametrize("role", [CellRole.LOOPBACK, CellRole.REFERENCE])
def test_a_result_below_its_ceiling_is_not_bound(role: CellRole):
    row = row_of(with_ceiling(role, 0.94))
    assert (row.limits, row.exceeded, row.notes) == ((), (), ())


@pytest.mark.parametrize("share", [1.04, 1.45])
@pytest.mark.parametrize("role", [CellRole.LOOPBACK, CellRole.REFERENCE])
def test_an_exceeded_ceiling_bounds_nothing_and_is_named(role: CellRole, share: float):
    row = row_of(with_ceiling(role, share))
    assert row.limits == ()
    assert [(entry.role, entry.cell) for entry in row.exceeded] == [(role, f"{_name(role)}/p2p/64")]
    assert row.exceeded[0].ratio == pytest.approx(share, rel=0.001)
    assert row.loopback_pps is None
    assert f"{share:.0%}" in row.notes[0] and "exceeded" in row.notes[0]
    assert ("one core serves both ends" in row.notes[0]) == (role is CellRole.LOOPBACK)


def test_a_ceiling_that_one_row_exceeds_bounds_no_row_of_the_run():
    at_it = dataclasses.replace(OVS, name="other", noise=0.0, capacity={64: (10e6, 10e6)})
    above = dataclasses.replace(OVS, noise=0.0, capacity={1518: (6e6, 6e6)})
    loopback = next(c for c in CEILINGS if c.role is CellRole.LOOPBACK and c.port_kind is OVS.port_kind)
    loopback = dataclasses.replace(loopback, noise=0.0, capacity={64: (10.1e6, 10.1e6), 1518: (4e6, 4e6)})
    data = build(Scenario(systems=(BRIDGE, at_it, above, loopback)))
    row = row_of(data, "other/p2p/64")
    assert row.limits == () and row.loopback_pps is None
    assert [entry.by for entry in row.exceeded] == ["ovs-dpdk/p2p/1518"]
    assert "ovs-dpdk/p2p/1518 is above it" in row.notes[0]
    without = build(Scenario(systems=(BRIDGE, at_it, loopback)))
    assert [limit.kind for limit in row_of(without, "other/p2p/64").limits] == [QualityWarning.GENERATOR_LIMITED]


def test_a_reference_bounds_what_passes_the_same_ports_in_the_same_way():
    """testpmd opens veth ports with AF_XDP sockets: that says nothing of a bridge inside the kernel."""
    bridge = dataclasses.replace(BRIDGE, noise=0.0, capacity={64: (1e6, 1e6)})
    reference = dataclasses.replace(
        bridge, name="reference:veth", role=CellRole.REFERENCE, capacity={64: (1.01e6, 1.01e6)}
    )
    data = build(Scenario(systems=(bridge, reference)))
    hashes = {cell.id: cell.config_hash for cell in data.cells}
    own, other = hashes["linux-bridge/p2p/64"], hashes["reference:veth/p2p/64"]
    cell = "linux-bridge/p2p/64"
    unknown = row_of(data, cell)
    assert (unknown.io_path, unknown.limits, unknown.switching_overhead) == ("", (), None), "a run of an older nfvbed"
    apart = row_of(dataclasses.replace(data, io_paths={own: "netdev", other: "af_xdp"}), cell)
    assert (apart.io_path, apart.limits, apart.switching_overhead) == ("netdev", (), None)
    same = row_of(dataclasses.replace(data, io_paths={own: "af_xdp", other: "af_xdp"}), cell)
    assert [limit.kind for limit in same.limits] == [
        QualityWarning.PORT_LIMITED
    ] and same.switching_overhead is not None
    assert row_of(with_ceiling(CellRole.REFERENCE, 0.99)).io_path == "vhost", "the kind of port tells"


def test_what_bounds_a_row_depends_on_what_it_is_compared_with():
    row = row_of(with_ceiling(CellRole.REFERENCE, 0.99))
    assert bounds_of(row, row, Scope.CONTROLLED) == Bounds(candidate=True, baseline=True)
    assert bounds_of(row, row, Scope.SYSTEM) == Bounds()
    other = row.model_copy(update={"port_kind": PortKind.VETH, "limits": ()})
    assert bounds_of(row, other, Scope.CONTROLLED) == Bounds(), "the ports are part of what is compared"
    vnf = row.model_copy(update={"vnf": "native", "limits": (Limit(kind=QualityWarning.VNF_LIMITED, detail=""),)})
    assert bounds_of(vnf, other, Scope.SYSTEM) == Bounds()
    same_vnf = vnf.model_copy(update={"vnf": "process-io"})
    assert bounds_of(same_vnf, other, Scope.CONTROLLED) == Bounds(candidate=True)
    for kind in (QualityWarning.GENERATOR_LIMITED, QualityWarning.WIRE_LIMITED):
        bound = row.model_copy(update={"limits": (Limit(kind=kind, detail=""),)})
        assert bounds_of(other, bound, Scope.SYSTEM) == Bounds(baseline=True)


def _name(role: CellRole) -> str:
    return f"{role.value}:vhost-user"


@pytest.mark.parametrize("kind", [QualityWarning.GENERATOR_LIMITED, QualityWarning.WIRE_LIMITED])
def test_warnings_of_most_trials_at_maximum_load_make_a_bound(kind: QualityWarning):
    data = build(Scenario(systems=(OVS,), far_rounds=(), changing=(), rounds=6))
    most = row_of(marked(data, kind, lambda t: t.preset is Preset.MRR and t.round < 4))
    assert [(limit.kind, limit.detail) for limit in most.limits] == [(kind, "stored with 4 of 6 trials")]


@pytest.mark.parametrize("rounds", [1, 3])
def test_warnings_of_half_the_trials_or_fewer_are_a_warning(rounds: int):
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


def test_tests_of_ceilings_are_distinguished_by_how_their_ports_are_set():
    data = with_ceiling(CellRole.LOOPBACK, 1.0)
    ceiling = next(cell for cell in data.cells if cell.role is CellRole.LOOPBACK)
    floor = ResultRecord(
        run=data.run.id,
        cell=ceiling.id,
        round=1,
        test="latency",
        kind=ResultKind.LATENCY,
        placement_class="single",
        started_at=data.run.started_at,
        ended_at=data.run.started_at,
    )
    ring = {ceiling.config_hash: "vhost-user-ring-256"}
    for ports, name in (({}, "loopback vhost-user"), (ring, "loopback vhost-user-ring-256")):
        (test,) = compare([dataclasses.replace(data, results=(floor,), ports=ports)]).tests
        assert test.variant == name


@pytest.mark.parametrize("share", [0.5, 0.98, 1.0, 1.01, 1.2])
@pytest.mark.parametrize("rounds", [1, 4, 9])
def test_a_ceiling_is_passed_over_only_where_no_round_is_above_it(share: float, rounds: int):
    """What is not reckoned is what would not have refuted the ceiling."""
    noisy = dataclasses.replace(OVS, noise=0.03, capacity={64: (10e6, 10e6)})
    rate = 10e6 / share
    ceiling = dataclasses.replace(CEILINGS[0], port_kind=OVS.port_kind, capacity={64: (rate, rate)})
    found = compare([build(Scenario(systems=(noisy, ceiling), rounds=rounds, seed=round(100 * share)))])
    (row,), (bound,) = [[one for one in rows if one.mrr] for rows in (found.rows, found.ceilings)]
    whole, shares = share_of(row, bound), _Shares()
    assert whole == shares.of(row, bound)
    if not shares.may_lie_above(row, bound):
        assert whole is not None and not _lies_above(whole.interval)
    assert share in (0.98, 1.0, 1.01) or shares.may_lie_above(row, bound) is (share > 1)


def test_a_row_that_is_not_shown_refutes_what_it_would_refute_if_it_were():
    """Its rate is that of the whole row; all else of it is left out."""
    above = dataclasses.replace(OVS, name="above", noise=0.0, capacity={64: (12e6, 12e6)})
    below = dataclasses.replace(OVS, name="below", noise=0.0, capacity={64: (9.9e6, 9.9e6)})
    ceiling = dataclasses.replace(CEILINGS[0], port_kind=OVS.port_kind, noise=0.0, capacity={64: (10e6, 10e6)})
    data = build(Scenario(systems=(above, below, ceiling), common_load=True))
    whole, part = compare([data]), compare([data], ComparisonOptions(variants=("below",), baseline="below"))
    assert [row.variant for row in part.rows] == ["below"]
    assert part.rows[0] == next(row for row in whole.rows if row.variant == "below")
    assert "above/p2p/64 is above it" in part.rows[0].exceeded[0].detail
    cell = next(cell for cell in data.cells if cell.variant == "above")
    labelled = [LabelledTrial(trial=trial, label="single") for trial in data.trials if trial.cell == cell.id]
    alone, row = (make(data, cell, labelled, SummaryOptions(Rules())) for make in (summarise_rate_alone, summarise))
    assert alone.mrr == row.mrr is not None and alone.paced is None is not row.paced
    assert (alone.point, alone.ports, alone.io_path) == (row.point, row.ports, row.io_path)
