"""Executes the tests of what a packet costs: where its time goes, and what XDP programs take for it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median_low

from nfvbed.dataplanes.xdp.client import Floor, XdpSwitchClient
from nfvbed.dataplanes.xdp.process import socket_of
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.measure.task import TrialTask
from nfvbed.measure.telemetry import perf, rows
from nfvbed.measure.telemetry.groups import Group, groups_of
from nfvbed.measure.telemetry.probe import Instruments, Probe, ticks_hold_softirqs
from nfvbed.measure.telemetry.rows import ObservedTrial, Trials
from nfvbed.measure.telemetry.times import Traffic, group_times
from nfvbed.measure.telemetry.tracing import CoreTracer
from nfvbed.measure.trial import with_sender
from nfvbed.records import NOT_SEPARABLE, Deployment, Role, Status, TrialRecord
from nfvbed.records.readings import Part, available
from nfvbed.records.results import MeasuredRow, Quantity, Reference, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome, PlacementClassFilter
from nfvbed.sites.hosted import require_host
from nfvbed.sites.hostview import HostView
from nfvbed.sites.site import Site
from nfvbed.spec.layout import layout
from nfvbed.spec.testkinds.cost import CostTest, Task, XdpTasksTest
from nfvbed.spec.tests import label_of
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.units import NS_PER_S, frame_mix

_COST_NOTES = (
    "A packet's cost is shared among those that the row names: the switch's ports count it at each of them, the "
    "generator as it sends it.",
    "User, system, softirq and guest time add up; a poller's is the whole trial, whatever it found to do.",
    "User and system are separated by clock ticks, all else is traced; in brackets the 95 % interval, or the bounds.",
)


def cost(cell_test: CellTest, spec: CostTest) -> Outcome[TablePayload]:
    """Measure both trials and say where the time of a packet went.

    Raises:
        UnsupportedError: on a simulated deployment, which spends no time of a CPU.
        MissingReference: what the load is a part of was not measured.
    """
    if cell_test.setup.deployment.simulated:
        raise UnsupportedError(
            "a simulated data plane has no cost",
            where=cell_test.cell.id,
            observed="no thread works for it",
            fix="measure a variant that is deployed",
        )
    return _CostTrials(cell_test, spec, *cell_test.given_load(spec)).outcome()


@dataclass
class _CostTrials:
    """The trials of one test of the cost of packets."""

    cell_test: CellTest
    spec: CostTest
    base: Reference | None
    load_pps: int | None
    """Over all directions; None: as much as the port takes."""
    own: tuple[MeasuredRow, ...] = ()
    """What switch and VNFs themselves counted, in the trial that was counted last."""
    untraced: str = ""
    """Why nothing was traced, where it was to be."""

    def outcome(self) -> Outcome[TablePayload]:
        """Measure, and put what was read into rows."""
        support = perf.probe()
        threads = with_sender(self._host.work_threads(), self.cell_test.setup.info)
        groups = groups_of(self._deployment, threads, self._arrangement_cores())
        one_class = PlacementClassFilter(self.cell_test)
        counted = one_class.take(partial(self._counted, groups, support))
        traced = one_class.take(partial(self._traced, groups)) if self.spec.trace else None
        split = traced or counted
        traffic = Traffic(split.record.duration_ns, sum(way.received for way in split.record.directions))
        times = group_times(groups, split.readings, traffic, ticks_hold_softirqs())
        ways = layout(self._deployment.topology).ways
        trials = Trials(counted, traced, times, self.cell_test.setup.info.tsc_hz, ways)
        found = [rows.group_row(group, trials) for group in groups if self._works(group)]
        found += [row.model_copy(update={"sequence": counted.record.sequence}) for row in self.own]
        if traced is not None and traced.readings.traced is not None:
            found += rows.core_rows(traced.readings.traced, traced.record)
        if self.untraced:
            found.append(MeasuredRow(label="tracing", status=Status.UNSUPPORTED, reason=self.untraced))
        found += rows.hardware_rows(groups, trials, support)
        found += [row for row in (rows.rate_row(trials),) if row is not None]
        return Outcome(TablePayload(reference=self.base, rows=tuple(found), notes=_COST_NOTES))

    def _counted(self, groups: Sequence[Group], support: perf.PerfSupport) -> ObservedTrial:
        """Measure the trial in which nothing is traced."""
        readers = self._site.own_readers(self._deployment, self.spec.duration_s)
        with ExitStack() as stack:
            counters = None
            if support.events:
                tids = [thread.tid for group in groups for thread in group.threads]
                counters = stack.enter_context(perf.PerfCounters(tids, support.events))
            measured = self._measure(groups, Instruments(counters=counters, own=readers))
        self.own = tuple(row for reader in readers for row in reader.rows())
        return measured

    def _traced(self, groups: Sequence[Group]) -> ObservedTrial | None:
        """Measure the traced trial; None where this kernel does not let us trace."""
        cores = {core for group in groups for core in group.cores}
        workspace = self._host.workspace
        try:
            tracer = CoreTracer(workspace, cores)
        except UnsupportedError as why:
            self.untraced = str(why)
            return None
        with closing(tracer):
            return self._measure(groups, Instruments(tracer=tracer))

    def _measure(self, groups: Sequence[Group], instruments: Instruments) -> ObservedTrial:
        threads = [(thread.pid, thread.tid) for group in groups for thread in group.threads]
        probe = Probe(threads, instruments)
        record = self.cell_test.measure(replace(self._task(), around=lambda: probe))
        return ObservedTrial(record, probe.collect())

    def _task(self) -> TrialTask:
        task = self.cell_test.task()
        rate_pps = None if self.load_pps is None else task.request.share_of(self.load_pps)
        request = replace(task.request, duration_ns=round(self.spec.duration_s * NS_PER_S), rate_pps=rate_pps)
        return replace(task, request=request)

    def _works(self, group: Group) -> bool:
        """Return whether there is a switch: in a loopback there is none."""
        if group.role is not Role.SWITCH:
            return True
        return available(self._site.look(self._deployment, Part.COUNTERS).counters) is not None

    def _arrangement_cores(self) -> tuple[int, ...]:
        return tuple(self._host.arrangement.switch_cores)

    @property
    def _host(self) -> HostView:
        return require_host(self._site, self._deployment, "a packet's cost")

    @property
    def _site(self) -> Site:
        return self.cell_test.setup.site

    @property
    def _deployment(self) -> Deployment:
        return self.cell_test.setup.deployment


SWITCHING = "switch"
"""The program that the ports run beside this test."""
_DROP, _TX = 1, 3
_VERDICTS: dict[Task, int] = {"drop": _DROP, "parse": _DROP, "lookup": _DROP, "rewrite": _TX}
"""What a program must say of the frames here (enum xdp_action)."""
_TITLES: dict[Task, str] = {
    "drop": "A: drop",
    "parse": "B: parse, drop",
    "lookup": "C: parse, look up, drop",
    "rewrite": "D: parse, rewrite, transmit",
}
_CORE_FULL = 0.95

_XDP_NOTES = (
    "Live: frames at maximum load into one veth port, whose receive work and program have the switch's core. A"
    " packet's time is the run time of its NAPI threads over the frames that the ports received, so the driver's work"
    " is in it; cycles are that time by the TSC.",
    "Repeated runs: the kernel runs the program over and over on one frame in the cache (BPF_PROG_TEST_RUN), on the"
    " same core: no driver, no memory, the floor of the program's own cost. The kernel's own figure is a whole number"
    " of ns; the other one is the CPU time of the call over its runs. A's is the cost of the loop itself.",
    "A full core's rate is what the time of a packet comes to, not a rate that was seen, unless the core was full.",
)


def xdp_tasks(cell_test: CellTest, spec: XdpTasksTest) -> Outcome[TablePayload]:
    """Measure every task both ways, and put the switch's own program back on its ports.

    Raises:
        DeployError: the switch does not answer, or a program does not do its task.
        SwitchDiedError, GeneratorError: as `Measurement.measure`.
    """
    reason = _no_tasks_here(cell_test)
    if reason:
        return Outcome(None, Status.NOT_APPLICABLE, reason)
    client = XdpSwitchClient(socket_of(Path(cell_test.setup.deployment.run_directory)))
    tasks = _Tasks(cell_test, spec, client, PlacementClassFilter(cell_test))
    found = [row for task in spec.tasks for row in (tasks.live(task), tasks.repeated(task))]
    return Outcome(TablePayload(rows=tuple(found), notes=_XDP_NOTES))


def _no_tasks_here(cell_test: CellTest) -> str:
    """Return why the tasks are nothing for this cell; empty where they are."""
    deployment, traffic = cell_test.setup.deployment, cell_test.task().request
    if not cell_test.setup.variant.options.takes_programs:
        return "the tasks are XDP programs in the place of the switch's own: they need a variant of data plane xdp"
    if deployment.topology != "p2p":
        return "the tasks are done at the first port: a path through VNFs does not reach them (topology p2p)"
    if traffic.ip != 4 or traffic.vlan is not None:
        return "the tasks parse IPv4 without a VLAN tag (traffic: {ip: 4})"
    if len(frame_mix(traffic.frame_size)) > 1:
        return "a packet's cost is of one frame size, and this cell has a mix of them"
    return ""


@contextmanager
def _running(client: XdpSwitchClient, program: str) -> Iterator[None]:
    """Let the switch's ports run a program in the block, and its own again afterwards."""
    client.use(program)
    try:
        yield
    except BaseException:
        # What failed in the block is what must be reported; a switch that is dead takes no program.
        with suppress(DeployError):
            client.use(SWITCHING)
        raise
    client.use(SWITCHING)


