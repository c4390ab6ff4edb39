"""CPU time is shared among the roles; what cannot be distinguished says so."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.host.cores.procfs import read_sample
from nfvbed.measure.cpu import account, without_hidden_work
from nfvbed.records import NOT_SEPARABLE, QualityWarning, Role, WorkThread
from nfvbed.records.readings import CoreSample, CpuSample, ThreadSample

MS = 1_000_000
DURATION = 500 * MS


def thread(role: Role, tid: int, core: int | None, name: str = "t", polling: bool = False) -> WorkThread:
    return WorkThread(role=role, pid=tid, tid=tid, core=core, name=name, polling=polling)


def used(run_ms: int, user_ms: int = 0, system_ms: int = 0, wait_ms: int = 0) -> ThreadSample:
    return ThreadSample(user_ms * MS, system_ms * MS, 0, run_ms * MS, wait_ms * MS)


def window(
    threads: dict[int, ThreadSample], softirq_ms: int = 0, steal_ms: int = 0, length_ms: int = 500
) -> tuple[CpuSample, CpuSample]:
    zero = used(0)
    before = CpuSample(0, {(t, t): zero for t in threads}, {c: CoreSample(0, 0) for c in (0, 1)})
    cores = {0: CoreSample(softirq_ms * MS, steal_ms * MS), 1: CoreSample(0, 0)}
    return before, CpuSample(length_ms * MS, {(t, t): sample for t, sample in threads.items()}, cores)


def test_a_pollers_busy_time_is_its_share_of_the_trial() -> None:
    switch = thread(Role.SWITCH, 1, 0, "pmd", polling=True)
    report = account([switch], *window({1: used(600, user_ms=590, system_ms=10)}, length_ms=600), DURATION)
    assert report.times[0].busy_ns == DURATION
    assert report.times[0].source.startswith("schedstat run time; poller")
    assert report.warnings == ()


def test_the_generators_drain_is_not_its_work() -> None:
    generator = thread(Role.GENERATOR, 2, 1, polling=True)
    report = account([generator], *window({2: used(560, user_ms=560)}, length_ms=700), DURATION)
    assert report.times[0].busy_ns == DURATION


def test_run_time_is_exact_and_split_by_ticks() -> None:
    switch = thread(Role.SWITCH, 1, 0)
    report = account([switch], *window({1: used(203, user_ms=50, system_ms=150)}, softirq_ms=20), DURATION)
    (time,) = report.times
    assert time.busy_ns == 203 * MS
    assert time.user_ns == 203 * MS // 4
    assert time.user_ns + time.system_ns == time.busy_ns
    assert time.softirq_ns == 20 * MS


def test_without_a_tick_the_split_is_not_known() -> None:
    report = account([thread(Role.SWITCH, 1, 0)], *window({1: used(3)}), DURATION)
    assert report.times[0].user_ns == NOT_SEPARABLE
    assert report.times[0].busy_ns == 3 * MS


def test_ksoftirqd_stands_for_the_softirq_time_of_its_core() -> None:
    threads = [thread(Role.SWITCH, 1, 0, "ksoftirqd/0")]
    report = account(threads, *window({1: used(40)}, softirq_ms=310), DURATION)
    assert report.times[0].busy_ns == 310 * MS
    assert "softirq ticks" in report.times[0].source


def test_two_roles_on_one_core_share_its_softirq_time_and_say_so() -> None:
    threads = [thread(Role.SWITCH, 1, 0, "ksoftirqd/0"), thread(Role.GENERATOR, 2, 0)]
    report = account(threads, *window({1: used(40), 2: used(100, user_ms=100)}, softirq_ms=310), DURATION)
    assert QualityWarning.CORES_SHARED in report.warnings
    assert [t.busy_ns for t in report.times] == [NOT_SEPARABLE, 100 * MS]
    assert all(t.softirq_ns == NOT_SEPARABLE for t in report.times)


def test_a_thread_that_is_gone_is_not_separable_and_named() -> None:
    before, after = window({1: used(40)})
    report = account([thread(Role.SWITCH, 9, 0, "napi/br0")], before, after, DURATION)
    assert report.times[0].busy_ns == NOT_SEPARABLE
    assert "gone: napi/br0" in report.times[0].source


def test_threads_of_one_role_on_one_core_are_one_row() -> None:
    threads = [thread(Role.SWITCH, 1, 0), thread(Role.SWITCH, 2, 0), thread(Role.SWITCH, 3, 1)]
    report = account(threads, *window({1: used(40), 2: used(50), 3: used(60)}), DURATION)
    assert [t.busy_ns for t in report.times] == [90 * MS, 60 * MS]


def test_stolen_time_is_a_warning_from_one_percent_on() -> None:
    switch = thread(Role.SWITCH, 1, 0)
    assert account([switch], *window({1: used(400, wait_ms=5)}), DURATION).warnings == ()
    waited = account([switch], *window({1: used(400, wait_ms=6)}), DURATION)
    assert waited.warnings == (QualityWarning.CPU_STOLEN,)
    stolen = account([switch], *window({1: used(400)}, steal_ms=10), DURATION)
    assert stolen.warnings == (QualityWarning.CPU_STOLEN,)


def test_stolen_time_is_that_of_the_thread_of_a_role_that_lost_most() -> None:
    threads = [thread(Role.SWITCH, 1, 0), thread(Role.SWITCH, 2, 1), thread(Role.GENERATOR, 3, 1)]
    read = window({1: used(400, wait_ms=5), 2: used(400), 3: used(100, wait_ms=420)}, steal_ms=10)
    stolen = {(time.role, time.core): time.stolen_ns for time in account(threads, *read, DURATION).times}
    assert stolen[Role.SWITCH, 0] == 15 * MS
    # The two on core 1 wait for each other by design: 20 ms of the generator's wait are another's.
    assert (stolen[Role.GENERATOR, 1], stolen[Role.SWITCH, 1]) == (20 * MS, 0)


def test_threads_of_ours_that_wait_for_each_other_are_not_robbed() -> None:
    ports = [thread(Role.SWITCH, 1, 0), thread(Role.SWITCH, 2, 0)]
    taking_turns = account(ports, *window({1: used(250, wait_ms=240), 2: used(245, wait_ms=250)}), DURATION)
    assert taking_turns.warnings == ()
    robbed = account(ports, *window({1: used(200, wait_ms=260), 2: used(200, wait_ms=200)}), DURATION)
    assert robbed.warnings == (QualityWarning.CPU_STOLEN,)


STAT = "12 (a) b (c) R 1 12 12 0 -1 4194560 90 0 0 0 31 7 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 4 0\n"


def test_proc_is_read_as_the_kernel_writes_it(tmp_path: Path) -> None:
    folder = tmp_path / "12" / "task" / "12"
    folder.mkdir(parents=True)
    (folder / "stat").write_text(STAT)
    (folder / "schedstat").write_text("381234567 4567 89\n")
    (tmp_path / "stat").write_text(
        "cpu  1 2 3 4 5 6 7 8 9 0\ncpu0 1 2 3 4 5 6 70 80 9 0\ncpu1 0 0 0 0 0 0 1 0 0 0\nintr 5\n"
    )
    sample = read_sample([(12, 12), (99, 99)], tmp_path)
    assert list(sample.threads) == [(12, 12)]
    seen = sample.threads[(12, 12)]
    assert (seen.user_ns, seen.system_ns) == (310 * MS, 70 * MS)
    assert (seen.run_ns, seen.wait_ns, seen.guest_ns) == (381_234_567, 4567, 40 * MS)
    assert sample.cores[0] == CoreSample(softirq_ns=700 * MS, steal_ns=800 * MS)
    assert sample.steal_step_ns == 10 * MS


def test_stolen_time_is_exact_where_the_kernels_account_is_proved(tmp_path: Path) -> None:
    (tmp_path / "stat").write_text("cpu0 1 2 3 4 5 6 70 80 9 0\ncpu1 0 0 0 0 0 0 1 0 0 0\n")
    asked: list[tuple[dict[int, int], int]] = []

    def account_of(told_ns: Mapping[int, int], step_ns: int) -> dict[int, int]:
        asked.append((dict(told_ns), step_ns))
        return {0: 801_234_567}

    sample = read_sample([], tmp_path, account_of)
    assert asked == [({0: 800 * MS, 1: 0}, 10 * MS)]
    assert [sample.cores[core].exact_steal_ns for core in (0, 1)] == [801_234_567, None]


@pytest.mark.parametrize(
    ("before", "after", "steal_ns", "step_ns"),
    [(5_000, 95_000, 90_000, 0), (None, 95_000, 10 * MS, 10 * MS), (5_000, None, 10 * MS, 10 * MS)],
)
def test_a_trial_has_exact_stolen_time_of_two_exact_readings_alone(
    before: int | None, after: int | None, steal_ns: int, step_ns: int
) -> None:
    first, last = window({1: used(500)})
    first = replace(first, cores={0: CoreSample(0, 0, before)}, steal_step_ns=10 * MS)
    last = replace(last, cores={0: CoreSample(0, 10 * MS, after)}, steal_step_ns=10 * MS)
    (time,) = account([thread(Role.SWITCH, 1, 0)], first, last, DURATION).times
    assert (time.steal_ns, time.steal_step_ns) == (steal_ns, step_ns)


def kernel_vnf(vnf_ms: int, polling_switch: bool, frames: int) -> dict[Role, object]:
    threads = [thread(Role.SWITCH, 1, 0, polling=polling_switch), thread(Role.VNF, 2, 1, "napi/vnf1-0")]
    report = account(threads, *window({1: used(300, 300), 2: used(vnf_ms, vnf_ms)}), DURATION)
    return {time.role: time.busy_ns for time in without_hidden_work(report.times, threads, frames)}


def test_a_kernel_vnf_that_works_in_the_switchs_softirq_cannot_be_reported_from_it() -> None:
    assert kernel_vnf(0, False, 1000) == {Role.SWITCH: NOT_SEPARABLE, Role.VNF: NOT_SEPARABLE}


def test_a_polling_switch_did_not_do_the_work_of_a_kernel_vnf() -> None:
    assert kernel_vnf(0, True, 1000) == {Role.SWITCH: 300 * MS, Role.VNF: NOT_SEPARABLE}


def test_a_vnf_that_ran_or_had_nothing_to_do_is_distinguished() -> None:
    assert kernel_vnf(50, False, 1000) == {Role.SWITCH: 300 * MS, Role.VNF: 50 * MS}
    assert kernel_vnf(0, False, 0) == {Role.SWITCH: 300 * MS, Role.VNF: 0}


@pytest.mark.parametrize(("frames", "known"), [(1_000, True), (100_000, False), (0, True)])
def test_a_kernel_switch_whose_threads_hardly_ran_did_its_work_elsewhere(frames: int, known: bool) -> None:
    threads = [thread(Role.SWITCH, 1, 0, "napi/p0"), thread(Role.VNF, 2, 1, "testpmd")]
    report = account(threads, *window({1: used(1, 0, 1), 2: used(300, 100, 200)}), DURATION)
    reported = {time.role: time.busy_ns for time in without_hidden_work(report.times, threads, frames)}
    assert reported == {Role.SWITCH: MS if known else NOT_SEPARABLE, Role.VNF: 300 * MS}
