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
from nfvbed.sites.openstack.tackervnfs import TackerVnfs
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation, Monitor
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
BRIDGE = PROJECT.load_variant("linux-bridge")
CHOICE = resolve(VnfUse(vnf="vloop", kind="vm"), BRIDGE, PROJECT)
MONITORED = resolve(VnfUse(vnf="vloop-monitored", kind="vm"), BRIDGE, PROJECT)
READY = ("vloop: ready 1",)


def handle_of(instance, api="sol"):
    ports = (InstancePort("p0", "data0", "02::1"), InstancePort("p1", "data1", "02::2"))
    placed = PlacedInstance(instance, instance, "compute", ports)
    found = TackerVnf(api, "t1", "d1", "n", "owner", "stack", (placed,))
    return vnfs.handle(0, found, CHOICE, PortKind.TAP, Accelerator.TCG)


def control_of(status, heal=lambda dead: dead, respawned=None, console=lambda instance: READY):
    return CloudControl(status, heal, respawned, console)


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

    report = disrupt(live, request(), control_of(live.compute.status, heal))
    assert live.compute.popen.wait() == -signal.SIGKILL
    assert [mark for mark, _ in report.marks] == [Mark.BEGAN, Mark.DETECTED, Mark.DECIDED, Mark.ACTED, Mark.BOOTED]
    assert (asked, live.compute.adopted) == (["old"], ["new"])
    assert vnfs.CloudVnfState.of(live.handles[0]).instance == "new"
    assert report.accelerator is Accelerator.TCG
    assert dict(report.settings)["healed by"] == "Tacker, sol API"


def test_boot_of_an_image_that_prints_nothing_is_no_moment(live):
    image = CHOICE.image.model_copy(update={"console_marker": ""})
    live.wanted = CloudRequest(BRIDGE, layout("pvp"), CHOICE.model_copy(update={"image": image}))
    report = disrupt(live, request(), control_of(live.compute.status, lambda dead: handle_of("new")))
    assert [mark for mark, _ in report.marks][-1] is Mark.ACTED


def test_killed_instance_is_respawned_when_the_monitor_has_noticed(live):
    live.wanted = CloudRequest(BRIDGE, layout("pvp"), MONITORED)
    live.deployment = live.deployment.model_copy(update={"vnfs": (handle_of("old", "legacy"),)})

    def respawned(dead, noticed):
        assert live.compute.popen.wait() == -signal.SIGKILL
        noticed()
        return handle_of("new", "legacy")

    report = disrupt(live, request("respawn"), control_of(live.compute.status, respawned=respawned))
    assert [mark for mark, _ in report.marks] == [Mark.BEGAN, Mark.DETECTED, Mark.DECIDED, Mark.ACTED, Mark.BOOTED]
    assert vnfs.CloudVnfState.of(live.handles[0]).instance == "new"
    assert (dict(report.settings)["delay"], dict(report.settings)["time-out"]) == ("60 s", "2 s")
    assert "3 echo requests" in dict(report.settings)["failures"]


def test_monitored_vnf_is_not_healed_by_command(live):
    live.wanted = CloudRequest(BRIDGE, layout("pvp"), MONITORED)
    live.deployment = live.deployment.model_copy(update={"vnfs": (handle_of("old", "legacy"),)})
    with pytest.raises(UnsupportedError, match="not healed by command"):
        require_disruptable(live, request())
    require_disruptable(live, request("respawn"))


@pytest.mark.parametrize(("form", "choice"), [("legacy", CHOICE), ("sol", MONITORED)], ids=["unmonitored", "sol"])
def test_respawn_of_what_nobody_monitors_is_refused_with_the_reason(tmp_path, form, choice):
    provider = TackerVnfs("devcloud", form, SimpleNamespace(), tmp_path)
    with pytest.raises(UnsupportedError, match=r"monitors (this VNF|no VNF)") as refused:
        provider.require_monitored(choice)
    assert refused.value.observed and refused.value.fix
    TackerVnfs("devcloud", "legacy", SimpleNamespace(), tmp_path).require_monitored(MONITORED)


def test_instance_on_another_machine_is_left_alone(live):
    live.compute.shows = False
    with pytest.raises(UnsupportedError, match="cannot be killed"):
        require_disruptable(live, request())


def test_data_plane_that_delivers_by_address_is_refused(live):
    live.compute.macs = ("02::1", "02::2")
    with pytest.raises(UnsupportedError, match="on this data plane"):
        disrupt(live, request(), control_of(live.compute.status))
    assert live.compute.popen.poll() is None


def test_death_that_nova_does_not_notice_is_an_error(live, monkeypatch):
    monkeypatch.setenv("NFVBED_PATIENCE", "1")
    monkeypatch.setattr("nfvbed.cloud.tacker.waits.MEASURED_S", {"settle": 0.01})
    with pytest.raises(OnboardError, match="takes vnf1 for alive"):
        disrupt(live, request(), control_of(lambda identifier: "ACTIVE"))
