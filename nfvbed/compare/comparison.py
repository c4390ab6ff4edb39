"""Runs in, one comparison out: rows in one placement class, and their differences to a baseline."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from nfvbed.compare.advice import Advice, advice_for
from nfvbed.compare.agreement import disagreements, outcomes_of
from nfvbed.compare.chains import Chain, find_chains
from nfvbed.compare.choice import ClassChoice, choose_class
from nfvbed.compare.limits import with_limits
from nfvbed.compare.placement import ONLY, PLACEMENT_RULE, Placement, analyse
from nfvbed.compare.remedies import advice_on
from nfvbed.compare.rundata import RunData
from nfvbed.compare.scope import Scope, ScopeFinding, find_scope
from nfvbed.compare.summary import CellSummary, Census, LabelledTrial, summarise, take_census
from nfvbed.compare.testdoubts import with_derived
from nfvbed.compare.testresults import MeasuredTest, place_results, take_census_of_tests
from nfvbed.compare.verdict import Judgement, Rules, Samples, Verdict, judge, not_comparable
from nfvbed.errors import NotComparableError, UsageError
from nfvbed.records import CellRole, QualityWarning, Record, Status
from nfvbed.spec.experiment import BEST

COMPARISON_FORMAT: Final = 4
"""2: rows and differences have VNFs, and there are chains. 3: rows have their ratio to the bare ports. 4: and
the ports as their ceilings have them."""
MANY: Final = 6
"""More variants than that are shown in order of their rates, and what was not measured apart from them."""


class Options(Record):
    """What the user chose."""

    baseline: str | None = None
    """A variant; `best`: the highest rate of each traffic point; None: the first one of the first run."""
    placement_class: str = "auto"
    rules: Rules = Rules()


class Difference(Record):
    """One row against its baseline, in one metric."""

    metric: Literal["mrr"] = "mrr"
    run: str
    cell: str
    variant: str
    topology: str
    vnf: str = ""
    frame_size: int | Literal["imix"]
    baseline_run: str
    baseline_cell: str
    baseline_variant: str
    scope: ScopeFinding
    judgement: Judgement


class HostPlacement(Record):
    """The placement classes of one host, and the one that is shown."""

    host_hash: str
    classes: tuple[str, ...]
    medians_ns: tuple[float, ...]
    boundary_ns: float | None
    choice: ClassChoice


class DistancePoint(Record):
    """One trial's raw core distances, for the figure of classes."""

    run: str
    cell: str
    sequence: int
    before_ns: float
    after_ns: float
    label: str


class Comparison(Record):
    """All that a table, a figure or a page needs; nothing in it is rounded."""

    format: int = COMPARISON_FORMAT
    placement_rule: int = PLACEMENT_RULE
    runs: tuple[str, ...]
    baseline: str
    rules: Rules
    placement: tuple[HostPlacement, ...]
    rows: tuple[CellSummary, ...]
    ceilings: tuple[CellSummary, ...]
    differences: tuple[Difference, ...]
    chains: tuple[Chain, ...] = ()
    tests: tuple[MeasuredTest, ...] = ()
    """Results of tests beside the MRR."""
    advice: dict[QualityWarning, Advice] = {}
    """On every limit and doubt that occurs, by what was done."""
    distances: tuple[DistancePoint, ...]
    rigs: dict[str, dict[str, Any]] = {}
    """What the rig hashes of the rows stand for, where it is stored."""
    notes: tuple[str, ...] = ()

    @property
    def simulated(self) -> bool:
        """Whether any number in it comes from a simulation."""
        return any(row.simulated for row in (*self.rows, *self.ceilings)) or any(t.result.simulated for t in self.tests)

    def difference(self, row: CellSummary) -> Difference | None:
        """Find a row's difference; the baseline's own row has none."""
        found = (entry for entry in self.differences if (entry.run, entry.cell) == (row.run, row.cell))
        return next(found, None)

    def advice_on(self, kind: QualityWarning) -> Advice:
        """Give the advice on a limit or doubt; the general one where nothing here carries it."""
        return self.advice.get(kind) or advice_for(kind)

    @property
    def many(self) -> bool:
        """Whether there are too many variants to look for one among the rows."""
        return len({row.variant for row in self.rows}) > MANY

    def ranked(self, rows: Sequence[CellSummary]) -> list[CellSummary]:
        """Order rows of one traffic point: the baseline first; with many, or none in particular, the highest first.

        Rates of emulated guests come after all others, and what was not measured last.
        """
        by_rate = self.many or self.baseline == BEST

        def key(row: CellSummary) -> tuple[bool, bool, float]:
            if not by_rate:
                return False, row.variant != self.baseline, 0.0
            return row.mrr is None, row.emulated, -row.mrr.median_pps if row.mrr else 0.0

        return sorted(rows, key=key)

    @property
    def comparable(self) -> bool:
        """Whether at least one difference has a scope."""
        return any(entry.scope.scope is not Scope.NOT_COMPARABLE for entry in self.differences)


