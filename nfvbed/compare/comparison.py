"""Runs in, one comparison out: rows over all placement states, and their differences to a baseline."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from nfvbed.compare.advice.advice import Advice, advice_for
from nfvbed.compare.advice.remedies import advice_on
from nfvbed.compare.agreement import disagreements, outcomes_of
from nfvbed.compare.chains import Chain, ShareRequirement, find_chains
from nfvbed.compare.differences.differences import (
    Difference,
    choose_baseline,
    find_differences,
    find_successive,
)
from nfvbed.compare.differences.limits import with_limits
from nfvbed.compare.differences.ranking import RankedRow, Standing, order_of
from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.rows.changes import Ends
from nfvbed.compare.rows.choice import AUTO, ClassChoice, choose_class, every_state
from nfvbed.compare.rows.hidden import EndsOfTrials, HiddenShare, hidden_shares
from nfvbed.compare.rows.hosts import HostPlacement, HostState, placement_of_host, state_of_host
from nfvbed.compare.rows.labelling import analyse_trials
from nfvbed.compare.rows.paced import alone_at, common_loads
from nfvbed.compare.rows.placement import MIXED, PLACEMENT_RULE, SINGLE, Placement
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary, SummaryOptions, summarise, summarise_rate_alone, take_census
from nfvbed.compare.rows.testresults import MeasuredTest, place_results, take_census_of_tests
from nfvbed.compare.rows.testwarnings import with_derived
from nfvbed.compare.rows.visits import ALL_STATES, LabelledTrial
from nfvbed.compare.verdict import VERDICT_RULE, Rules, Verdict
from nfvbed.errors import NotComparableError, UnknownNameError, UsageError
from nfvbed.records import CellRole, Preset, QualityWarning, Record, Status
from nfvbed.records.models import adapter_of
from nfvbed.spec.experiment import BEST

COMPARISON_FORMAT: Final = 10
"""2: rows and differences have VNFs, and there are chains. 3: rows have their ratio to the bare ports. 4: and
the ports as their ceilings have them. 5: rows are over all placement states, with visits, rates by class and trials at
a common load, missing frames in place of loss, and possible limits; differences are paired by round and have their
pairs; there is the hosts' state, and hosts may have more than two classes. 6: chains say what they hold. 7: rows have
their CPU time by kind. 8: rows have an order by the rates that are shown of them. 9: the version of the verdicts' rules
is there. 10: the one class of a host that shows no other is `single`."""
MANY: Final = 6
"""More variants than that are shown in order of their rates, and what was not measured apart from them."""

Labels = dict[tuple[str, int], str]
"""Placement class by (run, sequence)."""
"""Classes before and after by (run, sequence)."""


class ComparisonOptions(Record):
    """How runs are compared: baseline, placement class, rules, variants."""

    baseline: str | None = None
    """A variant; `best`: the highest rate of each traffic point; None: the first one of the first run."""
    placement_class: str = AUTO
    """`auto`: rows over all states, tests beside the MRR in the class in which all cells have enough."""
    rules: Rules = Rules()
    variants: tuple[str, ...] = ()
    """Only these are judged and shown; empty: all. Placement classes and limits rest on all trials of the runs."""
    hold: ShareRequirement = ShareRequirement()
    """Share that chains are asked to hold."""
    order: tuple[str, ...] = ()
    """Variants in the order in which they came, where that is known: each is judged against the one before it, too."""
    latency: bool = True
    """Whether rows have their latency; without it no histogram is decoded."""


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
    verdict_rule: int = VERDICT_RULE
    runs: tuple[str, ...]
    baseline: str
    rules: Rules
    placement: tuple[HostPlacement, ...]
    hosts: tuple[HostState, ...] = ()
    """In the order of `placement`."""
    experiments: tuple[str, ...] = ()
    """Names, of the runs."""
    rows: tuple[CellSummary, ...]
    ceilings: tuple[CellSummary, ...]
    differences: tuple[Difference, ...]
    successive: tuple[Difference, ...] = ()
    """Each variant against the one before it, where they are in an order."""
    order: tuple[RankedRow, ...] = ()
    """How each measured row stands to the highest rate of its traffic point; that first, those of emulated guests
    last."""
    chains: tuple[Chain, ...] = ()
    tests: tuple[MeasuredTest, ...] = ()
    """Results of tests beside the MRR."""
    hidden: tuple[HiddenShare, ...] = ()
    """How many trials of each row and test look whole and are not."""
    advice: dict[QualityWarning, Advice] = {}
    """On every limit and warning that occurs, by what was done."""
    distances: tuple[DistancePoint, ...]
    rigs: dict[str, dict[str, Any]] = {}
    """What the rig hashes of the rows stand for, where it is stored."""
    notes: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[str, ...]:
        """The notes on runs that have not ended, or not well: what they measured before is shown all the same."""
        return tuple(note for note in self.notes if any(note.startswith(f"run {run} ") for run in self.runs))

    @property
    def purpose(self) -> Literal["compare", "survey"]:
        """What it was measured for: verdicts, or ranges and an order."""
        return self.rules.purpose

    @property
    def simulated(self) -> bool:
        """Whether any number in it comes from a simulation."""
        return any(row.simulated for row in (*self.rows, *self.ceilings)) or any(t.result.simulated for t in self.tests)

    def difference(self, row: CellSummary) -> Difference | None:
        """Find a row's difference; the baseline's own row has none."""
        found = (entry for entry in self.differences if (entry.run, entry.cell) == (row.run, row.cell))
        return next(found, None)

    def advice_on(self, kind: QualityWarning) -> Advice:
        """Return the advice on a limit or warning; the general one where nothing here carries it."""
        return self.advice.get(kind) or advice_for(kind)

    @property
    def many(self) -> bool:
        """Whether there are too many variants to look for one among the rows."""
        return len({row.variant for row in self.rows}) > MANY

    @property
    def is_in_order(self) -> bool:
        """Whether rows are shown by rate: with many, with no baseline in particular, and in a survey."""
        return self.many or self.baseline == BEST or self.purpose == "survey"

    def standing(self, row: CellSummary) -> Standing | None:
        """Return how a row stands to the highest rate of its traffic point; None: it was not measured."""
        found = (entry.standing for entry in self.order if (entry.run, entry.cell) == (row.run, row.cell))
        return next(found, None)

    def ranked(self, rows: Sequence[CellSummary]) -> list[CellSummary]:
        """Return rows of one traffic point in order: by rate where an order is shown, else the baseline first.

        By rate the highest comes first, rates that decide nothing after all others, and what was not measured last.
        """
        by_rate = self.is_in_order

        def key(row: CellSummary) -> tuple[bool, bool, float]:
            if not by_rate:
                return False, row.variant != self.baseline, 0.0
            return row.mrr is None, bool(row.unranked), -row.mrr.median_pps if row.mrr else 0.0

        return sorted(rows, key=key)

    @property
    def comparable(self) -> bool:
        """Whether at least one difference has a scope."""
        return any(entry.scope.scope is not Scope.NOT_COMPARABLE for entry in self.differences)


def compare(data: Sequence[RunData], options: ComparisonOptions | None = None) -> Comparison:
    """Return a summary of runs over all placement states, or in one, with every row judged against its baseline.

    Raises:
        UsageError: there is no run, or the baseline is in none of them.
        NotComparableError: the class asked for was not found, or some runs are simulated and others measured.
    """
    options = options or ComparisonOptions()
    if not data:
        raise UsageError("there is no run to compare", fix="nfvbed run EXPERIMENT")
    _require_one_kind(data)
    states = _states_of(data)
    hosts, placements, labels, ends = states.hosts, states.placements, states.labels, states.ends
    choices = {host: _choose(runs, placements[host], labels, options) for host, runs in hosts}
    names = {host: choice.name for host, choice in choices.items()}
    rigs = {key: rig for entry in data for key, rig in entry.rigs.items()}
    rows, ceilings = _rows(data, states, options)
    baseline = choose_baseline(rows, options.baseline)
    differences = find_differences(rows, baseline, rigs, options.rules)
    tests = with_derived(_placed(data, labels, names, options), options.rules, {(row.run, row.cell) for row in rows})
    return Comparison(
        runs=tuple(entry.run.id for entry in data),
        experiments=tuple(entry.run.experiment for entry in data),
        baseline=baseline,
        rules=options.rules,
        placement=tuple(placement_of_host(host, placements[host], choices[host]) for host, _ in hosts),
        hosts=tuple(state_of_host(host, runs, placements[host]) for host, runs in hosts),
        rows=rows,
        ceilings=ceilings,
        differences=differences,
        successive=find_successive(rows, options.order, rigs, options.rules),
        order=order_of(rows, rigs),
        chains=find_chains(rows, options.hold),
        tests=tests,
        hidden=tuple(share for _, runs in hosts for share in hidden_shares(runs, ends)),
        advice=advice_on(rows, tests, data),
        distances=_points(data, labels),
        rigs={row.rig_hash: rigs[row.rig_hash] for row in rows if row.rig_hash in rigs},
        notes=tuple(_notes(data, differences, options.rules)),
    )


def rows_of(data: RunData, options: ComparisonOptions) -> tuple[CellSummary, ...]:
    """Return the rows that `compare` has of one run, with their limits; nothing is judged between them."""
    return _rows((data,), _states_of((data,)), options)[0]


@dataclass(frozen=True)
class _States:
    """The states of the hosts of several runs."""

    hosts: list[tuple[str, list[RunData]]]
    placements: dict[str, Placement]
    labels: Labels
    ends: EndsOfTrials


def _states_of(data: Sequence[RunData]) -> _States:
    hosts = _hosts(data)
    placements = {
        host: analyse_trials([(entry.run.id, trial) for entry in runs for trial in entry.trials])
        for host, runs in hosts
    }
    return _States(hosts, placements, _labels(hosts, placements), _ends(hosts, placements))


def _rows(
    data: Sequence[RunData], states: _States, options: ComparisonOptions
) -> tuple[tuple[CellSummary, ...], tuple[CellSummary, ...]]:
    """Return the rows that are shown, with their limits, and the ceilings."""
    summaries = [
        row
        for entry in data
        for row in _summaries(
            entry, states.placements[entry.run.host_hash].classes, states.labels, states.ends, options
        )
    ]
    ceilings = tuple(row for row in summaries if row.role is not CellRole.SUBJECT)
    subjects = tuple(row for row in summaries if row.role is CellRole.SUBJECT)
    return with_limits(_chosen(subjects, options.variants), ceilings, among=subjects), ceilings


def _require_one_kind(data: Sequence[RunData]) -> None:
    """Refuse simulated runs beside measured ones.

    Raises:
        NotComparableError: there are both.
    """
    simulated = [entry.run.id for entry in data if entry.simulated]
    measured = [entry.run.id for entry in data if not entry.simulated]
    if simulated and measured:
        raise NotComparableError(
            "simulated runs are not compared with measured ones",
            where=f"runs {', '.join(entry.run.id for entry in data)}",
            observed=f"simulated: {', '.join(simulated)}; measured: {', '.join(measured)}",
            fix="name runs of one kind",
        )


def _placed(
    data: Sequence[RunData], labels: Labels, names: Mapping[str, str], options: ComparisonOptions
) -> list[MeasuredTest]:
    placed = [test for entry in data for test in place_results(entry, labels, names[entry.run.host_hash])]
    if not options.variants:
        return placed
    own = [test for test in placed if test.variant in options.variants]
    # What their searches are relative to is no variant, and belongs to them all the same.
    partners = {(test.run, test.result.payload.get("relative_to")) for test in own}
    return [test for test in placed if test.variant in options.variants or (test.run, test.cell) in partners]


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


def _chosen(rows: tuple[CellSummary, ...], variants: Sequence[str]) -> tuple[CellSummary, ...]:
    """Return the rows of these variants; where none is named, all rows.

    Raises:
        UsageError: one of them is in none of the runs.
    """
    known = dict.fromkeys(row.variant for row in rows)
    unknown = [name for name in variants if name not in known]
    if unknown:
        raise UnknownNameError(
            f"no run has variant {unknown[0]!r}",
            observed=f"variants of these runs: {', '.join(known) or 'none'}",
            fix="choose among them",
        )
    return tuple(row for row in rows if not variants or row.variant in variants)


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


def _ends(hosts: list[tuple[str, list[RunData]]], placements: dict[str, Placement]) -> EndsOfTrials:
    found: dict[tuple[str, int], Ends | None] = {}
    for host, runs in hosts:
        keys = [(entry.run.id, trial.sequence) for entry in runs for trial in entry.trials]
        found |= dict(zip(keys, placements[host].ends, strict=True))
    return found


def _by_cell(entry: RunData, labels: Labels, ends: EndsOfTrials | None = None) -> dict[str, list[LabelledTrial]]:
    """Return a run's trials by cell; a cell without trials has an empty list."""
    known, run = ends or {}, entry.run.id
    found: dict[str, list[LabelledTrial]] = {cell.id: [] for cell in entry.cells}
    for trial in entry.trials:
        key = run, trial.sequence
        found.setdefault(trial.cell, []).append(LabelledTrial(trial=trial, label=labels[key], ends=known.get(key)))
    return found


