"""An account of stolen time counts where it agrees with what /proc/stat tells in steps."""

import mmap
import struct

import pytest

from nfvbed.host.cores.steal import StealAccount
from nfvbed.host.probes.steal import steal_finding
from nfvbed.records.findings import State

STEP_NS = 10_000_000


@pytest.mark.parametrize(
    ("counted_ns", "told_ns", "read"),
    [
        (519_000_000, 510_000_000, {1: 519_000_000}),
        (0, 0, {1: 0}),
        (0, 510_000_000, {}),
        (531_000_000, 510_000_000, {}),
    ],
)
def test_a_core_is_exact_where_both_agree(counted_ns, told_ns, read):
    counts = mmap.mmap(-1, 1024 * 8)
    counts[8:16] = struct.pack("=Q", counted_ns)
    assert StealAccount(counts, ()).read_ns({1: told_ns}, STEP_NS) == read


def test_cores_beyond_the_account_are_not_in_it():
    assert StealAccount(mmap.mmap(-1, 1024 * 8), ()).read_ns({1024: 0}, STEP_NS) == {}


def test_the_doctor_says_how_finely_it_is_counted():
    assert steal_finding(object()).state is State.PRESENT
    finding = steal_finding("Operation not permitted")
    assert finding.state is State.LIMITED
    assert finding.summary == "counted in steps of 10 ms: Operation not permitted"
    assert "at least 1 s" in finding.fix