def compare(data: Sequence[RunData], options: Options | None = None) -> Comparison:
    """Summarise runs in one placement class and judge every row against its baseline.

    Raises:
        UsageError: no run, or the baseline is in none of them.
        NotComparableError: the class asked for was not found.
    """
    options = options or Options()
    if not data:
        raise UsageError("there is no run to compare", fix="nfvbed run EXPERIMENT")
    hosts = _hosts(data)
    placements = {host: analyse([t.core_distance_ns for run in runs for t in run.trials]) for host, runs in hosts}
    labels = _labels(hosts, placements)
    choices = {host: _choose(runs, placements[host], labels, options) for host, runs in hosts}
    names = {host: choice.name for host, choice in choices.items()}
    summaries = [
        summarise(entry, cell, _of_cell(entry, cell.id, labels), names[entry.run.host_hash], options.rules)
        for entry in data
        for cell in entry.cells
    ]
    ceilings = tuple(row for row in summaries if row.role is not CellRole.SUBJECT)
    rigs = {key: rig for entry in data for key, rig in entry.rigs.items()}
    rows = tuple(
        with_limits(row, ceilings, _link_speed(rigs.get(row.rig_hash, {})))
        for row in summaries
        if row.role is CellRole.SUBJECT
    )
    baseline = _baseline(rows, options.baseline)
    differences = tuple(_differences(rows, baseline, rigs, options.rules))
    placed = [test for entry in data for test in place_results(entry, labels, names[entry.run.host_hash])]
    tests = with_derived(placed, options.rules, {(row.run, row.cell) for row in rows})
    return Comparison(
        runs=tuple(entry.run.id for entry in data),
        baseline=baseline,
        rules=options.rules,
        placement=tuple(_host_placement(host, placements[host], choices[host]) for host, _ in hosts),
        rows=rows,
        ceilings=ceilings,
        differences=differences,
        chains=find_chains(rows),
        tests=tests,
        advice=advice_on(rows, tests, data),
        distances=tuple(_points(data, labels)),
        rigs={row.rig_hash: rigs[row.rig_hash] for row in rows if row.rig_hash in rigs},
        notes=tuple(_notes(data, differences)),
    )


def require_comparable(comparison: Comparison) -> None:
    """Refuse a comparison that compares nothing.

    Raises:
        NotComparableError: there are differences and none has a scope, or no row was measured.
    """
    if (
        comparison.comparable
        or comparison.tests
        or (not comparison.differences and any(row.mrr for row in comparison.rows))
    ):
        return
    reasons = sorted({entry.scope.reason for entry in comparison.differences}) or ["no row was measured"]
    fix = "compare runs of one host, or run the missing cells again"
    if any(row.emulated for row in comparison.rows):
        fix = "repeat on a host whose KVM boots guests (nfvbed doctor); frame counts and losses hold as they are"
    raise NotComparableError(
        "nothing here can be compared",
        where=f"runs {', '.join(comparison.runs)}",
        observed="; ".join(reasons),
        fix=fix,
    )


Labels = dict[tuple[str, int], str]
"""Placement class by (run, sequence)."""


def _hosts(data: Sequence[RunData]) -> list[tuple[str, list[RunData]]]:
    """Group runs by host, in the order of appearance: classes are a property of the host."""
    groups: dict[str, list[RunData]] = {}
    for entry in data:
        groups.setdefault(entry.run.host_hash, []).append(entry)
    return list(groups.items())


def _labels(hosts: list[tuple[str, list[RunData]]], placements: dict[str, Placement]) -> Labels:
    found: Labels = {}
    for host, runs in hosts:
        keys = [(entry.run.id, trial.sequence) for entry in runs for trial in entry.trials]
        found |= dict(zip(keys, placements[host].labels, strict=True))
    return found


def _of_cell(entry: RunData, cell: str, labels: Labels) -> list[LabelledTrial]:
    return [
        LabelledTrial(trial=trial, label=labels[entry.run.id, trial.sequence])
        for trial in entry.trials
        if trial.cell == cell
    ]


def _choose(runs: list[RunData], placement: Placement, labels: Labels, options: Options) -> ClassChoice:
    placed = {entry.run.id: list(place_results(entry, labels, ONLY)) for entry in runs}
    censuses = [
        _census(_of_cell(entry, cell.id, labels), take_census_of_tests(placed[entry.run.id], cell.id))
        for entry in runs
        for cell in entry.cells
        if cell.role is CellRole.SUBJECT
    ]
    return choose_class(censuses, placement.classes, options.rules.needed, options.placement_class)


