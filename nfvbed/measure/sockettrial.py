"""One run of a socket tool as a trial: everything that is read around it, and the record that comes of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from nfvbed.errors import GeneratorError
from nfvbed.host.cores.procfs import read_sample
from nfvbed.host.workspace.trialsign import trial_going
from nfvbed.measure.cpu import account, without_hidden_work
from nfvbed.measure.segmentcost import PathWork, SystemCalls, polled_cycles, run_ns, segment_costs, waiting
from nfvbed.measure.settling import SETTLING
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import difference, distance, rate_pps
from nfvbed.measure.warnings import frame_warnings, vnf_warnings
from nfvbed.records import (
    CoreDistance,
    CpuTime,
    Deployment,
    QualityWarning,
    Role,
    SwitchCounters,
    TrialRecord,
    WorkThread,
)
from nfvbed.records.readings import Part, available
from nfvbed.sites.site import Site
from nfvbed.traffic.sockets.figures import SocketFigures
from nfvbed.traffic.sockets.hosts import SocketPair
from nfvbed.vnfs.sockets.hosts import SocketEnds

Traffic = Callable[[SocketPair], SocketFigures]
"""Runs a tool between two hosts."""


class SocketMeter:
    """Measures runs of tools on one deployment.

    The loads of a record are the frames that both hosts' devices sent and received, as their kernels count them: a
    frame that is cut later on (segmentation offload) is one.

    Args:
        tsc_hz: rate of the clock that cycles are counted in.
    """

    def __init__(self, site: Site, deployment: Deployment, ends: SocketEnds, tsc_hz: int) -> None:
        self._site = site
        self._deployment = deployment
        self._ends = ends
        self._tsc_hz = tsc_hz

    def measure(self, task: TrialTask, traffic: Traffic) -> tuple[TrialRecord, SocketFigures]:
        """Run a tool once, and return its trial completely described, with the tool's figures.

        Raises:
            SwitchDiedError, VnfDiedError: switch or VNF ended; this comes before a tool's trouble that it may have
                caused.
            GeneratorError: the tool failed.
        """
        with trial_going(task.run):
            return self._measured(task, traffic)

    def _measured(self, task: TrialTask, traffic: Traffic) -> tuple[TrialRecord, SocketFigures]:
        started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        of_deployment = self._site.look(self._deployment, Part.THREADS).threads
        threads = (*(available(of_deployment) or ()), *self._ends.threads)
        window = _Window(self._site, self._deployment, self._ends)
        window.open(threads)
        try:
            figures = traffic(self._ends.pair)
        except GeneratorError:
            self._site.verify(self._deployment)
            raise
        window.close(threads)
        if not self._hides_work(threads):
            costs = segment_costs(figures, window.work, self._tsc_hz)
            figures = replace(figures, figures=(*figures.figures, *costs))
        return self._record(task, started_at, figures, window), figures

    def _record(self, task: TrialTask, started_at: str, figures: SocketFigures, window: "_Window") -> TrialRecord:
        sent, received = window.frames
        return TrialRecord(
            run=task.run,
            cell=task.cell,
            sequence=task.sequence,
            round=task.round,
            preset=task.preset,
            started_at=started_at,
            intended_load_pps=None,
            offered_load_pps=rate_pps(sent, figures.duration_ns),
            forwarded_rate_pps=rate_pps(received, figures.duration_ns),
            directions=figures.directions,
            duration_ns=figures.duration_ns,
            latency_hdr=figures.latency_hdr,
            cpu=window.cpu,
            switch_counters=_described(window.counters, figures) | window.pace,
            core_distance_ns=window.distance,
            engine=figures.engine,
            simulated=self._deployment.simulated,
            warnings=self._warnings((*frame_warnings(figures.directions), *window.warnings)),
        )

    def _warnings(self, found: tuple[QualityWarning, ...]) -> tuple[QualityWarning, ...]:
        all_ = [*vnf_warnings(self._deployment), *found]
        if self._ends.cores.shared or self._shares_with_vnf():
            all_.append(QualityWarning.CORES_SHARED)
        return tuple(dict.fromkeys(all_))

    def _hides_work(self, threads: Sequence[WorkThread]) -> bool:
        """Return whether others than tools, switch and ends work: VNFs, or a process that polls for the ends."""
        polls = any(thread.polling for thread in threads if thread.role is Role.GENERATOR)
        return polls or bool(self._deployment.vnfs)

    def _shares_with_vnf(self) -> bool:
        return any(set(handle.cores) & set(self._ends.cores.all) for handle in self._deployment.vnfs)


class _Window:
    """What is read before and after a run."""

    def __init__(self, site: Site, deployment: Deployment, ends: SocketEnds) -> None:
        self._site = site
        self._deployment = deployment
        self._ends = ends
        self.frames = (0, 0)
        """Frames sent and received by both hosts' devices."""
        self.cpu: tuple[CpuTime, ...] = ()
        self.warnings: tuple[QualityWarning, ...] = ()
        self.counters: SwitchCounters | None = None
        self.distance: CoreDistance | None = None
        self.pace: dict[str, Any] = {}
        """What the record says of the cores' pace."""
        self.work = PathWork(0, 0, SystemCalls(0, 0))

    def open(self, threads: Sequence[WorkThread]) -> None:
        """Read what is to be subtracted."""
        self._settled = SETTLING.wait(lambda: self._site.look(self._deployment, Part.SLOWDOWNS).slowdowns)
        self._before = self._site.look(self._deployment, Part.DISTANCES, Part.COUNTERS)
        self._frames = _frames(self._ends)
        self._calls = SystemCalls.of(waiting(threads, Role.SWITCH))
        self._cpu = read_sample((t.pid, t.tid) for t in threads)

    def close(self, threads: Sequence[WorkThread]) -> None:
        """Read the counters again, and subtract.

        Raises:
            SwitchDiedError, VnfDiedError: switch or VNF ended meanwhile.
        """
        cpu = read_sample((t.pid, t.tid) for t in threads)
        of_switch, of_ends = (waiting(threads, role) for role in (Role.SWITCH, Role.GENERATOR))
        calls = SystemCalls.of(of_switch).since(self._calls)
        switch_ns, receiving_ns = (run_ns(some, self._cpu, cpu) for some in (of_switch, of_ends))
        self._site.verify(self._deployment)
        sent, received = _frames(self._ends)
        self.frames = (sent - self._frames[0], received - self._frames[1])
        after = self._site.look(self._deployment, Part.COUNTERS, Part.SLOWDOWNS, Part.DISTANCES)
        self.pace = self._settled.told(after.slowdowns)
        self.counters = difference(self._before.counters, after.counters)
        self.work = PathWork(switch_ns, receiving_ns, calls, polled_cycles(threads, self.counters))
        self.distance = distance(self._before.distances_ns, after.distances_ns)
        # The whole window: a tool connects and takes leave as well, and threads work for that too.
        length_ns = cpu.at_ns - self._cpu.at_ns
        times = account(threads, self._cpu, cpu, length_ns).times
        self.cpu = without_hidden_work(times, threads, self.frames[1])
        # The tools' threads are not among these: who waits for a tool on its core is not robbed.
        apart = [thread for thread in threads if thread.core not in self._ends.cores.all]
        self.warnings = account(apart, self._cpu, cpu, length_ns).warnings + self._settled.warnings(after.slowdowns)


def _frames(ends: SocketEnds) -> tuple[int, int]:
    both = ends.traffic()
    return sum(found.tx_packets for found in both), sum(found.rx_packets for found in both)


def _described(counters: SwitchCounters | None, figures: SocketFigures) -> dict[str, Any]:
    reported: dict[str, Any] = {
        "tool": {figure.name: figure.value for figure in figures.figures} | {"raw": figures.raw},
    }
    if counters is not None:
        reported |= {"packets": counters.packets, "source": counters.source, "raw": counters.raw}
    return reported
