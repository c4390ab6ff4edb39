"""An instance that is killed under traffic: when each moment comes, and what is refused before anything is killed."""

import os
import signal
import subprocess
from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import Accelerator, Deployment, PortKind, Role, WorkThread
from nfvbed.sites.disruption import Disruption, Mark
from nfvbed.sites.openstack import vnfs
from nfvbed.sites.openstack.deployment import CloudDeployment, CloudRequest
from nfvbed.sites.openstack.disruption import CloudControl, disrupt, require_disruptable
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation, Monitor
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
BRIDGE = PROJECT.load_variant("linux-bridge")
CHOICE = resolve(VnfUse(vnf="vloop", kind="vm"), BRIDGE, PROJECT)


def handle_of(instance):
    ports = (InstancePort("p0", "data0", "02::1"), InstancePort("p1", "data1", "02::2"))
    placed = PlacedInstance(instance, instance, "compute", ports)
    found = TackerVnf("sol", "t1", "d1", "n", "owner", "stack", (placed,))
    return vnfs.handle(0, found, CHOICE, PortKind.TAP, Accelerator.TCG)


class Compute:
    """A compute whose instance is a process that sleeps."""

    host = "compute"
    hidden = ""
    macs = None

    def __init__(self):
        self.popen = subprocess.Popen(["sleep", "60"])
        self.adopted = []
        self.shows = True

    def threads(self, instances):
        roles = (Role.SWITCH, Role.VNF, Role.VNF) if self.shows else (Role.SWITCH,)
        pids = {Role.SWITCH: os.getpid(), Role.VNF: self.popen.pid}
        return tuple(WorkThread(role=role, pid=pids[role], tid=1, core=0, name="x") for role in roles)

    def destination_macs(self, instances):
        return self.macs

    def adopt(self, variant, instances):
        self.adopted = [one.id for one in instances]

    def status(self, identifier):
        return "SHUTOFF" if identifier == "old" and self.popen.poll() is not None else "ACTIVE"


@pytest.fixture(name="live")
def _live():
    compute = Compute()
    deployment = Deployment(
        id="d", variant="linux-bridge", site="s", topology="pvp", ports=(), vnfs=(handle_of("old"),)
    )
    wanted = CloudRequest(BRIDGE, layout("pvp"), CHOICE)
    yield CloudDeployment(wanted, deployment, compute, SimpleNamespace(), SimpleNamespace(), SimpleNamespace())
    compute.popen.kill()
    compute.popen.wait()


def request(operation="heal"):
    return Disruption(LifeCycleOperation(operation), 0.01, Monitor())


def test_killed_instance_is_noticed_and_made_again(live):
    asked = []

    def heal(dead):
        asked.append(vnfs.CloudVnfState.of(dead).instance)
        return handle_of("new")

    report = disrupt(live, request(), CloudControl(live.compute.status, heal))
    assert live.compute.popen.wait() == -signal.SIGKILL
    assert [mark for mark, _ in report.marks] == [Mark.BEGAN, Mark.DETECTED, Mark.DECIDED, Mark.ACTED]
    assert (asked, live.compute.adopted) == (["old"], ["new"])
    assert vnfs.CloudVnfState.of(live.handles[0]).instance == "new"
    assert report.accelerator is Accelerator.TCG
    assert dict(report.settings)["healed by"] == "Tacker, sol API"


def test_respawn_is_refused_with_the_reason(live):
    with pytest.raises(UnsupportedError) as refused:
        disrupt(live, request("respawn"), CloudControl(live.compute.status, lambda dead: dead))
    assert refused.value.observed and refused.value.fix
    assert live.compute.popen.poll() is None


def test_instance_on_another_machine_is_left_alone(live):
    live.compute.shows = False
    with pytest.raises(UnsupportedError, match="cannot be killed"):
        require_disruptable(live, request())


def test_data_plane_that_delivers_by_address_is_refused(live):
    live.compute.macs = ("02::1", "02::2")
    with pytest.raises(UnsupportedError, match="on this data plane"):
        disrupt(live, request(), CloudControl(live.compute.status, lambda dead: dead))
    assert live.compute.popen.poll() is None


def test_death_that_nova_does_not_notice_is_an_error(live, monkeypatch):
    monkeypatch.setenv("NFVBED_PATIENCE", "1")
    monkeypatch.setattr("nfvbed.cloud.tacker.waits.MEASURED_S", {"settle": 0.01})
    with pytest.raises(OnboardError, match="takes vnf1 for alive"):
        disrupt(live, request(), CloudControl(lambda identifier: "ACTIVE", lambda dead: dead))
