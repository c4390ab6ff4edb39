"""One trial: everything that is read around the traffic, and the record that comes of it."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Any

from nfvbed.dataplanes.connections import ConnectionTracker
from nfvbed.errors import DeployError, GeneratorError
from nfvbed.host.workspace.trialsign import trial_going
from nfvbed.measure.corewatch import CoreWatch
from nfvbed.measure.cpu import CpuReport, account, without_hidden_work
from nfvbed.measure.sessions import open_sessions, told
from nfvbed.measure.settling import SETTLING
from nfvbed.measure.task import TrialTask
from nfvbed.measure.warnings import flow_warnings, is_wire_limited, traffic_warnings, vnf_warnings
from nfvbed.patience import patient
from nfvbed.records import (
    CONNECTIONS,
    GENERATOR_GAPS,
    NOT_SEPARABLE,
    SESSIONS,
    CellRole,
    CoreDistance,
    CorePair,
    Cost,
    CpuTime,
    Deployment,
    QualityWarning,
    Role,
    Sessions,
    SwitchCounters,
    TrialRecord,
    WorkThread,
    rounding_of,
)
from nfvbed.records.readings import Distances, Part, Unavailable, available
from nfvbed.sites.site import Site
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.units import NS_PER_S

LINK_TIMEOUT_S = patient(10.0)
"""A switch that is the client of a vhost-user socket tries again once a second."""
_LOOK_S = 0.01
MOST_ROUNDING = 0.1
"""Part of a trial's busy cycles that a switch may round by; beyond it they are not separable."""

SWITCHLESS = (CellRole.LOOPBACK, CellRole.VNF)
"""Ceilings in which no switch is deployed."""


