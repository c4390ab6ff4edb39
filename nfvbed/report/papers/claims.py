"""Published claims on the rounds of the newest run of their experiment."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from nfvbed.compare.claims import ClaimVerdict, Rounds, RuleJudgement, judge_rule, together
from nfvbed.records import CellRecord, CellRole, Record, RunRecord, Status, TrialRecord
from nfvbed.records.results import LoadsPayload, ResultRecord, TablePayload
from nfvbed.records.selection import MEASURED
from nfvbed.report.load import described
from nfvbed.report.page.head import machine
from nfvbed.report.papers.delays import DelayFigure, delay_of
from nfvbed.report.papers.figures import EMULATED, figure_of
from nfvbed.spec.published import Measure, Publication, PublishedClaim, Subject
from nfvbed.spec.testkinds.base import MRR
from nfvbed.store import Store

LAB: Final = "lab"
"""Site that `elsewhere` of a claim speaks of."""


class JudgedClaim(Record):
    """A claim with its verdict."""

    key: str
    text: str
    where: str
    command: str
    """Which measures it."""
    verdict: ClaimVerdict
    why: str
    bounds: str = ""
    rules: tuple[RuleJudgement, ...] = ()
    run: str = ""
    """Run that it was judged on; empty: none."""
    started_at: str = ""
    quick: bool = False
    """Whether that was the quick form."""
    machine: str = ""


class _Lack(Exception):
    """Raised where a subject has no figures; with the reason."""


def judge_claims(
    store: Store | None, publication: Publication, runs: Collection[str] | None = None
) -> tuple[JudgedClaim, ...]:
    """Return the verdicts on a publication's claims.

    Args:
        store: None: there is no store, and nothing has run.
        runs: ids of the runs to look at; None: all.
    """
    known = _ended(store, runs)
    return tuple(_judged(store, known, claim) for claim in publication.claims)


def is_quick(store: Store, run: RunRecord) -> bool:
    """Return whether a run was of its experiment's quick form."""
    return bool(described(store, run.plan_hash).get("experiment", {}).get("quick"))


def _ended(store: Store | None, runs: Collection[str] | None) -> list[RunRecord]:
    if store is None:
        return []
    found = [run for run in store.runs(MEASURED) if run.status is not None]
    return [run for run in found if runs is None or run.id in runs]


def _judged(store: Store | None, runs: Iterable[RunRecord], claim: PublishedClaim) -> JudgedClaim:
    command = f"make run-{claim.experiment}"
    empty = JudgedClaim(
        key=claim.key,
        text=claim.text,
        where=claim.where,
        command=command,
        verdict=ClaimVerdict.NOT_RUN,
        why=f"nothing of {claim.experiment} has run",
        bounds=claim.bounds,
    )
    if not claim.parts:
        return empty.model_copy(update={"verdict": ClaimVerdict.CANNOT, "why": claim.elsewhere})
    run = next((run for run in runs if run.experiment == claim.experiment), None)
    if store is None or run is None:
        if claim.elsewhere:
            return empty.model_copy(update={"verdict": ClaimVerdict.CANNOT, "why": claim.elsewhere})
        return empty
    quick = is_quick(store, run)
    seen = empty.model_copy(
        update={
            "run": run.id,
            "started_at": run.started_at,
            "quick": quick,
            "machine": machine(described(store, run.host_hash)),
        }
    )
    if claim.elsewhere and run.site == LAB:
        return seen.model_copy(update={"verdict": ClaimVerdict.CANNOT, "why": claim.elsewhere})
    if quick and not claim.quick_has_power:
        why = "the quick form has no power for it"
        return seen.model_copy(update={"verdict": ClaimVerdict.UNDECIDED, "why": why})
    return seen.model_copy(update=_verdict(_Figures(store, run), claim))


def _verdict(figures: "_Figures", claim: PublishedClaim) -> Mapping[str, object]:
    judged = []
    for rule in claim.parts:
        measure = rule.measure or claim.measure
        try:
            own, other = figures.rounds(rule.of, measure), figures.rounds(rule.against, measure)
        except _Lack as lack:
            judged.append(RuleJudgement(verdict=ClaimVerdict.CANNOT, told=str(lack)))
            continue
        judged.append(judge_rule(rule, own, other, parts=len(claim.parts)))
    told = "; ".join(
        f"{rule.of.words} against {rule.against.words}: {one.told}"
        for rule, one in zip(claim.parts, judged, strict=True)
    )
    return {"rules": tuple(judged), "verdict": together(judged), "why": told}


