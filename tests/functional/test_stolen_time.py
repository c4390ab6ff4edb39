"""The kernel's account of stolen time, read on this machine's cores, against /proc/stat."""

import os
import time
from pathlib import Path

import pytest

from nfvbed.host.cores.procfs import read_sample
from nfvbed.host.cores.steal import StealAccount

SHORTEST_S = 0.05
"""Several timer ticks."""


@pytest.fixture(name="account")
def _account():
    found = StealAccount.open()
    yield found
    found.close()


def work_on(core, duration_s):
    """An idle core has no timer tick."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    end = time.monotonic() + duration_s
    while time.monotonic() < end:
        pass
    os.sched_setaffinity(0, allowed)


def test_it_agrees_with_the_kernels_steps_on_every_core_and_only_grows(account):
    cores = sorted(os.sched_getaffinity(0))
    last = dict.fromkeys(cores, 0)
    for _ in range(3):
        for core in cores:
            work_on(core, SHORTEST_S)
        sample = read_sample([], exact_steal=account.read_ns)
        exact = {core: sample.cores[core].exact_steal_ns for core in cores}
        assert None not in exact.values(), f"{exact} is not what /proc/stat tells: {sample.cores}"
        assert all(exact[core] >= last[core] for core in cores)
        last = exact


def test_it_ends_with_its_descriptors():
    before = len(list(Path("/proc/self/fd").iterdir()))
    StealAccount.open().close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
