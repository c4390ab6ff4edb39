"""A noisy neighbour: how many workers, where, with how much memory; and what it does to a comparison."""

import subprocess

import pytest

from nfvbed.compare.rows.rundata import neighbour_line
from nfvbed.errors import ConfigurationError, GeneratorError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.run.neighbour import MeasuresBeside, Neighbour, NeighbourLoad, resolve
from nfvbed.spec.neighbour import NeighbourSpec

SMALL = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,))
WIDE = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(7,), vnf_cores=(2, 3))
CORES = tuple(range(8))
MEMORY = (10_000, 8_000)


def load(arrangement=WIDE, cores=CORES, **spec):
    return resolve(NeighbourSpec(**{"workers": {"cpu": 1}, **spec}), cores, arrangement, MEMORY)


def test_workers_are_counted_as_vsperf_does_and_run_where_no_packet_work_is():
    assert (load().workers, load().cores) == ({"cpu": 8}, (4, 5, 6, 7))
    assert load(reserved_cores=4).workers == {"cpu": 4}
    assert load(reserved_cores=99, load_percent=10).workers == {"cpu": 1}
    assert load(workers={"cpu": 3, "memory": 1}).workers == {"cpu": 6, "memory": 2}


def test_without_a_free_core_it_runs_on_all_and_named_cores_are_kept():
    assert load(SMALL, (0, 1)).cores == (0, 1)
    assert load(cores=CORES, arrangement=WIDE).cores == (4, 5, 6, 7)
    named = resolve(NeighbourSpec(workers={"cpu": 1}, cores=(0, 5)), CORES, WIDE, MEMORY)
    assert named.cores == (0, 5)
    with pytest.raises(ConfigurationError, match=r"\[9\] of \[9\]"):
        resolve(NeighbourSpec(workers={"cpu": 1}, cores=(9,)), CORES, WIDE, MEMORY)


def test_memory_is_a_part_of_the_machines_and_must_be_free():
    memory = {"workers": {"memory": 1}, "load_percent": 25}
    assert load(**memory).memory_mib == 2 * 256
    asked = load(**memory, memory_percent=50)
    assert (asked.memory_mib, asked.argv) == (
        5_000,
        ("--vm", "2", "--vm-bytes", "5000m", "--timeout", "0"),
    )
    with pytest.raises(UnsupportedError, match="8,000 MiB are free") as caught:
        load(**memory, memory_percent=80)
    assert "memory_percent: 72" in caught.value.fix


def test_a_trial_that_it_did_not_outlive_is_none(tmp_path):
    class Measures:
        def warm_up(self, request):
            raise AssertionError

        def measure(self, task):
            return task

    popen = subprocess.Popen(["sleep", "60"])
    process = ManagedProcess("neighbour", popen.pid, 0, tmp_path / "log", popen)
    neighbour = Neighbour(load(), "stress-ng, version 0.15.06", process)
    measures = MeasuresBeside(Measures(), neighbour)
    assert measures.measure("a trial") == "a trial"
    popen.kill()
    popen.wait()
    with pytest.raises(GeneratorError, match="neighbour has ended"):
        measures.measure("another")


def test_its_line_says_program_workers_cores_and_memory():
    process = None
    made = Neighbour(NeighbourLoad((4, 5), {"cpu": 2, "memory": 1}, 512, 5.0), "stress-ng 0.15.06", process)
    line = neighbour_line({"neighbour": made.described()})
    assert line == "stress-ng 0.15.06: 2 cpu, 1 memory workers on cores 4, 5, 5 % of the memory"
    assert neighbour_line({}) == ""
