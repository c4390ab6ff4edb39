"""The order of a chain in the lab: in force and written down together, changed back where no frame comes through."""

from dataclasses import replace

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.chaincontrol import ChainControl, FixedChain
from nfvbed.errors import OnboardError, UnsupportedError, VnfDiedError
from nfvbed.records import Deployment
from nfvbed.sites.lab.deployedchain import LabChain
from nfvbed.sites.lab.lifecycle import EarlierDeployment
from nfvbed.sites.lab.storeddeployment import StoredDeployment
from nfvbed.sites.lab.vnfs import LabVnfs
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import MAX_CHAIN, layout
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
OVS = PROJECT.load_variant("ovs-dpdk")


class Rules(ChainControl):
    """A switch that notes the orders that it was given."""

    def __init__(self):
        self.orders = []

    def cables(self):
        return ()

    def apply(self, order):
        self.orders.append(order)


class Place:
    """A site that notes what is asked of it."""

    def __init__(self, log):
        self.log = log

    def verify(self, deployment):
        self.log.append("verify")

    def check(self, topology, choice):
        self.log.append(f"check {topology}")

    def destroy(self, deployment):
        self.log.append("destroy")

    def deploy_to_stay(self, variant, topology, choice):
        self.log.append(f"deploy {topology}")
        return deployment_of(topology), False


def deployment_of(topology, directory="/run/nfvbed/1"):
    return Deployment(id="1", variant="ovs-dpdk", site="lab", topology=topology, ports=(), run_directory=directory)


@pytest.fixture(name="chain")
def _chain(tmp_path, monkeypatch):
    def make(topology="pv3p", forwarding="io", control=None):
        log = []
        monkeypatch.setattr(StoredDeployment, "save", lambda self: log.append(f"save {self.deployment.order}"))
        monkeypatch.setattr(EarlierDeployment, "take_down", lambda self: log.append("take down"))
        choice = resolve(VnfUse(vnf="vloop", forwarding=forwarding), OVS, PROJECT)
        live = LabVnfs(layout(topology), choice, (), (), ())
        deployment = deployment_of(topology, str(tmp_path))
        left = EarlierDeployment(StoredDeployment(None, deployment, OVS, None), live)
        return LabChain(control or Rules(), deployment, "lab", Place(log), left, lambda changed: log.append("frames"))

    return make


def test_an_order_is_in_force_and_written_down_before_frames_are_sent(chain):
    made = chain()
    changed = made.apply((2, 0, 1))
    assert changed.order == (2, 0, 1)
    assert made.place.log == ["verify", "save (2, 0, 1)", "frames"]
    assert made.control.orders == [(2, 0, 1)]


def test_the_order_of_the_numbers_is_no_order_of_its_own(chain):
    made = chain()
    assert made.apply((0, 1, 2)).order == ()
    assert made.place.log[1] == "save ()"
    assert made.control.orders == [(0, 1, 2)], "the rules are written all the same"


@pytest.mark.parametrize("failure", [OnboardError("no frame comes through"), KeyboardInterrupt()])
def test_where_no_frame_comes_through_it_is_as_before(chain, failure):
    def nothing(deployment):
        raise failure

    made = replace(chain(), probe=nothing)
    with pytest.raises(type(failure)):
        made.apply((2, 1, 0))
    assert made.control.orders == [(2, 1, 0), (0, 1, 2)]
    assert made.place.log[1:] == ["save (2, 1, 0)", "save ()"]


def test_nothing_is_changed_where_a_vnf_is_dead(chain, monkeypatch):
    def dead(self, deployment):
        raise VnfDiedError("vnf2 has ended")

    monkeypatch.setattr(Place, "verify", dead)
    made = chain()
    with pytest.raises(VnfDiedError):
        made.apply((2, 1, 0))
    assert made.control.orders == made.place.log == []


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"topology": "pvp"}, "it has one VNF"),
        ({"topology": "pvpv"}, "side by side"),
        ({"topology": "v2v"}, "ends of the path"),
        ({"forwarding": "mac"}, "forward as mac"),
        ({"control": FixedChain("it joins ports once", "variant x", "ovs-dpdk")}, "it joins ports once"),
    ],
)
def test_an_order_that_is_fixed_is_refused_with_the_reason(chain, how, reason):
    made = chain(**how)
    assert reason in made.fixed
    with pytest.raises(UnsupportedError, match="is fixed") as refused:
        made.apply((1, 0))
    assert reason in refused.value.observed
    assert refused.value.fix
    assert made.place.log == []


def test_another_length_is_foreseen_and_then_set_up(chain):
    assert chain().lengths == (1, 2, *range(4, MAX_CHAIN + 1))
    made, told = chain("pvpv"), []
    assert made.lengths == tuple(range(1, MAX_CHAIN + 1))
    assert "taken down and set up again as pv4p" in made.foresee(4)
    assert made.place.log == ["check pv4p"], "nothing was changed"
    assert made.redeploy(4, told.append).topology == "pv4p"
    assert told == [made.foresee(4)]
    assert made.place.log[1:5] == ["check pv4p", "destroy", "take down", "deploy pv4p"]


def test_a_length_that_it_has_or_cannot_have_is_refused(chain):
    for length in (3, MAX_CHAIN + 1):
        with pytest.raises(UnsupportedError, match="cannot be set up as a chain") as refused:
            chain().redeploy(length, print)
        assert "choose one of 1, 2, 4" in refused.value.fix