class Measurement:
    """Measures trials on one deployment with one generator."""

    def __init__(self, site: Site, deployment: Deployment, generator: Generator) -> None:
        self._site = site
        self._deployment = deployment
        self._generator = generator
        self._info = generator.hello()
        self._watch = CoreWatch()
        self._joined = False
        self._of_site: tuple[QualityWarning, ...] | None = None
        """Warnings about the deployment, once its memory is in use; None: not asked yet."""

    def warm_up(self, request: TrafficRequest) -> None:
        """Wait for the links, then run traffic whose result is thrown away: caches, tables and rings fill.

        Raises:
            GeneratorError: a port stays down, or the generator fails.
            SwitchDiedError: the switch ended.
        """
        with self._signed():
            self._join()
            self._open_sessions(request)
            self._run(request)
            self._site.verify(self._deployment)

    def measure(self, task: TrialTask) -> TrialRecord:
        """Run one trial and return its complete record.

        Raises:
            SwitchDiedError, VnfDiedError: switch or VNF ended; this comes before a generator's trouble that it may have
                caused.
            GeneratorError: the generator failed.
        """
        with self._signed(task.run):
            return self._measured(task)

    def _signed(self, run: str = "") -> AbstractContextManager[None]:
        """Say on this host that a trial is going; a simulated one disturbs none and is disturbed by none."""
        return nullcontext() if self._deployment.simulated else trial_going(run)

    def _measured(self, task: TrialTask) -> TrialRecord:
        site, deployment = self._site, self._deployment
        if not self._joined:
            self._join()
        tracker = self._open_sessions(task.request)
        tracked = tracker.look() if tracker is not None and task.counters else ()
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        counted = (Part.COUNTERS,) if task.counters else ()
        settled = SETTLING.wait(lambda: site.look(deployment, Part.SLOWDOWNS).slowdowns)
        before = site.look(deployment, Part.DISTANCES, Part.THREADS, *counted)
        threads = with_sender(before.threads, self._info)
        # Cores of a simulated host are none of this machine's.
        self._watch.begin(() if deployment.simulated else threads)
        cpu_before = site.look(deployment, Part.CPU, threads=threads).cpu
        result = self._traffic(task)
        cpu_after = site.look(deployment, Part.CPU, threads=threads).cpu
        of_cores = self._watch.end()
        site.verify(deployment)
        connections = tracker.look() if tracker is not None and task.counters else ()
        # The cores last: to measure them is work on the switch's core.
        after = site.look(deployment, *counted, Part.SLOWDOWNS, Part.DISTANCES)
        received = sum(d.received for d in result.directions)
        cpu = account(threads, cpu_before, cpu_after, result.duration_ns)
        times = without_hidden_work(cpu.times, threads, received) + self._without_thread(threads, before.threads)
        of_flows = flow_warnings(task.request, threads)
        of_pace = settled.warnings(after.slowdowns)
        cpu = CpuReport(times, (*cpu.warnings, *of_pace, *of_cores, *of_flows, *self._of_deployment(threads)))
        counters = difference(before.counters, after.counters)
        described = _described(counters, result) | settled.told(after.slowdowns)
        if tracker is not None and task.counters:
            described[CONNECTIONS] = {SESSIONS: task.request.sessions.value, **told(tracked, connections)}
        return TrialRecord(
            run=task.run,
            cell=task.cell,
            sequence=task.sequence,
            round=task.round,
            preset=task.preset,
            renewed=task.renewed,
            started_at=started_at,
            intended_load_pps=intended_load_pps(task.request),
            offered_load_pps=rate_pps(sum(d.sent for d in result.directions), result.duration_ns),
            forwarded_rate_pps=forwarded_rate_pps(task.request, result),
            directions=result.directions,
            duration_ns=result.duration_ns,
            latency_hdr=result.latency_hdr,
            cpu=cpu.times,
            generator_busy_ns=result.busy_ns,
            cost=cost_of(counters, cpu.times, self._info.tsc_hz),
            switch_counters=described,
            core_distance_ns=distance(before.distances_ns, after.distances_ns),
            engine=self._info.engine,
            simulated=deployment.simulated,
            warnings=self._warnings(task, result, cpu),
        )

    def _join(self) -> None:
        """Wait until the links are up, and the switch is joined to them."""
        try:
            self._info = wait_for_links(self._generator)
        except GeneratorError:
            self._site.verify(self._deployment)
            raise
        try:
            self._site.wait_for_generator(self._deployment)
        except DeployError:
            self._generator.hello()  # One that has ended says so: its ports are not joined any more.
            raise
        self._joined = True

    def _open_sessions(self, request: TrafficRequest) -> ConnectionTracker | None:
        """Establish the connections of mirrored traffic where they are tracked; give what looks into the tracking."""
        tracker = self._site.connections(self._deployment)
        if tracker is not None and request.sessions is Sessions.MIRRORED:
            open_sessions(self._run, tracker, request)
        return tracker

    def _traffic(self, task: TrialTask) -> TrafficResult:
        with task.around():
            result = self._run(task.request, task.meanwhile)
        if task.look is not None:
            task.look(result)
        return result

    def _run(self, request: TrafficRequest, meanwhile: Callable[[], None] | None = None) -> TrafficResult:
        try:
            if meanwhile is None:
                return self._generator.run(request)
            if self._deployment.simulated:
                meanwhile()  # It says what will happen: simulated time passes in the trial alone.
                return self._generator.run(request)
            with ThreadPoolExecutor(1) as beside:
                # Not the other way round: processes that are started meanwhile are tied to the thread that starts them.
                traffic = beside.submit(self._generator.run, request)
                meanwhile()
                return traffic.result()
        except GeneratorError:
            self._site.verify(self._deployment)
            raise

    def _of_deployment(self, threads: Sequence[WorkThread]) -> tuple[QualityWarning, ...]:
        if self._of_site is None:
            self._of_site = self._site.warnings(self._deployment, threads)
        return self._of_site

    def _without_thread(
        self, threads: Sequence[WorkThread], of_deployment: tuple[WorkThread, ...] | Unavailable
    ) -> tuple[CpuTime, ...]:
        """Return the roles that work and have no thread, with why their time is not known: it is not zero."""
        deployment = self._deployment
        if deployment.simulated:
            return ()
        expected = [] if deployment.role in SWITCHLESS else [Role.SWITCH]
        expected += [Role.VNF] if deployment.vnfs else []
        seen = {thread.role for thread in threads}
        hidden = "no thread of its own: it works in the sender's softirq"
        why = of_deployment.reason if isinstance(of_deployment, Unavailable) else hidden
        return tuple(_unreported(role, why) for role in expected if role not in seen)

    def _warnings(self, task: TrialTask, result: TrafficResult, cpu: CpuReport) -> tuple[QualityWarning, ...]:
        found = [
            *traffic_warnings(result, task.request.rate_pps is not None),
            *vnf_warnings(self._deployment),
            *cpu.warnings,
        ]
        if is_wire_limited(result, task.request.frame_size, self._info, self._generator.ports):
            found.append(QualityWarning.WIRE_LIMITED)
        if self._deployment.simulated:
            found.append(QualityWarning.SIMULATED)
        return tuple(found)


