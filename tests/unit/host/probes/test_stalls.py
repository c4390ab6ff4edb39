"""What is said of cores that were kept away; the clock itself is read for a moment."""

import pytest

from nfvbed.host.probes.stalls import Stalls, stalls_finding, watch
from nfvbed.records.findings import State

SECOND = 1_000_000_000


def seen(core: int, count: int, total_ms: int, longest_ms: int) -> Stalls:
    return Stalls(core, count, total_ms * 1_000_000, longest_ms * 1_000_000, 2 * SECOND)


def test_the_worst_core_is_reported():
    finding = stalls_finding((seen(0, 1, 2, 2), seen(1, 9, 64, 35)))
    assert finding.state is State.LIMITED
    assert finding.summary == "core 1 was away 3.20% of the time: 9 times for 1 ms or more, at most 35.0 ms"
    assert "isolcpus" in finding.fix


@pytest.mark.parametrize(("found", "summary"), [(seen(0, 0, 0, 0), "never for"), (seen(0, 1, 1, 1), "away 0.05%")])
def test_little_is_fine(found, summary):
    finding = stalls_finding((found,))
    assert (finding.state, finding.fix, summary in finding.summary) == (State.PRESENT, "", True)


def test_the_clock_is_read_for_as_long_as_asked():
    found = watch(0, 20_000_000)
    assert found.measured_ns >= 20_000_000
    assert 0 <= found.total_ns <= found.measured_ns
    assert found.longest_ns <= found.total_ns