def _summaries(
    entry: RunData, classes: tuple[str, ...], labels: Labels, ends: EndsOfTrials, options: ComparisonOptions
) -> Iterable[CellSummary]:
    wanted = ALL_STATES if options.placement_class == AUTO else options.placement_class
    view = SummaryOptions(
        rules=options.rules,
        classes=classes,
        placement_class=wanted,
        common_loads=common_loads(entry.cells, entry.trials),
        alone=alone_at(entry.cells),
        latency=options.latency,
    )
    trials = _by_cell(entry, labels, ends)
    for cell in entry.cells:
        is_shown = cell.role is not CellRole.SUBJECT or not options.variants or cell.variant in options.variants
        yield (summarise if is_shown else summarise_rate_alone)(entry, cell, trials[cell.id], view)


def _choose(runs: list[RunData], placement: Placement, labels: Labels, options: ComparisonOptions) -> ClassChoice:
    """Return the class for tests beside the MRR; without such tests there is nothing to choose."""
    if options.placement_class == AUTO and not any(entry.results for entry in runs):
        every = ((entry.run.id, trial) for entry in runs for trial in entry.trials if trial.preset is Preset.MRR)
        ended = ((run, trial.sequence) for run, trial in every if trial.status is Status.OK)
        return every_state(sum(labels[key] == MIXED for key in ended))
    trials = {entry.run.id: _by_cell(entry, labels) for entry in runs}
    placed = {entry.run.id: list(place_results(entry, labels, SINGLE)) for entry in runs}
    tested = {entry.run.id: {result.cell for result in entry.results} for entry in runs}
    censuses = [
        take_census_of_tests(placed[entry.run.id], cell.id)
        if tested[entry.run.id]
        else take_census(trials[entry.run.id][cell.id])
        for entry in runs
        for cell in entry.cells
        if cell.role is CellRole.SUBJECT and (not tested[entry.run.id] or cell.id in tested[entry.run.id])
    ]
    return choose_class(censuses, placement.classes, options.rules.needed, options.placement_class)