def with_sender(threads: tuple[WorkThread, ...] | Unavailable, info: GeneratorInfo) -> tuple[WorkThread, ...]:
    """Return the threads that do the packet work, where a site shows them, and the generator's."""
    shown = () if isinstance(threads, Unavailable) else threads
    if not info.pid:
        return shown  # A VNF sends: its threads are among those.
    senders = (
        WorkThread(role=Role.GENERATOR, pid=info.pid, tid=tid, core=core, name="generator", polling=True)
        for tid, core in ((info.thread_id, info.core), *info.more_threads)
    )
    return (*shown, *senders)


def _unreported(role: Role, why: str) -> CpuTime:
    return CpuTime(
        role=role,
        core=None,
        user_ns=NOT_SEPARABLE,
        system_ns=NOT_SEPARABLE,
        softirq_ns=NOT_SEPARABLE,
        guest_ns=NOT_SEPARABLE,
        busy_ns=NOT_SEPARABLE,
        source=why,
    )


def wait_for_links(generator: Generator) -> GeneratorInfo:
    """Wait until both of a generator's ports have a link, and return what it then says of itself.

    Raises:
        GeneratorError: one stays down.
    """
    info = look_for_links(generator, LINK_TIMEOUT_S)
    if not all(info.link_up):
        raise GeneratorError(
            "the generator's ports have no link",
            where=", ".join(p.spec for p, up in zip(generator.ports, info.link_up, strict=True) if not up),
            observed=f"down for {LINK_TIMEOUT_S:g} s",
            fix="see whether the data plane has opened the other side of the port",
        )
    return info


def look_for_links(generator: Generator, patience_s: float) -> GeneratorInfo:
    """Ask a generator until both of its ports have a link, or the time is over; give its last answer."""
    deadline = time.monotonic() + patience_s
    while not all((info := generator.hello()).link_up) and time.monotonic() <= deadline:
        time.sleep(_LOOK_S)
    return info


def rate_pps(frames: int, duration_ns: int) -> int:
    """Return whole frames/s; 0 for a trial in which nothing was sent."""
    return frames * NS_PER_S // duration_ns if duration_ns else 0


def forwarded_rate_pps(request: TrafficRequest, result: TrafficResult) -> int:
    """Return whole frames/s that came back; at maximum load without those that came only in the drain.

    With a given load they are what the load was, and a ring that empties after it is no loss. At maximum load rings are
    full at the end, and what they held is no part of what passed within the trial.
    """
    at_maximum = request.rate_pps is None and request.frames is None
    came = (way.in_time if at_maximum else way.received for way in result.directions)
    return rate_pps(sum(came), result.duration_ns)