def _census(trials: list[LabelledTrial], of_tests: Census) -> Census:
    """Count what a cell has by class: its trials at maximum load or its other tests, whichever it has fewer of."""
    census = take_census(trials)
    if not (census.by_class or census.mixed):
        return of_tests
    least = {name: min(number, of_tests.by_class.get(name, 0)) for name, number in census.by_class.items()}
    return census.model_copy(update={"by_class": least}) if any(least.values()) else census


def _link_speed(rig: dict[str, Any]) -> float | None:
    speed = rig.get("link_bits_per_s")
    return float(speed) if isinstance(speed, int | float) else None


def _baseline(rows: Sequence[CellSummary], wanted: str | None) -> str:
    variants = list(dict.fromkeys(row.variant for row in rows))
    if wanted == BEST:
        return BEST
    if wanted is not None and wanted not in variants:
        raise UsageError(
            f"the baseline {wanted!r} is in none of these runs",
            observed=f"variants measured: {', '.join(variants) or 'none'}",
            fix="name one of them with --baseline",
        )
    return wanted or (variants[0] if variants else "")


def _baseline_row(row: CellSummary, rows: Sequence[CellSummary], baseline: str) -> CellSummary | None:
    """Find the row to judge against: of the same run where it has one, else of the first run that does.

    The baseline's own row in a later run is judged against its row in the first one (A/A, or a trend). With `best` it
    is the highest measured rate of the row's own run; that of an emulated guest is none.
    """
    if baseline == BEST:
        same = [other for other in rows if (other.run, other.point) == (row.run, row.point) and not other.emulated]
        best = max(same, key=lambda other: other.mrr.median_pps if other.mrr else 0.0, default=None)
        return None if best is None or best == row or best.mrr is None else best
    fitting = [other for other in rows if other.variant == baseline and other.point == row.point]
    if not fitting or row == fitting[0]:
        return None
    own = [other for other in fitting if other.run == row.run]
    return own[0] if own and own[0] != row else fitting[0]


def _differences(
    rows: Sequence[CellSummary], baseline: str, rigs: dict[str, dict[str, Any]], rules: Rules
) -> Iterable[Difference]:
    for row in rows:
        other = _baseline_row(row, rows, baseline)
        if other is None:
            continue
        scope = find_scope(row, other, rigs)
        yield Difference(
            run=row.run,
            cell=row.cell,
            variant=row.variant,
            topology=row.topology,
            vnf=row.vnf,
            frame_size=row.frame_size,
            baseline_run=other.run,
            baseline_cell=other.cell,
            baseline_variant=other.variant,
            scope=scope,
            judgement=_judge(row, other, scope, rules),
        )


def _judge(row: CellSummary, other: CellSummary, scope: ScopeFinding, rules: Rules) -> Judgement:
    if scope.scope is Scope.NOT_COMPARABLE or row.mrr is None or other.mrr is None:
        return not_comparable(scope.reason)
    sides = [
        Samples(values=tuple(float(rate) for rate in side.mrr.samples_pps), limited=side.limited)
        for side in (row, other)
        if side.mrr is not None
    ]
    return judge(sides[0], sides[1], rules)


def _host_placement(host: str, placement: Placement, choice: ClassChoice) -> HostPlacement:
    return HostPlacement(
        host_hash=host,
        classes=placement.classes,
        medians_ns=placement.medians_ns,
        boundary_ns=placement.boundary_ns,
        choice=choice,
    )


def _points(data: Sequence[RunData], labels: Labels) -> Iterable[DistancePoint]:
    for entry in data:
        for trial in entry.trials:
            distance = trial.core_distance_ns
            if distance is not None and trial.status is Status.OK:
                yield DistancePoint(
                    run=entry.run.id,
                    cell=trial.cell,
                    sequence=trial.sequence,
                    before_ns=distance.before,
                    after_ns=distance.after,
                    label=labels[entry.run.id, trial.sequence],
                )


def _notes(data: Sequence[RunData], differences: Sequence[Difference]) -> Iterable[str]:
    for entry in data:
        if entry.run.status not in (Status.OK, None):
            ended = f"run {entry.run.id} ended {entry.run.status.value}"
            yield f"{ended}: {entry.run.reason}" if entry.run.reason else ended
        if entry.run.status is None:
            yield f"run {entry.run.id} has not ended: rows may grow"
    if any(entry.run != entry.baseline_run for entry in differences):
        yield "some rows are judged against another run: their trials were not interleaved, so drift is not cancelled"
    if any(entry.judgement.verdict is Verdict.UNDECIDED for entry in differences):
        yield "undecided is an answer: more repetitions, or a higher ceiling, are needed before these rows are ranked"
    for entry in data:
        happened = outcomes_of(entry.cells, entry.trials) if entry.supports else ()
        yield from (f"doctor and run disagree on {line}" for line in disagreements(entry.supports, happened))