def _points(data: Sequence[RunData], labels: Labels) -> tuple[DistancePoint, ...]:
    """Return the distances of all trials that ended well; thousands of them, so they are made in one go."""
    found = [
        {
            "run": entry.run.id,
            "cell": trial.cell,
            "sequence": trial.sequence,
            "before_ns": trial.core_distance_ns.before,
            "after_ns": trial.core_distance_ns.after,
            "label": labels[entry.run.id, trial.sequence],
        }
        for entry in data
        for trial in entry.trials
        if trial.core_distance_ns is not None and trial.status is Status.OK
    ]
    points: tuple[DistancePoint, ...] = adapter_of(tuple[DistancePoint, ...]).validate_python(found)
    return points


def _notes(data: Sequence[RunData], differences: Sequence[Difference], rules: Rules) -> Iterable[str]:
    for entry in data:
        if entry.run.status not in (Status.OK, None):
            ended = f"run {entry.run.id} ended {entry.run.status.value}"
            yield f"{ended}: {entry.run.reason}" if entry.run.reason else ended
        if entry.run.status is None:
            yield f"run {entry.run.id} has not ended: rows may grow"
    if any(entry.judgement.unpaired for entry in differences):
        yield "some rows are judged unpaired: they have no rounds in common with theirs, so drift is not cancelled"
    if rules.purpose == "compare" and any(entry.judgement.verdict is Verdict.UNDECIDED for entry in differences):
        yield "undecided is an answer: more rounds, or a higher ceiling, are needed before these rows are ranked"
    for entry in data:
        happened = outcomes_of(entry.cells, entry.trials) if entry.supports else ()
        yield from (f"doctor and run disagree on {line}" for line in disagreements(entry.supports, happened))
