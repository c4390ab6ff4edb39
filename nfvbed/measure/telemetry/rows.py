"""The rows of a test of cost: one for each that works, then what was counted beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.measure.telemetry.groups import Group
from nfvbed.measure.telemetry.perf import PerfEvent, PerfSupport
from nfvbed.measure.telemetry.probe import Readings
from nfvbed.measure.telemetry.times import GroupTimes, Span, worked_ns
from nfvbed.measure.telemetry.tracedtimes import TracedTimes
from nfvbed.records import Role, Status, TrialRecord, WorkThread
from nfvbed.records.results import HZ_PER_PPS, MeasuredRow, Quantity
from nfvbed.units import NS_PER_S

_KINDS = ("user", "system", "softirq", "guest")
_PER_PACKET = "ns/packet"
_CYCLES = "cycles/packet"
PATH = "switch and VNFs"
"""Label of what a frame passes, from one port of the generator to the other."""
GENERATOR_SOURCE = "turns in which the generator moved frames, and its threads of the kernel"
POLLER_SOURCE = "time on its core"
SCHEDULER_SOURCE = "scheduler + softirq tracepoints"
_OWN_CYCLES = frozenset(source for model in CATALOGUE.options for source in model.cycle_sources)
"""Switches that count what their threads spend on packets."""


@dataclass(frozen=True)
class ObservedTrial:
    """One trial with the readings around it."""

    record: TrialRecord
    readings: Readings


@dataclass(frozen=True)
class Trials:
    """The trials of a test of cost."""

    counted: ObservedTrial
    """Nothing was traced in it."""
    traced: ObservedTrial | None
    """Softirqs were; None: they could not be, or were not to be."""
    times: Mapping[str, GroupTimes]
    """By group: of the traced trial, else of the other one."""
    tsc_hz: int
    ways: int = 1
    """VNFs side by side, among which the packets are shared."""

    @property
    def split(self) -> ObservedTrial:
        """The trial whose time is split."""
        return self.traced or self.counted


@dataclass(frozen=True)
class _Cycles:
    quantity: Quantity
    source: str
    reason: str = ""


def group_row(group: Group, trials: Trials) -> MeasuredRow:
    """Return what a packet costs one group that works: time by kind, cycles, context switches."""
    times, counted = trials.times[group.label], trials.counted
    packets, of = packets_of(group, trials.split.record, trials.ways)
    cycles = _cycles(group, trials)
    quantities = [_per_packet(name, getattr(times, name), packets) for name in _KINDS]
    switches, counts = _switches(group, counted, trials.ways)
    quantities += [cycles.quantity, switches]
    parameters: dict[str, str | int | float] = {
        "packets": of,
        "cycles_from": cycles.source,
        "cores": ",".join(str(core) for core in sorted(group.cores)),
        "counted_in_trial": counted.record.sequence,
        "split_in_trial": trials.split.record.sequence,
        **counts,
    }
    rate_pps = counted.record.forwarded_rate_pps
    if rate_pps:
        # As papers have it that divide the clock by the rate; it is shown beside theirs alone.
        parameters[HZ_PER_PPS] = round(trials.tsc_hz / rate_pps, 1)
    if times.ticks is not None:
        parameters["ticks"] = times.ticks
    reasons = [*times.reasons, cycles.reason, "" if packets else "no packets"]
    return MeasuredRow(
        label=group.label,
        parameters=parameters,
        quantities=tuple(quantities),
        sequence=counted.record.sequence,
        reason="; ".join(dict.fromkeys(reason for reason in reasons if reason)),
    )


def packets_of(group: Group, record: TrialRecord, ways: int) -> tuple[int, str]:
    """Return the packets that a group's cost is shared among, and what they are."""
    received = sum(way.received for way in record.directions)
    if group.role is Role.GENERATOR:
        return sum(way.sent for way in record.directions), "sent"
    counted = record.switch_counters.get("packets")
    if group.role is Role.SWITCH and isinstance(counted, int):
        return counted, "received on the switch's ports"
    return received // ways, "received by the generator" + (f", one of {ways} shares" if ways > 1 else "")


def core_rows(traced: TracedTimes, record: TrialRecord) -> tuple[MeasuredRow, ...]:
    """Return a row for every core of what softirqs took there, for any process; by kind in its parameters."""
    received = sum(way.received for way in record.directions)
    rows = []
    for core, found in sorted(traced.cores.items()):
        kinds: dict[str, str | int | float] = {f"{name}_ns": ns for name, ns in sorted(found.by_vector.items())}
        lost: dict[str, str | int | float] = {"lost_events": traced.lost} if traced.lost else {}
        span = Span(float(found.network_ns)) if not traced.lost else Span(None, low=float(found.network_ns))
        rows.append(
            MeasuredRow(
                label=f"softirqs on core {core}",
                parameters={
                    "core": core,
                    "softirqs": found.softirqs,
                    "switches": found.switches,
                    "window_ns": traced.window_ns,
                    "packets": "received by the generator",
                    **kinds,
                    **lost,
                },
                quantities=(_per_packet("softirq", span, received),),
                sequence=record.sequence,
                reason="events found no place in the trace buffer" if traced.lost else "",
            )  # fmt: skip
        )
    return tuple(rows)