class _Figures:
    """The figures of one run by round."""

    def __init__(self, store: Store, run: RunRecord) -> None:
        self._store = store
        self._run = run
        self._results: list[ResultRecord] | None = None
        self._trials: dict[str, dict[int, TrialRecord]] = {}
        self._cells = [cell for cell in store.cells(run.id) if cell.role is CellRole.SUBJECT]

    def rounds(self, subject: Subject, measure: Measure) -> Rounds:
        """Return a positive figure for each round.

        Raises:
            _Lack: there is none, with the reason.
        """
        cells = {cell.id: cell for cell in self._cells if _is_of(subject, cell)}
        if not cells:
            raise _Lack(f"{subject.words} is not among what the run measured")
        found = self._rates(cells) if measure.kind == MRR else self._of_results(cells, subject, measure)
        if not found:
            reasons = dict.fromkeys(cell.reason for cell in cells.values() if cell.reason)
            states = dict.fromkeys(cell.status.value for cell in cells.values() if cell.status is not Status.OK)
            named = ", ".join(f"{key} {value}" for key, value in {**measure.parameters, **subject.parameters}.items())
            lacking = f"no {measure.quantity} with {named}" if named else f"no {measure.quantity}"
            why = lacking if self._is_measured(cells, measure) else "; ".join((*states, *reasons)) or lacking
            raise _Lack(f"{subject.words}: {why}")
        return found

    def _is_measured(self, cells: Mapping[str, CellRecord], measure: Measure) -> bool:
        """Return whether a measure's test ended well, so that whatever else is said of its cells is no reason."""
        mine = (one for one in self._results or () if one.cell in cells and one.kind == measure.kind)
        return any(one.status is Status.OK and one.payload for one in mine)

    def _rates(self, cells: Mapping[str, CellRecord]) -> Rounds:
        rates = [rate for rate in self._store.visit_rates(self._run.id) if rate.cell in cells]
        if any(rate.emulated for rate in rates):
            raise _Lack("its guests were emulated: rates mean nothing")
        return {rate.round: rate.rate_pps for rate in rates if rate.rate_pps > 0}

    def _of_results(self, cells: Mapping[str, CellRecord], subject: Subject, measure: Measure) -> Rounds:
        if self._results is None:
            self._results = self._store.results(self._run.id)
        found, reasons = dict[int, float](), list[str]()
        for entry in self._results:
            if entry.cell not in cells or entry.kind != measure.kind:
                continue
            if EMULATED in entry.warnings:
                raise _Lack("its guests were emulated: rates mean nothing")
            if entry.status is not Status.OK or not entry.payload:
                reasons.append(f"{entry.status.value}: {entry.reason}")
                continue
            if measure.is_delay:
                delay = self._delay(entry, subject, measure)
                found |= {entry.round: float(delay.ns)} if delay.ns else {}
                reasons += [delay.reason] if delay.reason else []
                continue
            rows = TablePayload.model_validate(entry.payload).rows
            seen = figure_of(rows, measure, subject.parameters) if entry.kind.is_table else None
            if seen is not None and seen[2] > 0:
                found[entry.round] = seen[2]
            elif seen is None:
                reasons += [f"{row.status.value}: {row.reason}" for row in rows if row.status is not Status.OK]
        if not found and reasons:
            raise _Lack(f"{subject.words}: {reasons[-1]}")
        return found

    def _delay(self, entry: ResultRecord, subject: Subject, measure: Measure) -> DelayFigure:
        if entry.cell not in self._trials:
            self._trials[entry.cell] = {one.sequence: one for one in self._store.trials(self._run.id, entry.cell)}
        payload = LoadsPayload.model_validate(entry.payload)
        return delay_of(payload, self._trials[entry.cell], measure, subject.parameters)


def _is_of(subject: Subject, cell: CellRecord) -> bool:
    same = (cell.variant, cell.topology) == (subject.variant, subject.topology)
    return same and subject.vnf in ("", cell.vnf) and subject.frame_size in (None, cell.frame_size)
