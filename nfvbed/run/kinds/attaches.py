"""Executes the tests of a mobile core's control plane: attaches, sessions, functions that die."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from statistics import median

from nfvbed.errors import UnsupportedError
from nfvbed.patience import patient
from nfvbed.records import Deployment, Status
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome
from nfvbed.run.kinds.freeports import ports_free
from nfvbed.sites.hosted import require_host
from nfvbed.spec.bearers import BearerTable
from nfvbed.spec.testkinds.attaches import AttachRateTest, RestorationTest, SessionsTest
from nfvbed.units import NS_PER_S
from nfvbed.vnfs.epc.carrying import BearerReport
from nfvbed.vnfs.epc.live import LiveCore, absence, absence_of_bearers, at_work, carry_each
from nfvbed.vnfs.epc.reports import AttachReport
from nfvbed.vnfs.epc.reports import Outcome as UeOutcome

NS_PER_MS = 1_000_000
RETURN_S = patient(30.0)
"""How long frames may take to come over all bearers again, once the UEs are attached."""
_PACED = (
    "The emulated eNB begins at most 20 attaches in 9.5 s: the serving gateway has transactions for no more. These"
    " pauses are left out of the attach rate and of latency."
)
_RESTARTS = "Functions are restarted before each {} attaches at most: MME and nextepc's PCRF do not refill their pools."
_CONTROL = "Signalling goes over the control network, beside the switch under test."


def attach_rate(cell_test: CellTest, spec: AttachRateTest) -> Outcome[TablePayload]:
    """Attach UEs, as many as asked for with each number in flight.

    Raises:
        UnsupportedError: the site is no host.
        OnboardError, VnfDiedError: functions do not come up, one has ended, or the MME does not answer.
    """

    def measure(core: LiveCore) -> tuple[MeasuredRow, ...]:
        return tuple(row for in_flight in spec.in_flight for row in rate_rows(core, spec, in_flight))

    found = _with_core(cell_test, measure, (_PACED, _RESTARTS.format(spec.most_ues), _CONTROL))
    return _judged(found, "attached", "not one UE attached")


def rate_rows(core: LiveCore, spec: AttachRateTest, in_flight: int) -> Iterator[MeasuredRow]:
    """Attach with one number in flight: a row of what succeeded, and one for each cause of failures."""
    reports, starts_s, left = list[AttachReport](), list[float](), spec.attaches
    while left:
        number = min(left, spec.ues_per_start)
        starts_s.append(core.begin())
        reports.append(core.attach(number, in_flight))
        left -= number
    outcomes = [outcome for report in reports for outcome in report.outcomes]
    busy_s = sum(report.busy_ns for report in reports) / NS_PER_S
    succeeded = sum(report.attached for report in reports)
    label = f"{in_flight} in flight"
    yield MeasuredRow(
        label=label,
        parameters={"in_flight": in_flight, "attaches": spec.attaches},
        quantities=(
            Quantity(name="attach rate", value=succeeded / busy_s if succeeded else None, unit="attaches/s"),
            *latencies("attach", outcomes),
            Quantity(name="attached", value=succeeded, unit="UEs"),
            Quantity(name="failed", value=len(outcomes) - succeeded, unit="UEs"),
            Quantity(name="starts of the functions", value=len(starts_s), unit=""),
            _spread("start of the functions", starts_s, "s"),
        ),
        reason=_unread(reports),
    )
    causes = Counter(outcome.failure for outcome in outcomes if outcome.failure)
    for cause, count in causes.most_common():
        yield MeasuredRow(
            label=f"{label}: {cause}",
            parameters={"in_flight": in_flight, "cause": cause},
            quantities=(Quantity(name="failed", value=count, unit="UEs"),),
        )


def sessions(cell_test: CellTest, spec: SessionsTest) -> Outcome[TablePayload]:
    """Attach UEs and send frames over each one's bearer, twice; then repeat cycles of attach and detach.

    Raises:
        UnsupportedError: the site is no host, or single bearers cannot be tried from here.
        OnboardError, VnfDiedError: as `attach_rate`.
    """
    deployment = cell_test.setup.deployment

    def measure(core: LiveCore) -> tuple[MeasuredRow, ...]:
        rows = [_session_row(core, spec, deployment, number) for number in spec.ues]
        return (*rows, _cycles_row(core, spec, deployment)) if spec.cycles else tuple(rows)

    notes = (
        f"Over each bearer {spec.frames} numbered frames go each way, one bearer after the other; it carries where all"
        f" of them come, byte for byte as they must be. Held: once more, {spec.hold_s:g} s later.",
        _RESTARTS.format(spec.most_ues),
    )
    found = _with_core(cell_test, measure, notes, over_bearers=True)
    return _judged(found, "carrying", "not one bearer carried frames both ways")


def _session_row(core: LiveCore, spec: SessionsTest, deployment: Deployment, number: int) -> MeasuredRow:
    core.begin()
    table = core.attached(number)
    core.freeze()
    first = carry_each(deployment, table, spec.frames)
    time.sleep(spec.hold_s)
    held = carry_each(deployment, table, spec.frames)
    return MeasuredRow(
        label=f"{number} {'UE' if number == 1 else 'UEs'}",
        parameters={"ues": number, "hold_s": spec.hold_s, "frames": spec.frames},
        quantities=(
            Quantity(name="carrying, held", value=carrying(held), unit="bearers"),
            Quantity(name="carrying", value=carrying(first), unit="bearers"),
            Quantity(name="attached", value=len(table.bearers), unit="UEs"),
            *missing((*first, *held)),
        ),
    )


def _cycles_row(core: LiveCore, spec: SessionsTest, deployment: Deployment) -> MeasuredRow:
    core.begin()
    attaches, detaches = list[UeOutcome](), list[UeOutcome]()
    alive, left_over, reports = list[int](), list[int](), list[BearerReport]()
    for _ in range(spec.cycles):
        attaches += core.attach(spec.cycle_ues).outcomes
        table = core.bearers()
        found = carry_each(deployment, table, spec.frames)
        detaches += core.detach(spec.cycle_ues).outcomes
        alive.append(carrying(found))
        reports += found
        left_over.append(passing(carry_each(deployment, table, 1)))
    return MeasuredRow(
        label=f"{spec.cycles} cycles of {spec.cycle_ues} UEs",
        parameters={"cycles": spec.cycles, "cycle_ues": spec.cycle_ues, "frames": spec.frames},
        quantities=(
            _spread("carrying", alive, "bearers"),
            _spread("carrying, detached", left_over, "bearers"),
            Quantity(name="attached", value=_succeeded(attaches), unit="UEs"),
            Quantity(name="detached", value=_succeeded(detaches), unit="UEs"),
            *missing(reports),
            *latencies("attach", attaches),
            *latencies("detach", detaches),
        ),
    )


def restoration(cell_test: CellTest, spec: RestorationTest) -> Outcome[TablePayload]:
    """Kill one function after the other, look at the bearers, and start all functions again.

    Raises:
        UnsupportedError, OnboardError, VnfDiedError: as `sessions`.
    """
    deployment = cell_test.setup.deployment

    def measure(core: LiveCore) -> tuple[MeasuredRow, ...]:
        return tuple(_restored_row(core, spec, deployment, function) for function in spec.functions)

    notes = (
        f"A function is killed while {spec.ues} UEs are attached; {spec.settle_s:g} s later frames are sent over each"
        " bearer: it goes on where they come both ways. Then all functions are started again and the UEs attach again:"
        " sessions do not survive in nextepc. Restored: from that start until frames come over all bearers.",
        _RESTARTS.format(spec.most_ues),
    )
    found = _with_core(cell_test, measure, notes, over_bearers=True)
    return _judged(found, "carrying before", "not one bearer carried frames both ways before a function was killed")


def _restored_row(core: LiveCore, spec: RestorationTest, deployment: Deployment, function: str) -> MeasuredRow:
    core.begin()
    table = core.attached(spec.ues)
    before = carrying(_tried(deployment, table, spec.frames))
    core.kill(function)
    time.sleep(spec.settle_s)
    after = carry_each(deployment, table, spec.frames)
    began = time.monotonic_ns()
    start_s = core.begin()
    again = core.attached(spec.ues)
    back = carrying(_tried(deployment, again, spec.frames))
    restored_s = (time.monotonic_ns() - began) / NS_PER_S
    whole = back == len(again.bearers)
    return MeasuredRow(
        label=f"{function} killed",
        parameters={"function": function, "ues": spec.ues, "settle_s": spec.settle_s},
        quantities=(
            Quantity(name="go on", value=carrying(after), unit="bearers"),
            Quantity(name="carrying before", value=before, unit="bearers"),
            Quantity(
                name="uplink alone",
                value=sum(r.uplink.complete and not r.downlink.complete for r in after),
                unit="bearers",
            ),
            Quantity(
                name="downlink alone",
                value=sum(r.downlink.complete and not r.uplink.complete for r in after),
                unit="bearers",
            ),
            Quantity(name="restored", value=restored_s if whole else None, unit="s"),
            Quantity(name="start of the functions", value=start_s, unit="s"),
        ),
        reason="" if whole else f"frames came over {back} of {len(again.bearers)} bearers within {RETURN_S:g} s",
    )


def _tried(deployment: Deployment, table: BearerTable, frames: int) -> tuple[BearerReport, ...]:
    """Send until frames come over all bearers, for a while at most, and return what came last."""
    deadline = time.monotonic() + RETURN_S
    while True:
        found = carry_each(deployment, table, frames)
        if carrying(found) == len(found) or time.monotonic() > deadline:
            return found


def _with_core(
    cell_test: CellTest,
    measure: Callable[[LiveCore], tuple[MeasuredRow, ...]],
    notes: tuple[str, ...],
    *,
    over_bearers: bool = False,
) -> Outcome[TablePayload]:
    """Measure on the deployment's mobile core; where it has none, the test does not apply."""
    deployment = cell_test.setup.deployment
    reason = absence(deployment)
    if reason:
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    host = require_host(cell_test.setup.site, deployment, "a mobile core's control plane")
    if not over_bearers:
        with at_work(deployment, host.workspace) as core:
            rows = measure(core)
        return Outcome(TablePayload(rows=rows, notes=notes))
    reason = absence_of_bearers(deployment)
    if reason:
        raise UnsupportedError("the bearers of single UEs cannot be tried", observed=reason)
    with ports_free(cell_test), at_work(deployment, host.workspace) as core:
        rows = measure(core)
    return Outcome(TablePayload(rows=rows, notes=notes))


