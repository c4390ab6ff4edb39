"""Each warning is raised by what it stands for, and by nothing else."""

import pytest

from nfvbed.measure.warnings import flow_warnings, is_generator_limited, is_wire_limited, traffic_warnings
from nfvbed.records import DirectionCounts, GeneratorPort, PortKind, QualityWarning, Role, WorkThread
from nfvbed.traffic.generator import TrafficRequest
from tests.unit.measure.fake_site import PORTS, counts, info, result

BUSY = 96_000_000


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"reordered": 1}, QualityWarning.REORDERED),
        ({"duplicated": 1}, QualityWarning.DUPLICATED),
        ({"corrupted": 1}, QualityWarning.CORRUPTED),
        ({"intended": 1010, "unsent": 10}, QualityWarning.UNSENT),
    ],
)
def test_what_the_frames_show(changes: dict[str, int], warning: QualityWarning) -> None:
    assert traffic_warnings(result(counts(), counts(**changes))) == (warning,)
    assert traffic_warnings(result()) == ()


def test_what_is_counted_beyond_what_was_sent_makes_loss_a_bound() -> None:
    warned = (QualityWarning.DUPLICATED, QualityWarning.LOSS_AT_LEAST)
    assert traffic_warnings(result(counts(), DirectionCounts.counted(1000, 1001))) == warned
    assert traffic_warnings(result(counts(duplicated=1), counts())) == warned[:1], "numbered frames are told apart"


def test_a_single_unsent_frame_in_thousands_is_none() -> None:
    assert traffic_warnings(result(counts(intended=1001, unsent=1), counts())) == ()


def test_a_busy_generator_before_an_idle_switch_is_the_limit() -> None:
    assert is_generator_limited(result(busy_ns=BUSY))
    assert not is_generator_limited(result(busy_ns=BUSY - 2_000_000))


def test_a_full_switch_shows_itself_by_refusing_or_losing() -> None:
    assert not is_generator_limited(result(counts(refused=30), counts(), busy_ns=BUSY))
    assert not is_generator_limited(result(counts(lost=30, received=970), counts(), busy_ns=BUSY))
    assert is_generator_limited(result(counts(refused=3, lost=1, received=999), counts(), busy_ns=BUSY))


def test_nothing_sent_is_no_ones_limit() -> None:
    assert not is_generator_limited(result(counts(intended=0, sent=0, received=0), busy_ns=BUSY))


def test_only_a_real_wire_can_be_full() -> None:
    # 14.88 Mpps of 64 B frames fill 10 Gbit/s.
    full = result(counts(intended=1_488_000, sent=1_488_000, received=1_488_000))
    said = info(raw={"ports": [{"speed_mbps": 10_000}, {"speed_mbps": None}]})
    wires = (GeneratorPort(engine="dpdk", spec="a", kind=PortKind.PCI),) * 2
    assert is_wire_limited(full, 64, said, (wires[0], wires[1]))
    assert not is_wire_limited(full, 64, said, PORTS)
    both = info(raw={"ports": [{"speed_mbps": 10_000}] * 2})
    busy, idle = full.directions[0], counts()
    for ways in ((busy, idle), (idle, busy)):
        assert is_wire_limited(result(*ways), 64, both, (wires[0], wires[1])), "one full direction is enough"
    assert not is_wire_limited(result(), 64, said, (wires[0], wires[1]))


@pytest.mark.parametrize(("late", "limited"), [(0, False), (19, False), (60, True)])
def test_a_generator_that_keeps_a_given_pace_is_not_the_limit(late: int, limited: bool) -> None:
    """Late frames out of 2,000: with few frames at a time the generator is busy all the time, and could do more."""
    slow = counts(intended=1000 + late, unsent=late, late=late)
    assert is_generator_limited(result(slow, counts(), busy_ns=BUSY), paced=True) is limited
    assert is_generator_limited(result(slow, counts(), busy_ns=BUSY))


@pytest.mark.parametrize(
    ("pollers", "flows", "directions", "warned"),
    [(1, 1, 1, False), (2, 1, 1, True), (2, 1, 2, False), (3, 1, 2, True), (4, 1000, 2, False)],
)
def test_one_flow_for_several_polling_threads_is_said(pollers: int, flows: int, directions: int, warned: bool) -> None:
    threads = [WorkThread(role=Role.SWITCH, pid=1, tid=n, core=n, name="pmd", polling=True) for n in range(pollers)]
    threads.append(WorkThread(role=Role.GENERATOR, pid=2, tid=99, core=9, name="generator", polling=True))
    request = TrafficRequest(duration_ns=1, frame_size=64, flows=flows, bidirectional=directions == 2)
    assert (flow_warnings(request, threads) == (QualityWarning.SINGLE_FLOW,)) is warned
