"""VNFs of the lab that are killed: when each moment comes, and what is refused. A process is killed for real."""

import subprocess

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError, VnfDiedError
from nfvbed.sites.disruption import Disruption, Mark
from nfvbed.sites.lab.disruption import disrupt, require_disruptable
from nfvbed.sites.lab.vnfs import LabVnfs
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation, Monitor
from nfvbed.spec.vnf import VnfUse
from nfvbed.vnfs.seats import seats
from nfvbed.vnfs.vnf import VnfHost
from tests.unit.sites.lab.fake_vnfs import FakeDriver, FakePlanes

PROJECT = open_project()
CHOICE = resolve(VnfUse(vnf="vloop", forwarding="raw"), PROJECT.load_variant("linux-bridge"), PROJECT)
QUICK = Monitor(delay_s=0, interval_s=0.1, failures=2)


class Sleeper(FakeDriver):
    """Its VNF is a process that sleeps."""

    def __init__(self, log):
        super().__init__(log)
        self.popen = subprocess.Popen(["sleep", "60"])

    def verify(self, handle):
        if self.popen.poll() is not None:
            raise VnfDiedError(f"{handle.name} has ended")

    def start(self, seat):
        self.popen = subprocess.Popen(["sleep", "60"])
        return super().start(seat).model_copy(update={"pids": (self.popen.pid,)})


@pytest.fixture(name="live")
def _live(tmp_path):
    planes = FakePlanes(directory=str(tmp_path))
    driver = Sleeper(planes.log)
    deployment = planes.deploy(None, "pvp", vnf=CHOICE)
    view, plan = planes.host_view(deployment), layout("pvp")
    places = seats(deployment, plan, CHOICE, VnfHost(None, view.arrangement, PROJECT.root))
    handle = FakeDriver([]).start(places[0]).model_copy(update={"pids": (driver.popen.pid,)})
    yield LabVnfs(plan, CHOICE, places, (driver,), (handle,))
    driver.popen.kill()
    driver.popen.wait()


def request(operation, monitor=QUICK):
    return Disruption(LifeCycleOperation(operation), 0.05, monitor)


def test_killed_vnf_is_healed_at_once(live):
    before = live.handles[0].pids
    report = disrupt(live, request("heal"))
    assert [mark for mark, _ in report.marks] == [mark for mark in Mark if mark is not Mark.DEALT]
    assert [at for _, at in report.marks] == sorted(at for _, at in report.marks)
    assert report.marks[0][1] >= 50_000_000
    assert live.handles[0].pids != before
    assert (live.dead(), report.settings) == ((), ())


def test_monitor_respawns_after_as_many_looks_as_it_takes(live):
    report = disrupt(live, request("respawn"))
    # Killed after 50 ms: looks at 100 and 200 ms find it dead. A look may be late, and is never early.
    at = dict(report.marks)
    assert at[Mark.DETECTED] >= 0.1e9
    assert at[Mark.DECIDED] >= 0.2e9
    assert dict(report.settings)["failures"] == "2"


@pytest.mark.parametrize("operation", ["scale-out", "scale-in"])
def test_scaling_is_refused_with_the_reason(live, operation):
    with pytest.raises(UnsupportedError) as refused:
        require_disruptable(live, request(operation))
    assert "it is set up again" in refused.value.observed
    assert live.dead() == ()


def test_vnf_without_a_process_is_refused(live):
    live.handles = (live.handles[0].model_copy(update={"pids": ()}),)
    with pytest.raises(UnsupportedError, match="no process that could be killed"):
        disrupt(live, request("heal"))
