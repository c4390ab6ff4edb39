"""The real switches of the lab are killed under traffic and restarted. As root."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.readings import Part
from nfvbed.records import CellRole
from nfvbed.results import ResultKind
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import retried
from tests.sample_records import RUN

PROJECT = open_project()
WARM_UP = TrafficRequest(duration_ns=50_000_000, frame_size=64, rate_pps=10_000)
WATCHED = TrafficRequest(duration_ns=2_500_000_000, frame_size=64, rate_pps=20_000, timeline_ns=1_000_000)
AFTERWARDS = TrafficRequest(duration_ns=200_000_000, frame_size=64, rate_pps=10_000)
RESETS = {
    "linux-bridge": ("bridge deleted and recreated, its links stay", ("reset.remove", "reset.make")),
    "ovs-dpdk": (
        "ovs-vswitchd killed (SIGKILL), restarted on its database",
        ("reset.kill", "reset.start", "reset.rules"),
    ),
}


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def task(request, **keys):
    return TrialTask(
        run=RUN,
        cell="c",
        sequence=0,
        round=0,
        preset=ResultKind.RESET,
        request=request,
        **keys,
    )


@pytest.mark.parametrize("variant", RESETS)
def test_a_switch_comes_back_under_traffic(site, variant):
    """Frames are missing in the middle, and flow again without loss in the next trial on the same ports.

    How long it takes is the machine's; a switch whose first try to connect fails comes back a second later.
    """
    deployment = site.deploy(PROJECT.load_variant(variant), "p2p")
    generator = site.open_generator(deployment)
    measurement = Measurement(site, deployment, generator)
    measurement.warm_up(WARM_UP)
    before = site.look(deployment, Part.THREADS).threads
    seen, reports = [], []
    watched = task(
        WATCHED,
        counters=False,
        look=seen.append,
        meanwhile=lambda: reports.append(site.reset(deployment, 0.5)),
    )
    record = measurement.measure(watched)
    afterwards = retried(lambda: measurement.measure(task(AFTERWARDS)), lambda record: record.loss_ratio == 0)
    threads = site.look(deployment, Part.THREADS).threads
    generator.close()
    site.destroy(deployment)
    kind, steps = RESETS[variant]
    assert reports[0].kind == kind
    assert tuple(name for name, _ in reports[0].steps) == steps
    assert all(direction.received for direction in record.directions)
    for line in seen[0].timelines:
        assert line.missing() > 0
        assert line.gap is not None
    assert all(direction.received == direction.sent for direction in afterwards.directions)
    assert (variant == "ovs-dpdk") == (before != threads)


def test_what_has_no_reset_says_so(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "p2p", CellRole.LOOPBACK)
    with pytest.raises(UnsupportedError, match="there is no reset"):
        site.reset(deployment, 0)
    site.destroy(deployment)
