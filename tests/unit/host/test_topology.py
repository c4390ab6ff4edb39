"""Reading CPUs from a synthesised /sys."""

import pytest

from nfvbed.host.cores import topology
from nfvbed.host.cores.topology import read_topology
from nfvbed.spec.cpulist import parse_cpu_list


@pytest.mark.parametrize(("text", "cores"), [("0-2,8\n", (0, 1, 2, 8)), ("\n", ()), ("5", (5,)), ("3,1", (1, 3))])
def test_cpu_lists(text, cores):
    assert parse_cpu_list(text) == cores


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_synthesised_machine(tmp_path, monkeypatch):
    cpus = tmp_path / "devices/system/cpu"
    write(cpus / "online", "0-3\n")
    write(cpus / "isolated", "3,9\n")
    for core in range(4):
        write(cpus / f"cpu{core}/topology/thread_siblings_list", f"{core % 2},{core % 2 + 2}\n")
    write(tmp_path / "devices/system/node/node0/cpulist", "0,2\n")
    write(tmp_path / "devices/system/node/node1/cpulist", "1,3\n")
    monkeypatch.setattr(topology, "AFFINITY_AT_START", frozenset({0, 1, 2}))
    monkeypatch.setattr(topology, "_may_run_on", lambda core: True)
    found = read_topology(tmp_path)
    assert found.allowed == (0, 1, 2, 3)
    assert found.isolated == (3,)
    assert found.nodes == ((0, 2), (1, 3))
    assert found.siblings == ((0, 2), (1, 3))
    assert found.node_of(3) == 1
    assert found.siblings_of(3) == {1, 3}


def test_isolated_core_that_a_cpuset_forbids_is_not_ours(tmp_path, monkeypatch):
    write(tmp_path / "devices/system/cpu/online", "0-2")
    write(tmp_path / "devices/system/cpu/isolated", "2")
    monkeypatch.setattr(topology, "AFFINITY_AT_START", frozenset({0, 1}))
    monkeypatch.setattr(topology, "_may_run_on", lambda core: False)
    found = read_topology(tmp_path)
    assert found.allowed == (0, 1)
    assert found.isolated == ()
    assert found.nodes == ()
