"""Executes the test of what a packet costs: a trial that is only counted, and one that is traced as well."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from nfvbed.errors import UnsupportedError
from nfvbed.measure.task import TrialTask
from nfvbed.measure.telemetry import perf, rows
from nfvbed.measure.telemetry.groups import Group, groups_of
from nfvbed.measure.telemetry.probe import Instruments, Probe, ticks_hold_softirqs
from nfvbed.measure.telemetry.rows import Measured, Trials
from nfvbed.measure.telemetry.times import Traffic, group_times
from nfvbed.measure.telemetry.tracing import CoreTracer
from nfvbed.measure.trial import working_threads
from nfvbed.records import Deployment, Role, Status
from nfvbed.results import MeasuredRow, Reference, TablePayload
from nfvbed.run.kinds.bench import OneClass, Outcome, TestBench
from nfvbed.sites.hosted import require_host
from nfvbed.sites.hostview import HostView
from nfvbed.sites.site import Site
from nfvbed.spec.layout import layout
from nfvbed.spec.testkinds.cost import CostTest
from nfvbed.units import NS_PER_S

NOTES = (
    "A packet's cost is shared among those that the row names: the switch's ports count it at each of them, the "
    "generator as it sends it.",
    "User, system, softirq and guest time add up; a poller's is the whole trial, whatever it found to do.",
    "User is told from system by clock ticks, all else is traced; in brackets the 95 % interval, or the bounds.",
)


def execute(bench: TestBench, spec: CostTest) -> Outcome:
    """Measure both trials and say where the time of a packet went.

    Raises:
        UnsupportedError: on a simulated deployment, which spends no time of a CPU.
        NothingToGoBy: what the load is a part of was not measured.
    """
    if bench.setup.deployment.simulated:
        raise UnsupportedError(
            "a simulated data plane has no cost",
            where=bench.cell.id,
            observed="no thread works for it",
            fix="measure a variant that is deployed",
        )
    return _Execution(bench, spec, *bench.given_load(spec)).outcome()


@dataclass
class _Execution:
    """One test as it is executed."""

    bench: TestBench
    spec: CostTest
    base: Reference | None
    load_pps: int | None
    """Over all directions; None: as much as the port takes."""
    of_switch: tuple[MeasuredRow, ...] = ()
    """What the switch itself counted, in the trial that was counted last."""
    untraced: str = ""
    """Why nothing was traced, where it was to be."""

    def outcome(self) -> Outcome:
        """Measure, and put what was read into rows."""
        support = perf.probe()
        threads = working_threads(self._site, self._deployment, self.bench.setup.info)
        groups = groups_of(self._deployment, threads, self._arrangement_cores())
        one_class = OneClass(self.bench)
        counted = one_class.take(partial(self._counted, groups, support))
        traced = one_class.take(partial(self._traced, groups)) if self.spec.trace else None
        split = traced or counted
        traffic = Traffic(split.record.duration_ns, sum(way.received for way in split.record.directions))
        times = group_times(groups, split.readings, traffic, ticks_hold_softirqs())
        ways = layout(self._deployment.topology).ways
        trials = Trials(counted, traced, times, self.bench.setup.info.tsc_hz, ways)
        found = [rows.group_row(group, trials) for group in groups if self._works(group)]
        found += [row.model_copy(update={"sequence": counted.record.sequence}) for row in self.of_switch]
        if traced is not None and traced.readings.traced is not None:
            found += rows.core_rows(traced.readings.traced, traced.record)
        if self.untraced:
            found.append(MeasuredRow(label="tracing", status=Status.UNSUPPORTED, reason=self.untraced))
        found += rows.hardware_rows(groups, trials, support)
        found += [row for row in (rows.rate_row(trials),) if row is not None]
        return Outcome(TablePayload(reference=self.base, rows=tuple(found), notes=NOTES))

    def _counted(self, groups: Sequence[Group], support: perf.PerfSupport) -> Measured:
        """Measure the trial in which nothing is traced."""
        reader = self._site.switch_reader(self._deployment, self.spec.duration_s)
        with contextlib.ExitStack() as stack:
            counters = None
            if support.events:
                tids = [thread.tid for group in groups for thread in group.threads]
                counters = stack.enter_context(perf.PerfCounters(tids, support.events))
            measured = self._measure(groups, Instruments(counters=counters, switch=reader))
        self.of_switch = reader.rows() if reader else ()
        return measured

    def _traced(self, groups: Sequence[Group]) -> Measured | None:
        """Measure the traced trial; None where this kernel does not let us trace."""
        cores = {core for group in groups for core in group.cores}
        workspace = self._host.workspace
        try:
            tracer = CoreTracer(workspace, cores)
        except UnsupportedError as why:
            self.untraced = str(why)
            return None
        with contextlib.closing(tracer):
            return self._measure(groups, Instruments(tracer=tracer))

    def _measure(self, groups: Sequence[Group], instruments: Instruments) -> Measured:
        threads = [(thread.pid, thread.tid) for group in groups for thread in group.threads]
        probe = Probe(threads, instruments)
        record = self.bench.measure(replace(self._task(), around=lambda: probe))
        return Measured(record, probe.collect())

    def _task(self) -> TrialTask:
        task = self.bench.task()
        rate_pps = None if self.load_pps is None else task.request.share_of(self.load_pps)
        request = replace(task.request, duration_ns=round(self.spec.duration_s * NS_PER_S), rate_pps=rate_pps)
        return replace(task, request=request)

    def _works(self, group: Group) -> bool:
        """Whether there is one: no switch stands in a loop-back."""
        return group.role is not Role.SWITCH or self._site.counters(self._deployment) is not None

    def _arrangement_cores(self) -> tuple[int, ...]:
        return tuple(self._host.arrangement.switch_cores)

    @property
    def _host(self) -> HostView:
        return require_host(self._site, self._deployment, "a packet's cost")

    @property
    def _site(self) -> Site:
        return self.bench.setup.site

    @property
    def _deployment(self) -> Deployment:
        return self.bench.setup.deployment