def intended_load_pps(request: TrafficRequest) -> int | None:
    """Return the aggregate load that was asked for; None: as much as the port takes."""
    if request.rate_pps is None:
        return None
    return request.rate_pps * request.directions


def difference(before: SwitchCounters | Unavailable, after: SwitchCounters | Unavailable) -> SwitchCounters | None:
    """Subtract two readings; None where one is not available.

    Numbers in `raw` are subtracted where both readings have them; anything else is as it was read last.
    """
    if isinstance(before, Unavailable) or isinstance(after, Unavailable):
        return None
    busy = after.busy_cycles
    if before.busy_cycles == NOT_SEPARABLE or busy == NOT_SEPARABLE:
        busy = NOT_SEPARABLE
    else:
        busy -= before.busy_cycles
    return SwitchCounters(
        packets=after.packets - before.packets,
        busy_cycles=busy,
        rounding_cycles=rounding_of((before, after)),
        source=after.source,
        raw=_subtract(before.raw, after.raw),
    )


def cost_of(counters: SwitchCounters | None, cpu: Sequence[CpuTime], tsc_hz: int) -> Cost | None:
    """Return what the switch spent: its own busy cycles, else its CPU time in TSC cycles; None without counters."""
    if counters is None:
        return None
    if counters.busy_cycles != NOT_SEPARABLE:
        busy, rounding = counters.busy_cycles, counters.rounding_cycles
        if busy < 0:
            source = f"{counters.source}: they ran backwards in this trial"
            return Cost(busy_cycles=NOT_SEPARABLE, packets=counters.packets, source=source)
        if rounding is not None and rounding > MOST_ROUNDING * busy:
            source = f"{counters.source}: to more than {MOST_ROUNDING:.0%} of this trial's"
            return Cost(busy_cycles=NOT_SEPARABLE, packets=counters.packets, source=source)
        return Cost(busy_cycles=busy, rounding_cycles=rounding, packets=counters.packets, source=counters.source)
    mine = [t for t in cpu if t.role is Role.SWITCH]
    busy_ns = 0
    for share in mine:
        if share.busy_ns == NOT_SEPARABLE:
            return Cost(busy_cycles=NOT_SEPARABLE, packets=counters.packets, source=share.source)
        busy_ns += share.busy_ns
    if not mine:
        return Cost(busy_cycles=NOT_SEPARABLE, packets=counters.packets, source=counters.source)
    source = f"CPU time of the switch ({mine[0].source}) at {tsc_hz} Hz; packets: {counters.source}"
    return Cost(busy_cycles=busy_ns * tsc_hz // NS_PER_S, packets=counters.packets, source=source)


def _subtract(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, value in after.items():
        first = before.get(key)
        if isinstance(value, dict):
            changes[key] = _subtract(first if isinstance(first, dict) else {}, value)
        elif _is_number(value) and _is_number(first):
            changes[key] = value - first
        else:
            changes[key] = value
    return changes


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _described(counters: SwitchCounters | None, result: TrafficResult) -> dict[str, Any]:
    described: dict[str, Any] = {"foreign_frames": list(result.foreign)} if any(result.foreign) else {}
    if result.missed:
        described["missed_frames"] = result.missed
    if result.gaps is not None:
        described[GENERATOR_GAPS] = result.gaps.model_dump()
    if counters is not None:
        described |= {"packets": counters.packets, "source": counters.source, "raw": counters.raw}
    return described


def distance(before: Distances | Unavailable, after: Distances | Unavailable) -> CoreDistance | None:
    """Return the greatest of both readings, and each pair where there are several.

    Returns:
        None where one is not available: the host then has one placement class.
    """
    before, after = available(before) or {}, available(after) or {}
    if not before or not after:
        return None
    pairs = [CorePair(cores=pair, before=before[pair], after=after[pair]) for pair in before if pair in after]
    return CoreDistance(
        before=max(before.values()), after=max(after.values()), pairs=tuple(pairs) if len(pairs) > 1 else ()
    )