def _judged(found: Outcome[TablePayload], counted: str, nothing: str) -> Outcome[TablePayload]:
    """Return an outcome, as failed where nothing at all came through, by the count that tells."""
    rows = found.payload.rows if found.payload is not None else ()
    counts = [one.value for row in rows for one in row.quantities if one.name == counted]
    return replace(found, nothing=nothing) if counts and not any(counts) else found


def carrying(reports: Sequence[BearerReport]) -> int:
    """Count the bearers over which every frame came both ways."""
    return sum(report.uplink.complete and report.downlink.complete for report in reports)


def passing(reports: Sequence[BearerReport]) -> int:
    """Count the bearers over which any frame came."""
    return sum(bool(report.uplink.received or report.downlink.received) for report in reports)


def missing(reports: Sequence[BearerReport]) -> tuple[Quantity, ...]:
    """Return the frames that did not come, by direction, and those that came otherwise than they must."""
    lost = {
        way: sum(getattr(report, way).sent - getattr(report, way).received for report in reports)
        for way in ("uplink", "downlink")
    }
    wrong = sum(report.uplink.wrong + report.downlink.wrong for report in reports)
    return (
        *(Quantity(name=f"missing {way}", value=count, unit="frames") for way, count in lost.items()),
        Quantity(name="wrong", value=wrong, unit="frames"),
    )


def latencies(name: str, outcomes: Sequence[UeOutcome]) -> tuple[Quantity, ...]:
    """Return P50, P99 and the greatest of those that succeeded; not available where none did."""
    times_ms = sorted(outcome.duration_ns / NS_PER_MS for outcome in outcomes if not outcome.failure)
    shares = ((f"{name} P50", 0.5), (f"{name} P99", 0.99), (f"longest {name}", 1.0))
    return tuple(Quantity(name=title, value=percentile(times_ms, share), unit="ms") for title, share in shares)


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """Return the least value that so large a share is not above (nearest rank); None: there are none."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)] if ordered else None


def _succeeded(outcomes: Sequence[UeOutcome]) -> int:
    return sum(not outcome.failure for outcome in outcomes)


def _spread(name: str, values: Sequence[float], unit: str) -> Quantity:
    return Quantity(name=name, value=median(values), unit=unit, low=min(values), high=max(values))


def _unread(reports: Sequence[AttachReport]) -> str:
    count = sum(report.malformed for report in reports)
    return f"{count} messages of the MME's could not be read: see the eNB's log" if count else ""
