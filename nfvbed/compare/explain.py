"""One row taken apart: each of its trials with what became of it, then visits, pairs and the verdict that they make."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.differences.differences import Difference
from nfvbed.compare.rows.choice import AUTO
from nfvbed.compare.rows.hosts import HostPlacement, HostState, stolen_ns
from nfvbed.compare.rows.labelling import OF_A_VISIT
from nfvbed.compare.rows.paced import NEAR_COMMON, common_loads, traffic_of
from nfvbed.compare.rows.placement import MIXED, SINGLE
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.compare.rows.visits import ALL_STATES
from nfvbed.compare.verdict import Pair, Rules
from nfvbed.errors import UnknownNameError
from nfvbed.records import Preset, QualityWarning, Record, Role, Status, TrialPreset, TrialRecord
from nfvbed.records.results import ResultKind


class TrialUse(StrEnum):
    """What became of a trial."""

    MATCHED = "matched"
    """In the row's rate, and in its round's pair, which is matched in the trial's class."""
    ALL_STATES = "all-states"
    """In the row's rate, whatever state the host was in."""
    GIVEN_LOAD = "given-load"
    """At the row's own half load, or at the load that all share."""
    TEST = "test"
    """Used by a test beside the maximum receive rate."""
    UNUSED = "unused"


class ExplainedTrial(Record):
    """One trial of the row."""

    sequence: int
    round: int
    preset: TrialPreset
    started_at: str
    duration_ns: int
    intended_load_pps: int | None
    forwarded_rate_pps: int
    placement: str
    """Its class; `mixed`: it changed."""
    before_ns: float | None
    """Core distance."""
    after_ns: float | None
    stolen_ns: dict[Role, int]
    """By role, of the thread that lost most; a role of which nothing is known is left out."""
    stolen_ratio: float | None
    """Part of the trial in which the thread that lost most was kept from its core."""
    warnings: tuple[QualityWarning, ...]
    status: Status
    use: TrialUse
    why: str
    """In words."""


class Explanation(Record):
    """All that a row's rate and verdicts rest on."""

    row: CellSummary
    """The row, with its visits (`mrr.visits`), limits and ceilings."""
    placement: HostPlacement
    host: HostState
    trials: tuple[ExplainedTrial, ...]
    """In the order in which they were measured."""
    difference: Difference | None
    """To what it is judged against, with the pairs; None for the baseline itself."""
    baseline_of: tuple[Difference, ...] = ()
    """Differences of the rows that are judged against this one."""
    common_load_pps: int | None = None
    """The load that the variants of its traffic point shared in the end."""
    rules: Rules
    """Those of the verdicts."""
    notes: tuple[str, ...] = ()
    searches: tuple[MeasuredTest, ...] = ()
    """Throughput searches of its cell, and those of testpmd that they are relative to, in the order they ended."""


def explain(data: Sequence[RunData], cell: str, options: ComparisonOptions | None = None) -> Explanation:
    """Return what a row rests on: its trials with their use, its pairs and its differences.

    Args:
        data: the runs to compare; the cell is that of the first run that has it.
        cell: its id, or the end of an id that only one cell has; a ceiling too.

    Raises:
        UnknownNameError: no cell, or several, have that name.
        NotComparableError: the class asked for was not found.
    """
    options = options or ComparisonOptions()
    comparison = compare(data, options)
    row = _find([*comparison.rows, *comparison.ceilings], cell)
    entry = next(run for run in data if run.run.id == row.run)
    labels = {(point.run, point.sequence): point.label for point in comparison.distances}
    found = comparison.difference(row)
    others = tuple(d for d in comparison.differences if (d.baseline_run, d.baseline_cell) == (row.run, row.cell))
    judged = found or next(iter(others), None)
    pairs = {pair.round: pair for pair in judged.pairs} if judged else {}
    record = next(known for known in entry.cells if known.id == row.cell)
    load = common_loads(entry.cells, entry.trials).get(traffic_of(record))
    wanted = ALL_STATES if options.placement_class == AUTO else options.placement_class
    trials = []
    for trial in entry.trials:
        if trial.cell != row.cell:
            continue
        label = labels.get((row.run, trial.sequence), SINGLE)
        use = _use(trial, label, pairs.get(trial.round), load, wanted)
        if record.status is Status.FAILED and trial.status is Status.OK:
            use = TrialUse.UNUSED, "its cell failed"
        trials.append(_explained(trial, label, *use))
    return Explanation(
        row=row,
        placement=next(host for host in comparison.placement if host.host_hash == row.host_hash),
        host=next(host for host in comparison.hosts if host.host_hash == row.host_hash),
        trials=tuple(trials),
        difference=found,
        baseline_of=others,
        common_load_pps=load,
        rules=comparison.rules,
        notes=_notes(comparison, row),
        searches=tuple(_searches(comparison, row)),
    )


