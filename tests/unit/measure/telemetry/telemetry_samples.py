"""Readings with known answers: one second, a million frames."""

from nfvbed.measure.telemetry.groups import Group, groups_of
from nfvbed.measure.telemetry.probe import Readings
from nfvbed.measure.telemetry.threads import Switches, ThreadUse
from nfvbed.measure.telemetry.tracedtimes import CoreTimes, TracedTimes
from nfvbed.records import (
    Cost,
    Deployment,
    DirectionCounts,
    Engine,
    Role,
    TrialRecord,
    VnfHandle,
    VnfKind,
    WorkThread,
)
from nfvbed.records.readings import ThreadSample
from nfvbed.records.results import ResultKind
from tests.sample_records import RUN

SECOND = 1_000_000_000
FRAMES = 1_000_000


def thread(role: Role, tid: int, core: int | None, polling: bool = False) -> WorkThread:
    return WorkThread(role=role, pid=tid, tid=tid, core=core, name=f"t{tid}", polling=polling)


SWITCH = thread(Role.SWITCH, 10, 0)
PMD = thread(Role.SWITCH, 11, 0, polling=True)
GENERATOR = thread(Role.GENERATOR, 20, 1, polling=True)
VNF = thread(Role.VNF, 30, 1)


def use(
    run_ns: int,
    user: int = 0,
    system: int = 0,
    kernel: bool = False,
    guest: int = 0,
    switches: tuple[int, int] = (0, 0),
) -> ThreadUse:
    """Return what a thread used; kinds of time in clock ticks of 10 ms."""
    tick = 10_000_000
    cpu = ThreadSample(user * tick, system * tick, guest * tick, run_ns, 0)
    return ThreadUse(cpu, Switches(*switches), kernel)


def readings(uses: dict[WorkThread, ThreadUse], traced: TracedTimes | None = None, window_ns: int = SECOND) -> Readings:
    return Readings(window_ns, {(one.pid, one.tid): used for one, used in uses.items()}, traced)


def traced(*cores: CoreTimes, lost: int = 0) -> TracedTimes:
    return TracedTimes(dict(enumerate(cores)), SECOND, lost)


def core(on: dict[int, int], network_ns: int = 0, inside: dict[int, int] | None = None) -> CoreTimes:
    return CoreTimes({"NET_RX": network_ns}, inside or {}, on, 1, 1)


def groups(*threads: WorkThread, vnfs: int = 0) -> tuple[Group, ...]:
    handles = tuple(
        VnfHandle(name=f"v{n}", kind=VnfKind.PROCESS, forwarding="io", ports=(), pids=(30 + n,)) for n in range(vnfs)
    )
    deployment = Deployment(id="d", variant="v", site="lab", topology="p2p", ports=(), vnfs=handles)
    return groups_of(deployment, threads, (0,))


def record(cost: Cost | None = None, busy_ns: int = SECOND // 2, sequence: int = 1, rate: int = FRAMES) -> TrialRecord:
    half = DirectionCounts(intended=FRAMES, sent=FRAMES, received=FRAMES // 2, lost=FRAMES // 2)
    return TrialRecord(
        run=RUN, cell="c", sequence=sequence, round=1, preset=ResultKind.COST, started_at="", intended_load_pps=None,
        offered_load_pps=2 * FRAMES, forwarded_rate_pps=rate, directions=(half, half), duration_ns=SECOND,
        generator_busy_ns=busy_ns, cost=cost, switch_counters={"packets": 4 * FRAMES},
        engine=Engine(name="e", version="1"),
    )  # fmt: skip
