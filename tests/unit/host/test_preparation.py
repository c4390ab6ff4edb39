"""A host's preparation on recorded trees: what is planned, written, left alone and set back; and its gain."""

import contextlib

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.preparation.gain import measure_gain
from nfvbed.host.preparation.preparing import set_file
from nfvbed.host.preparation.topics import mask_of, own_group, plan_topics
from nfvbed.host.probes.host import Host
from nfvbed.host.probes.stalls import Stalls
from nfvbed.records.preparation import Change, Plan

SERVER = {
    "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave",
    "sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors": "performance powersave",
    "sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "performance",
    "sys/devices/system/cpu/cpufreq/policy1/scaling_available_governors": "performance powersave",
    "sys/devices/system/cpu/cpuidle/current_driver": "intel_idle",
    "dev/cpu_dma_latency": "",
    "proc/irq/default_smp_affinity": "ff",
    "proc/irq/24/smp_affinity_list": "0-7",
    "proc/irq/25/smp_affinity_list": "0-1",
    "sys/devices/virtual/workqueue/cpumask": "ff",
    "sys/kernel/mm/ksm/run": "1",
    "proc/sys/kernel/numa_balancing": "1",
    "proc/sys/kernel/watchdog": "0",
    "sys/devices/system/cpu/online": "0-7",
    "proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0",
    "proc/self/cgroup": "0::/user.slice/session-1.scope",
    "sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory",
    "sys/fs/cgroup/cgroup.subtree_control": "cpu memory",
    "sys/fs/cgroup/system.slice/cgroup.procs": "",
    "sys/fs/cgroup/system.slice/cpuset.cpus": "",
    "sys/fs/cgroup/user.slice/cgroup.procs": "",
    "sys/fs/cgroup/user.slice/cpuset.cpus": "0-1",
    "sys/fs/cgroup/nfvbed-a1/cgroup.procs": "",
}
GUEST = {
    "sys/devices/system/cpu/cpuidle/current_driver": "none",
    "dev/cpu_dma_latency": "",
    "proc/irq/24/smp_affinity_list": "0-1",
    "sys/devices/virtual/workqueue/cpumask": "3",
    "proc/sys/kernel/watchdog": "1",
}


def host(root, tree):
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return Host(root)


def test_a_servers_topics_are_planned_for_the_cores_that_measure(tmp_path):
    plans = {one.topic: one for one in plan_topics(host(tmp_path, SERVER), range(8), (2, 3, 4, 5, 6, 7))}
    assert {topic: one.plan for topic, one in plans.items()} == {
        "CPU governor": Plan.SET,
        "idle states": Plan.SET,
        "interrupts": Plan.SET,
        "unbound workqueues": Plan.SET,
        "other processes": Plan.SET,
        "page merging (KSM)": Plan.SET,
        "NUMA balancing": Plan.SET,
        "lock-up watchdogs": Plan.ALREADY,
    }
    (governor,) = plans["CPU governor"].changes
    assert governor.path.endswith("policy0/scaling_governor"), "policy1 has it already"
    assert plans["idle states"].holds == "dev/cpu_dma_latency"
    moved = {change.path: change.value for change in plans["interrupts"].changes}
    assert moved == {"proc/irq/24/smp_affinity_list": "0-1", "proc/irq/default_smp_affinity": "00000003"}
    kept_off = {change.path: change.value for change in plans["other processes"].changes}
    assert list(kept_off.items()) == [
        ("sys/fs/cgroup/cgroup.subtree_control", "+cpuset"),
        ("sys/fs/cgroup/system.slice/cpuset.cpus", "0-1"),
    ], "the user's have it already, and nfvbed's own may use all"
    assert plans["other processes"].group == "sys/fs/cgroup/nfvbed-prepared"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"sys/fs/cgroup/cgroup.controllers": "cpu io memory"}, "no cpusets in cgroup version 2"),
        ({"proc/mounts": "tmpfs /run tmpfs rw 0 0"}, "no cpusets in cgroup version 2"),
        ({"sys/fs/cgroup/cgroup.type": "domain"}, "in a container"),
    ],
)
def test_other_processes_stay_where_cpusets_are_not_the_hosts(tmp_path, changed, why):
    plans = {one.topic: one for one in plan_topics(host(tmp_path, SERVER | changed), range(8), range(2, 8))}
    assert plans["other processes"].plan is Plan.LACKING
    assert why in plans["other processes"].summary