def hardware_rows(groups: Iterable[Group], trials: Trials, support: PerfSupport) -> tuple[MeasuredRow, ...]:
    """Return the counts of hardware events a packet, or why there are none.

    Where there are VNFs the last row of counts is of switch and VNFs together.
    """
    rows, working = list[MeasuredRow](), [group for group in groups if group.threads]
    if support.events:
        rows += [_hardware_row(group, trials, support.events) for group in working]
        path = [group for group in working if group.role is not Role.GENERATOR]
        rows += [_path_row(path, trials, support.events)] if any(group.role is Role.VNF for group in path) else []
    if support.refused:
        reason = f"{support.reason}; {support.fix}"
        rows.append(MeasuredRow(label="hardware counters", status=Status.UNSUPPORTED, reason=reason))
    return tuple(rows)


def rate_row(trials: Trials) -> MeasuredRow | None:
    """Compare the rates of both trials: what tracing cost, and what else changed meanwhile."""
    if trials.traced is None:
        return None
    traced, plain = trials.traced.record, trials.counted.record
    ratio = traced.forwarded_rate_pps / plain.forwarded_rate_pps if plain.forwarded_rate_pps else None
    return MeasuredRow(
        label="tracing",
        parameters={"counted_in_trial": plain.sequence, "split_in_trial": traced.sequence},
        quantities=(Quantity(name="traced/untraced rate", value=ratio, unit=""),),
        sequence=traced.sequence,
    )


def _per_packet(name: str, span: Span, packets: int) -> Quantity:
    def shared(value: float | None) -> float | None:
        return value / packets if value is not None and packets else None

    return Quantity(name=name, value=shared(span.value), unit=_PER_PACKET, low=shared(span.low), high=shared(span.high))


def _cycles(group: Group, trials: Trials) -> _Cycles:
    """Return a group's busy cycles a packet, from the most exact source there is."""
    cost = trials.counted.record.cost
    if group.role is Role.SWITCH and cost is not None and cost.source in _OWN_CYCLES:
        return _Cycles(Quantity(name="cycles", value=cost.cycles_per_packet, unit=_CYCLES), cost.source)
    packets, _ = packets_of(group, trials.split.record, trials.ways)
    alone, others = (_ran(group, trials.split, polling=polling) for polling in (True, False))
    if group.role is Role.GENERATOR and group.polls:
        # Its own count is of time that passes, also while another thread has its core: that is no work.
        busy_ns = min(trials.split.record.generator_busy_ns, alone) + others
        return _Cycles(_of_time(busy_ns, packets, trials.tsc_hz), GENERATOR_SOURCE)
    if group.polls:
        most = _of_time(alone + others, packets, trials.tsc_hz).value
        quantity = Quantity(name="cycles", value=None, unit=_CYCLES, low=0.0, high=most)
        return _Cycles(quantity, POLLER_SOURCE, "cycles not separable: a poller is always busy")
    total = trials.times[group.label].total
    if total is None or trials.traced is None:
        return _Cycles(Quantity(name="cycles", value=None, unit=_CYCLES), SCHEDULER_SOURCE)
    return _Cycles(_of_time(total, packets, trials.tsc_hz), SCHEDULER_SOURCE)


def _of_time(busy_ns: float, packets: int, tsc_hz: int) -> Quantity:
    value = busy_ns * tsc_hz / NS_PER_S / packets if packets else None
    return Quantity(name="cycles", value=value, unit=_CYCLES)


def _ran(group: Group, measured: ObservedTrial, *, polling: bool) -> float:
    duration_ns = measured.record.duration_ns
    mine = [thread for thread in group.threads if thread.polling is polling]
    return sum(worked_ns(thread, measured.readings, duration_ns) for thread in mine)


def _switches(group: Group, measured: ObservedTrial, ways: int) -> tuple[Quantity, dict[str, str | int | float]]:
    """Return a group's context switches a packet, and how many there were."""
    packets, _ = packets_of(group, measured.record, ways)
    found = [measured.readings.threads.get((thread.pid, thread.tid)) for thread in group.threads]
    known = [use.switches for use in found if use is not None]
    complete = bool(known) and len(known) == len(group.threads) and packets > 0
    total = sum(one.voluntary + one.involuntary for one in known)
    forced: dict[str, str | int | float] = {"involuntary_switches": sum(one.involuntary for one in known)}
    quantity = Quantity(name="context switches", value=total / packets if complete else None, unit="/packet")
    return quantity, {"context_switches": total, **forced} if complete else {}


def _hardware_row(group: Group, trials: Trials, events: Sequence[PerfEvent]) -> MeasuredRow:
    packets, of = packets_of(group, trials.counted.record, trials.ways)
    return _counts_row(group.label, group.threads, (packets, of), trials.counted, events)


def _path_row(path: Sequence[Group], trials: Trials, events: Sequence[PerfEvent]) -> MeasuredRow:
    """Return the counts of all that a frame passes, for each frame that came back."""
    threads = [thread for group in path for thread in group.threads]
    received = sum(way.received for way in trials.counted.record.directions)
    return _counts_row(PATH, threads, (received, "received by the generator"), trials.counted, events)


def _counts_row(
    label: str,
    threads: Sequence[WorkThread],
    packets: tuple[int, str],
    counted: ObservedTrial,
    events: Sequence[PerfEvent],
) -> MeasuredRow:
    counts, (shared_by, of) = counted.readings.hardware, packets
    quantities = []
    for event in events:
        values = [counts.get((thread.tid, event.name)) for thread in threads]
        known = [value for value in values if value is not None]
        value = sum(known) / shared_by if len(known) == len(values) and shared_by else None
        quantities.append(Quantity(name=event.name, value=value, unit="/packet"))
    return MeasuredRow(
        label=f"{label}, hardware counters",
        parameters={"packets": of, "source": "perf_event_open"},
        quantities=tuple(quantities),
        sequence=counted.record.sequence,
    )