@dataclass(frozen=True)
class _LiveTrial:
    """A trial of an XDP task on frames that a port receives."""

    trial: TrialRecord
    returned: int
    """Frames that came back to the port they were sent from."""

    @property
    def packets(self) -> int:
        """Frames that the switch's ports received."""
        return int(self.trial.switch_counters["packets"])

    @property
    def busy_ns(self) -> int | None:
        """Run time of the threads that did the work; None where they cannot be determined."""
        found = self.trial.switch_counters["raw"].get("napi_run_time_ns")
        separable = self.trial.cost is not None and self.trial.cost.busy_cycles != NOT_SEPARABLE
        return int(found) if separable and found is not None else None

    @property
    def ns_per_packet(self) -> float | None:
        """Time of a packet; None where it cannot be determined, or where none came."""
        return self.busy_ns / self.packets if self.busy_ns is not None and self.packets else None

    @property
    def rate_pps(self) -> float:
        """Frames that were processed, per second."""
        return self.packets * NS_PER_S / self.trial.duration_ns if self.trial.duration_ns else 0.0

    @property
    def busy(self) -> float | None:
        """Part of the trial in which the threads ran."""
        return self.busy_ns / self.trial.duration_ns if self.busy_ns and self.trial.duration_ns else None


@dataclass(frozen=True)
class _Tasks:
    """The measurements of one test of XDP tasks."""

    cell_test: CellTest
    spec: XdpTasksTest
    client: XdpSwitchClient
    one_class: PlacementClassFilter

    def live(self, task: Task) -> MeasuredRow:
        """Measure a task on frames that a port receives; the row shows the median trial by a packet's time."""
        with _running(self.client, task):
            self.cell_test.setup.measures.warm_up(replace(self._request(), duration_ns=NS_PER_S // 10))
            found = [self._trial() for _ in range(self.spec.trials)]
        alike = [seen for seen, fits in found if fits] or [seen for seen, _ in found]
        rate = median_low(seen.rate_pps for seen in alike)
        shown = next(seen for seen in alike if seen.rate_pps == rate)
        if (_VERDICTS[task] == _TX) != (shown.returned > 0):
            raise DeployError(
                f"the program of task {task} does not do what it should",
                where=label_of(self.spec),
                observed=f"{shown.returned} of {shown.packets} frames came back",
                fix="report it with the kernel's version",
            )
        return MeasuredRow(
            label=f"{_TITLES[task]}; live",
            parameters={"task": task, "where": "live", "trials": len(alike)},
            quantities=tuple(self._of_trials(alike)),
            sequence=shown.trial.sequence,
            reason=_not_full(shown),
        )

    def _of_trials(self, alike: list[_LiveTrial]) -> Iterator[Quantity]:
        times = [seen.ns_per_packet for seen in alike if seen.ns_per_packet is not None]
        yield _spread("processed", [seen.rate_pps for seen in alike], "frames/s")
        yield from self._of_times(times)
        yield _spread("core busy", [100 * seen.busy for seen in alike if seen.busy is not None], "%")
        yield _spread("came back", [float(seen.returned) for seen in alike], "frames")

    def _of_times(self, times: list[float]) -> Iterator[Quantity]:
        """Yield a packet's time, in ns, and what follows of it."""
        cycles = self.cell_test.setup.info.tsc_hz / NS_PER_S
        yield _spread("time per packet", times, "ns")
        yield _spread("cycles per packet", [time * cycles for time in times], "")
        yield _spread("rate of a full core", [NS_PER_S / time for time in times], "frames/s")

    def _request(self) -> TrafficRequest:
        return replace(
            self.cell_test.task().request,
            duration_ns=round(self.spec.duration_s * NS_PER_S),
            bidirectional=False,
            backward=False,
            rate_pps=None,
            stamp=False,
        )

    def _trial(self) -> tuple[_LiveTrial, bool]:
        """Measure one trial, and return also whether it is in the class of the test."""
        seen: list[int] = []

        def measure() -> TrialRecord:
            task = replace(
                self.cell_test.task(), request=self._request(), look=lambda result: seen.append(result.foreign[0])
            )
            return self.cell_test.measure(task)

        record = self.one_class.take(measure)
        return _LiveTrial(record, seen[-1]), self.one_class.fits

    def repeated(self, task: Task) -> MeasuredRow:
        """Run a task over and over on one frame."""
        ((size, _),) = frame_mix(self.cell_test.task().request.frame_size)
        found = [self.client.floor(task, self.spec.repeat, size) for _ in range(self.spec.trials)]
        wrong = next((one for one in found if one.verdict != _VERDICTS[task]), None)
        if wrong is not None:
            raise DeployError(
                f"the program of task {task} does not do what it should",
                where="BPF_PROG_TEST_RUN",
                observed=f"verdict {wrong.verdict}, not {_VERDICTS[task]} (enum xdp_action)",
                fix="report it with the kernel's version",
            )
        return MeasuredRow(
            label=f"{_TITLES[task]}; repeated runs",
            parameters={"task": task, "where": "BPF_PROG_TEST_RUN", "repeat": self.spec.repeat},
            quantities=tuple(self._of_floors(found)),
        )

    def _of_floors(self, found: list[Floor]) -> Iterator[Quantity]:
        yield from self._of_times([one.cpu_ns / one.repeat for one in found])
        yield _spread("time by the kernel", [float(one.duration_ns) for one in found], "ns")


def _not_full(shown: _LiveTrial) -> str:
    if shown.busy is None:
        return (
            "the work is part of the sender's softirq: a packet's time cannot be determined (core_use: threaded-napi)"
        )
    if shown.busy < _CORE_FULL:
        return f"the core was not full ({100 * shown.busy:.0f} %): the generator is the limit of the rate, not the task"
    return ""


def _spread(name: str, values: list[float], unit: str) -> Quantity:
    if not values:
        return Quantity(name=name, value=None, unit=unit)
    digits = 0 if unit.startswith("frames") else 1
    value, low, high = (round(number, digits) for number in (median_low(values), min(values), max(values)))
    return Quantity(name=name, value=value, unit=unit, low=low, high=high)
