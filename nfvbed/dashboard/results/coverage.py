"""Which variant was measured in which topology, how long ago, and why where it was not."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from nfvbed.records import Readiness, Record, Status, Support
from nfvbed.store.summaries import CoverageSummary


class State(StrEnum):
    """What is known of a variant in a topology."""

    MEASURED = "measured"
    UNSUPPORTED = "unsupported"
    BLOCKED = "blocked"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not applicable"
    INTERRUPTED = "interrupted"
    NOT_ENDED = "not ended"
    NEVER = "never measured"


class CoverageCell(Record):
    """A variant in a topology."""

    topology: str
    state: State
    reason: str = ""
    """Why there is no number, or why there is no newer one."""
    run: str | None = None
    """The newest that says so."""
    started_at: str | None = None
    age_days: float | None = None


class CoverageRow(Record):
    """A variant in all topologies."""

    variant: str
    places: tuple[CoverageCell, ...]


class Coverage(Record):
    """All variants that were tried, or that the newest doctor's report names."""

    topologies: tuple[str, ...]
    rows: tuple[CoverageRow, ...]


def coverage_of(covered: Sequence[CoverageSummary], supports: Sequence[Support], now: datetime) -> Coverage:
    """Return the coverage of every variant in every topology.

    Args:
        covered: newest first.
        supports: the newest answers on variants; they explain what has no row.
        now: with a time zone.
    """
    topologies = tuple(sorted({entry.topology for entry in covered}, key=by_length))
    answers = {support.variant: support for support in supports}
    found: dict[tuple[str, str], list[CoverageSummary]] = {}
    for entry in covered:
        found.setdefault((entry.variant, entry.topology), []).append(entry)
    variants = sorted({entry.variant for entry in covered} | set(answers))
    return Coverage(
        topologies=topologies,
        rows=tuple(
            CoverageRow(
                variant=variant,
                places=tuple(
                    _place(topology, found.get((variant, topology), []), answers.get(variant), now)
                    for topology in topologies
                ),
            )
            for variant in variants
        ),
    )


def age_days(moment: str, now: datetime) -> float:
    """Return how many days ago a stored time was."""
    return (now - datetime.fromisoformat(moment)).total_seconds() / 86_400


def _place(topology: str, entries: Sequence[CoverageSummary], support: Support | None, now: datetime) -> CoverageCell:
    if not entries:
        return _never(topology, support)
    measured = next((entry for entry in entries if _state(entry) is State.MEASURED), None)
    shown, newest = measured or entries[0], entries[0]
    reason = shown.reason
    if measured is not None:
        since = f"{_state(newest).value} since: {newest.reason or 'no reason'}" if newest.run != measured.run else ""
        reason = "; ".join(part for part in (_of_a_run_that(measured), since) if part)
    return CoverageCell(
        topology=topology,
        state=_state(shown),
        reason=reason,
        run=shown.run,
        started_at=shown.started_at,
        age_days=age_days(shown.started_at, now),
    )


def _of_a_run_that(entry: CoverageSummary) -> str:
    """Return how the run of measured cells ended, where that was not well: they did not fail, and others did."""
    ended = entry.run_status
    return "" if ended in (None, Status.OK) else f"in a run that ended {ended.value}"


def _never(topology: str, support: Support | None) -> CoverageCell:
    if support is not None and support.readiness is Readiness.UNSUPPORTED:
        return CoverageCell(topology=topology, state=State.UNSUPPORTED, reason=support.reason)
    return CoverageCell(topology=topology, state=State.NEVER, reason="no run has it in its plan")


STATES: Mapping[Status, State] = {
    Status.OK: State.MEASURED,
    Status.UNSUPPORTED: State.UNSUPPORTED,
    Status.BLOCKED: State.BLOCKED,
    Status.FAILED: State.FAILED,
    Status.SKIPPED: State.SKIPPED,
    Status.NOT_APPLICABLE: State.NOT_APPLICABLE,
    Status.INTERRUPTED: State.INTERRUPTED,
}


def _state(entry: CoverageSummary) -> State:
    """Return the state of cells; without a status of their own they ended as their run did."""
    status = entry.status or entry.run_status
    return State.NOT_ENDED if status is None else STATES[status]


def by_length(topology: str) -> tuple[bool, int, str]:
    """Return a key that orders topologies by their VNFs: p2p, pvp, pvvp, pv3p; those that are no chain come last."""
    named = re.search(r"\d+(?=p$)", topology.removeprefix("p2"))
    is_chain = re.fullmatch(r"[pvc\d]+", topology) is not None
    return not is_chain, int(named[0]) if named else topology.count("v"), topology