def _searches(comparison: Comparison, row: CellSummary) -> Iterable[MeasuredTest]:
    found = [test for test in comparison.tests if test.result.kind is ResultKind.SEARCH and test.run == row.run]
    partners = {test.result.payload.get("relative_to") for test in found if test.cell == row.cell}
    return (test for test in found if test.cell == row.cell or test.cell in partners)


def _find(rows: Sequence[CellSummary], cell: str) -> CellSummary:
    fitting = [row for row in rows if row.cell == cell] or [row for row in rows if row.cell.endswith(cell)]
    names = list(dict.fromkeys(row.cell for row in fitting))
    if len(names) == 1:
        return fitting[0]
    known = names or list(dict.fromkeys(row.cell for row in rows))
    raise UnknownNameError(
        f"{'several cells end' if names else 'no cell is named'} {cell!r}",
        observed=", ".join(known) or "the run has none",
        fix="name one of them in full",
    )


def _explained(trial: TrialRecord, label: str, use: TrialUse, why: str) -> ExplainedTrial:
    distance, stolen = trial.core_distance_ns, stolen_ns(trial)
    by_role: dict[Role, int] = {}
    for entry in trial.cpu:
        if entry.stolen_ns is not None:
            by_role[entry.role] = max(entry.stolen_ns, by_role.get(entry.role, 0))
    return ExplainedTrial(
        sequence=trial.sequence,
        round=trial.round,
        preset=trial.preset,
        started_at=trial.started_at,
        duration_ns=trial.duration_ns,
        intended_load_pps=trial.intended_load_pps,
        forwarded_rate_pps=trial.forwarded_rate_pps,
        placement=label,
        before_ns=distance.before if distance else None,
        after_ns=distance.after if distance else None,
        stolen_ns=by_role,
        stolen_ratio=stolen / trial.duration_ns if stolen is not None and trial.duration_ns else None,
        warnings=trial.warnings,
        status=trial.status,
        use=use,
        why=why,
    )


def _use(trial: TrialRecord, label: str, pair: Pair | None, load_pps: int | None, wanted: str) -> tuple[TrialUse, str]:
    """Return what became of a trial, and why.

    Args:
        pair: the pair of its round; None: its round makes none.
        load_pps: the load that all variants shared in the end.
        wanted: the class that was asked for, or `all`.
    """
    if trial.status is not Status.OK:
        return TrialUse.UNUSED, f"{trial.status.value}: {trial.reason}" if trial.reason else trial.status.value
    if trial.preset not in OF_A_VISIT:
        return TrialUse.TEST, f"of the test {trial.preset.value}"
    if wanted not in (ALL_STATES, label):
        return TrialUse.UNUSED, f"in class {label}, and {wanted} was asked for"
    if trial.preset is not Preset.MRR:
        return _at_a_load(trial, load_pps)
    if pair is None:
        return TrialUse.ALL_STATES, "in the rate; its round makes no pair"
    if pair.placement and pair.placement == label:
        return TrialUse.MATCHED, f"in the rate, and in its round's pair in class {label}"
    if not pair.placement:
        how = "levelled by what each class does" if pair.levelled else "compared over all states"
        return TrialUse.ALL_STATES, f"in the rate; its round is {how}, as the sides share no class"
    changed = "the class changed, and " if label == MIXED else ""
    return TrialUse.ALL_STATES, f"in the rate; {changed}its round's pair is matched in class {pair.placement}"


def _at_a_load(trial: TrialRecord, load_pps: int | None) -> tuple[TrialUse, str]:
    if trial.preset is Preset.PACED:
        return TrialUse.GIVEN_LOAD, "latency and missing frames at its own half load"
    own = trial.intended_load_pps or 0
    if load_pps and abs(own / load_pps - 1) <= NEAR_COMMON:
        return TrialUse.GIVEN_LOAD, "latency and missing frames at the load that all share"
    return TrialUse.UNUSED, f"its load is more than {NEAR_COMMON:.0%} from the one that all share in the end"


def _notes(comparison: Comparison, row: CellSummary) -> tuple[str, ...]:
    """Return the notes on the row, and those on its run."""
    return (*row.notes, *(note for note in comparison.notes if row.run in note))
