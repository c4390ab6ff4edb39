"""What a segment of TCP costs: times, calls and bytes, shared out over segments."""

from pathlib import Path

import pytest

from nfvbed.measure.segmentcost import PathWork, SystemCalls, polled_cycles, run_ns, segment_costs, waiting
from nfvbed.records import NOT_SEPARABLE, Engine, Role, SwitchCounters, WorkThread
from nfvbed.records.readings import CpuSample, ThreadSample
from nfvbed.records.segments import ALL, CALL_BYTES, CLIENT, CORES_BUSY, RECEIVING, SEGMENT_BYTES, SWITCH, cycles_of
from nfvbed.traffic.sockets.figures import Figure, SocketFigures
from nfvbed.units import NS_PER_S

IO = """rchar: {read}
wchar: 500
syscr: 10
syscw: 5
read_bytes: 0
write_bytes: 0
cancelled_write_bytes: 0
"""


def thread(tid: int, role: Role = Role.SWITCH, *, polling: bool = False) -> WorkThread:
    return WorkThread(role=role, pid=7, tid=tid, core=0, name="x", polling=polling)


def run(**values: float | None) -> SocketFigures:
    figures = tuple(Figure(name.replace("_", " "), value, "") for name, value in values.items())
    return SocketFigures(Engine(name="iperf3", version="3"), 2 * NS_PER_S, figures)


def test_cycles_are_shared_out_over_the_segments_that_arrived():
    segments = 1_000_000
    rate = segments * SEGMENT_BYTES * 8 / 2
    found = segment_costs(
        run(throughput=rate, client_CPU=50.0, server_CPU=25.0),
        PathWork(switch_ns=NS_PER_S // 4, receiving_ns=0, calls=SystemCalls(100, 150_000), polled_cycles=500_000_000),
        tsc_hz=2_000_000_000,
    )
    values = {figure.name: figure.value for figure in found}
    # Half of two seconds at 2 GHz, over a million segments; of the switch a quarter of one, and as much by polling.
    assert values[cycles_of(CLIENT)] == pytest.approx(2000)
    assert values[cycles_of(SWITCH)] == pytest.approx(1000)
    assert values[cycles_of(RECEIVING)] == 0
    assert values[cycles_of(ALL)] == pytest.approx(4000)
    assert values[CORES_BUSY] == pytest.approx(1.0)
    assert values[CALL_BYTES] == pytest.approx(1500)


@pytest.mark.parametrize("lacking", ["throughput", "client CPU", "server CPU"])
def test_a_tool_that_does_not_tell_gives_no_costs(lacking):
    known = {"throughput": 1e9, "client_CPU": 50.0, "server_CPU": 25.0}
    figures = run(**{key: value for key, value in known.items() if key.replace("_", " ") != lacking})
    assert segment_costs(figures, PathWork(1, 1, SystemCalls(1, 1)), 10**9) == ()


def test_a_switch_without_system_calls_has_no_bytes_a_call():
    work = PathWork(1, 1, SystemCalls(0, 0))
    found = segment_costs(run(throughput=1e9, client_CPU=50.0, server_CPU=25.0), work, 10**9)
    assert CALL_BYTES not in {figure.name for figure in found}


def counted(busy: int | str) -> SwitchCounters:
    return SwitchCounters.model_validate({"packets": 1, "busy_cycles": busy, "source": "x"})


def test_of_threads_that_poll_the_cycles_with_frames_count():
    polls, waits = thread(1, polling=True), thread(2)
    assert polled_cycles((polls, waits), counted(70)) == 70
    # Counted of threads whose run time is known, or not told.
    assert polled_cycles((waits,), counted(70)) == 0
    assert polled_cycles((thread(3, Role.GENERATOR, polling=True), waits), counted(70)) == 0
    assert polled_cycles((polls,), counted(NOT_SEPARABLE)) == 0
    assert polled_cycles((polls,), None) == 0


def test_run_times_are_not_of_threads_that_poll():
    threads = (thread(1), thread(2, polling=True), thread(3, Role.GENERATOR))
    assert waiting(threads, Role.SWITCH) == (threads[0],)
    assert waiting(threads, Role.GENERATOR) == (threads[2],)


def sample(**run_times: int) -> CpuSample:
    threads = {(7, int(tid[1:])): ThreadSample(0, 0, 0, ns, 0, 0) for tid, ns in run_times.items()}
    return CpuSample(at_ns=0, threads=threads, cores={}, steal_step_ns=0)


def test_run_times_are_of_threads_that_were_there_at_both_ends():
    threads = (thread(1), thread(2), thread(3))
    assert run_ns(threads, sample(t1=100, t2=50), sample(t1=160, t3=1000)) == 60


def test_calls_and_bytes_are_added_up_over_threads_and_one_that_is_gone_made_none(tmp_path: Path):
    for tid, read in ((1, 1000), (2, 2000)):
        folder = tmp_path / "7" / "task" / str(tid)
        folder.mkdir(parents=True)
        (folder / "io").write_text(IO.format(read=read))
    found = SystemCalls.of((thread(1), thread(2), thread(3)), tmp_path)
    assert found == SystemCalls(30, 4000)
    assert found.since(SystemCalls(10, 1000)) == SystemCalls(20, 3000)
