"""What an earlier command left is healed, offboarded and scaled: what is started again, what is refused."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, UnsupportedError, VnfDiedError
from nfvbed.sites.lab import lifecycle
from nfvbed.sites.lab.lifecycle import EarlierDeployment, left_on
from nfvbed.sites.lab.storeddeployment import StoredDeployment
from nfvbed.sites.lab.vnfs import LabVnfs
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfUse
from nfvbed.vnfs import onboarded
from nfvbed.vnfs.seats import seats
from nfvbed.vnfs.vnf import VnfHost
from tests.unit.sites.lab.fake_vnfs import FakeDriver, FakePlanes

PROJECT = open_project()
BRIDGE = PROJECT.load_variant("linux-bridge")
CHOICE = resolve(VnfUse(vnf="vloop", forwarding="raw"), BRIDGE, PROJECT)


class Workspace:
    """Workspace of a deployment that stays."""

    directory = "/run/nfvbed/1"

    def __init__(self, log):
        self.log = log

    def close(self):
        self.log.append(("close",))
        return ["a link is in use"]


class Mortal(FakeDriver):
    """Its VNFs are dead until they are started again."""

    def __init__(self, log, *dead):
        super().__init__(log)
        self.dead = set(dead)

    def verify(self, handle):
        if handle.name in self.dead:
            raise VnfDiedError(f"{handle.name} has ended")

    def start(self, placement):
        self.dead.discard(placement.name)
        return super().start(placement).model_copy(update={"pids": (77,)})


@pytest.fixture(name="left")
def _left(tmp_path, monkeypatch):
    def make(topology, *dead, variant=BRIDGE):
        planes = FakePlanes(directory=str(tmp_path))
        driver = Mortal(planes.log, *dead)
        deployment = planes.deploy(None, topology, vnf=CHOICE)
        plan, view = layout(topology), planes.host_view(deployment)
        places = seats(deployment, plan, CHOICE, VnfHost(None, view.arrangement, PROJECT.root))
        handles = tuple(FakeDriver([]).start(place) for place in places)
        vnfs = LabVnfs(plan, CHOICE, places, (driver,) * plan.vnfs, handles, stays=True)
        found = StoredDeployment(Workspace(planes.log), deployment, variant, view.arrangement)
        monkeypatch.setattr(lifecycle, "find_remembered", lambda: found)
        return EarlierDeployment(found, vnfs), planes.log

    return make


def test_only_the_dead_are_started_again_and_all_before_one_is_waited_for(left):
    found, log = left("pv3p", "vnf1", "vnf3")
    assert found.vnfs.dead() == ("vnf1", "vnf3")
    log.clear()
    found.vnfs.heal()
    assert [entry[:2] for entry in log] == [
        ("stop", "vnf1"),
        ("start", "vnf1"),
        ("stop", "vnf3"),
        ("start", "vnf3"),
        ("ready", "vnf1"),
        ("ready", "vnf3"),
    ]
    assert [handle.pids for handle in found.vnfs.handles] == [(77,), (), (77,)]
    found.save()
    assert onboarded.find(found.remembered.deployment).handles == found.vnfs.handles


def test_offboarded_vnfs_end_and_are_forgotten(left):
    found, log = left("pvvp")
    found.save()
    log.clear()
    assert found.offboard() == found.remembered.deployment
    assert log == [("stop", "vnf1"), ("stop", "vnf2")]
    assert onboarded.find(found.remembered.deployment) is None
    with pytest.raises(DeployError, match="has no VNFs"):
        left_on(found.remembered.deployment, PROJECT.root)


@pytest.mark.parametrize(
    ("topology", "vnfs", "scaled"), [("pvp", 1, "pvp"), ("pvp", 2, "pvpv"), ("pvpv", 1, "pvp"), ("pvpv", 2, "pvpv")]
)
def test_the_topology_has_as_many_vnfs_side_by_side(left, topology, vnfs, scaled):
    assert left(topology)[0].scaled_topology(vnfs) == scaled


@pytest.mark.parametrize(
    ("topology", "vnfs", "observed"),
    [
        ("pvvp", 3, "every frame passes all of them in turn"),
        ("v2v", 1, "they are ends of the path"),
        ("pvp", 3, "1: pvp, 2: pvpv, 4: pvpv4, 8: pvpv8"),
    ],
)
def test_what_cannot_be_scaled_is_unsupported_with_the_reason(left, topology, vnfs, observed):
    with pytest.raises(UnsupportedError) as refused:
        left(topology)[0].scaled_topology(vnfs)
    assert refused.value.observed == observed


def test_a_data_plane_without_vnfs_side_by_side_is_not_scaled(left):
    with pytest.raises(UnsupportedError):
        left("pvp", variant=PROJECT.load_variant("vpp"))[0].scaled_topology(2)


def test_what_does_not_go_away_is_an_error(left):
    found, _ = left("pvp")
    with pytest.raises(DeployError, match="not completely gone") as failure:
        found.take_down()
    assert failure.value.observed == "a link is in use"