def test_the_own_cgroup_is_that_of_version_2(tmp_path):
    server = host(tmp_path, SERVER | {"proc/self/cgroup": "4:memory:/other\n0::/user.slice/session-1.scope"})
    assert own_group(server, "sys/fs/cgroup") == "sys/fs/cgroup/user.slice/session-1.scope"


def test_what_a_guest_lacks_is_told_with_the_reason(tmp_path):
    plans = {one.topic: one for one in plan_topics(host(tmp_path, GUEST), range(2), (0, 1))}
    lacking = {topic: one.summary for topic, one in plans.items() if one.plan is Plan.LACKING}
    assert lacking.keys() == plans.keys() - {"lock-up watchdogs"}
    assert "no frequency scaling" in lacking["CPU governor"]
    assert "no driver of idle states" in lacking["idle states"]
    assert "need all cores" in lacking["interrupts"] and "need all cores" in lacking["unbound workqueues"]
    assert "no cpusets in cgroup version 2" in lacking["other processes"]
    assert "no /sys/kernel/mm/ksm/run" in lacking["page merging (KSM)"]


@pytest.mark.parametrize(
    ("cores", "mask"),
    [((0, 1), "00000003"), ((32,), "00000001,00000000"), ((), "00000000"), ((31, 33), "00000002,80000000")],
)
def test_masks_are_in_words_of_32_bits(cores, mask):
    assert mask_of(cores) == mask


def test_what_was_set_is_set_back_by_the_ledger(tmp_path):
    server = host(tmp_path, SERVER)
    ledger = Ledger.create(tmp_path / "ledger.jsonl", this_process(persistent=False))
    for plan in plan_topics(server, range(8), range(2, 8)):
        assert all(set_file(change, server, ledger) for change in plan.changes)
    assert server.text("sys/fs/cgroup/system.slice/cpuset.cpus") == "0-1"
    assert server.text("sys/kernel/mm/ksm/run") == "0"
    assert server.text("sys/devices/virtual/workqueue/cpumask") == "00000003"
    assert ledger.undo_all() == []
    undone_otherwise = {
        "sys/fs/cgroup/cgroup.subtree_control": "-cpuset",
        "sys/fs/cgroup/system.slice/cpuset.cpus": "0-7",
    }
    assert {name: server.text(name) for name in SERVER} == SERVER | undone_otherwise


def test_a_file_that_takes_no_value_is_left_alone_and_another_one_is_an_error(tmp_path):
    server = host(tmp_path, SERVER)
    ledger = Ledger.create(tmp_path / "ledger.jsonl", this_process(persistent=False))
    assert not set_file(Change(path="proc/irq/99/smp_affinity_list", value="0", may_refuse=True), server, ledger)
    with pytest.raises(PrerequisiteError, match="cannot be prepared"):
        set_file(Change(path="proc/sys/kernel/absent", value="0"), server, ledger)
    assert ledger.entries == ()


def test_a_gain_is_of_pairs_in_alternating_order():
    order, is_prepared = [], []

    @contextlib.contextmanager
    def prepare():
        is_prepared.append(True)
        yield
        is_prepared.clear()

    def measure():
        order.append(bool(is_prepared))
        return (Stalls(0, 1, 1 if is_prepared else 5, 1, 100), Stalls(1, 0, 0, 0, 100))

    rounds = measure_gain(prepare, 2, measure)
    assert order == [False, True, True, False]
    assert [(one.prepared, one.as_found) for one in rounds] == [(0.01, 0.05)] * 2
