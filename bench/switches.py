"""A switch with its generator that is frozen between its trials, so that two can be deployed and one alone polls.

Both are deployed for the whole benchmark: the trials of a pair are then a second apart, within which the host seldom
moves its cores, and nothing has to be deployed between them.
"""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.catalogue import data_plane
from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.errors import DeployError
from nfvbed.host.cores import coredistance
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.procfs import read_sample
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import CellRole, CoreDistance, Deployment
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.traffic.generator import Generator, TrafficRequest, TrafficResult
from nfvbed.units import NS_PER_S

WARM_UP_NS = NS_PER_S // 10
GENERATOR_MIB = 512
QUIET_LOOK_S = 0.2
QUIET_SHARE = 0.85


@dataclass(frozen=True)
class Trial:
    """One trial of one side."""

    side: str
    rate_mpps: float
    """Received, both directions."""
    loss_ratio: float
    distance: CoreDistance
    stolen_ratio: float
    """Part of the trial in which the switch's or the generator's thread could have run and another one did."""
    generator_busy_ratio: float
    """Part of the trial in which the generator moved frames."""
    refused_ratio: float
    """Frames that the port did not take at first, over those sent: a full switch pushes back, a slow generator never
    sees it."""


def wait_until_quiet(cores: Sequence[int], deadline: float) -> bool:
    """Wait until nothing else runs on the cores, seen with every switch frozen.

    Returns:
        Whether they became idle before the deadline (of the monotonic clock).
    """
    while time.monotonic() < deadline:
        before = idle_ticks(cores)
        time.sleep(QUIET_LOOK_S)
        lowest = min(after - then for after, then in zip(idle_ticks(cores), before, strict=True))
        if lowest >= QUIET_SHARE * QUIET_LOOK_S * os.sysconf("SC_CLK_TCK"):
            return True
    return False


def idle_ticks(cores: Sequence[int]) -> list[int]:
    """Read how long the cores have been idle since boot, in clock ticks (proc(5), /proc/stat)."""
    lines = {line.split()[0]: line.split() for line in Path("/proc/stat").read_text().splitlines()}
    return [int(lines[f"cpu{core}"][4]) for core in cores]


class Switch:
    """A data plane that is deployed, frozen but for its trials."""

    def __init__(self, side: str, role: CellRole, variant: Variant, arrangement: Arrangement, root: Path) -> None:
        self.side = side
        self._arrangement = arrangement
        self._root = root
        self.workspace = Workspace.create()
        try:
            self._plane: DataPlane = data_plane(variant, role)
            request = DeployRequest(variant, layout("p2p"), self.workspace, arrangement)
            self.deployment: Deployment = self._plane.deploy(request)
            starter = GeneratorStarter(self.workspace, arrangement, GENERATOR_MIB, root)
            self._generator: Generator = starter.start(self.deployment)
            self._thread = wait_for_links(self._generator)
            self._signal(signal.SIGSTOP)
        except BaseException:
            self.close()
            raise

    def trial(self, frame_size: int, duration_s: float) -> Trial:
        """Wake it up, warm it up, measure once, freeze it again."""
        with self._awake():
            self._run(frame_size, WARM_UP_NS)
            threads = [(t.pid, t.tid) for t in self._plane.work_threads(self.deployment)]
            threads.append((self._thread.pid, self._thread.thread_id))
            before = self._distance()
            sample = read_sample(threads)
            result = self._run(frame_size, int(duration_s * NS_PER_S))
            later = read_sample(threads)
            after = self._distance()
            self._plane.verify(self.deployment)
        waited = max(later.threads[t].wait_ns - sample.threads[t].wait_ns for t in threads)
        received = sum(d.received for d in result.directions)
        sent = sum(d.sent for d in result.directions)
        return Trial(
            side=self.side,
            rate_mpps=received * 1e3 / result.duration_ns,
            loss_ratio=sum(d.lost for d in result.directions) / sent if sent else 0.0,
            distance=CoreDistance(before=before, after=after),
            stolen_ratio=waited / (later.at_ns - sample.at_ns),
            generator_busy_ratio=result.busy_ns / result.duration_ns,
            refused_ratio=sum(d.refused for d in result.directions) / sent if sent else 0.0,
        )

    def close(self) -> None:
        """Take it down; a frozen process hears no SIGTERM, so it is woken up first.

        Raises:
            DeployError: something is left.
        """
        if hasattr(self, "deployment"):
            self._signal(signal.SIGCONT)
        problems = self.workspace.close()
        if problems:
            raise DeployError(f"{self.side} is not completely gone", observed="; ".join(problems))

    @contextmanager
    def _awake(self) -> Iterator[None]:
        self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)

    def _signal(self, number: int) -> None:
        for pid in {thread.pid for thread in self.deployment.threads}:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue  # it has died; `verify` says so
        time.sleep(0.005)

    def _run(self, frame_size: int, duration_ns: int) -> TrafficResult:
        # Without stamps and checksums the generator is faster, and its own limit hides less of the difference.
        request = TrafficRequest(duration_ns=duration_ns, frame_size=frame_size, stamp=False, check=False)
        return self._generator.run(request)

    def _distance(self) -> float:
        cores = (self._arrangement.switch_cores[0], self._arrangement.generator_core)
        return coredistance.measure(cores, self._root).one_way_ns
