"""Instances of a VNF side by side under traffic: how many there are when, where shares go, and what is refused."""

from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ports.shares import share_mac
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import Accelerator, Deployment, Hop, PortKind
from nfvbed.sites.disruption import Disruption, Mark
from nfvbed.sites.openstack import vnfs
from nfvbed.sites.openstack.deployment import CloudDeployment, CloudRequest
from nfvbed.sites.openstack.sidebyside import ScaleControl, SideBySide, require_scalable
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation, Monitor
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
BRIDGE = PROJECT.load_variant("linux-bridge")
OUT, IN = LifeCycleOperation.SCALE_OUT, LifeCycleOperation.SCALE_IN


def choice(forwarding):
    return resolve(VnfUse(vnf="vloop", kind="vm", forwarding=forwarding), BRIDGE, PROJECT)


def handles(*names):
    found = []
    for place, name in enumerate(names):
        ports = tuple(InstancePort(f"{name}{side}", f"data{side}", f"02::{side}") for side in (0, 1))
        placed = PlacedInstance(name, name, "compute", ports)
        vnf = TackerVnf("sol", "t1", "d1", "n", "owner", "stack", (placed,))
        found.append(vnfs.handle(place, vnf, choice("mac"), PortKind.TAP, Accelerator.TCG))
    return tuple(found)


class Compute:
    """A compute that remembers where addresses lead."""

    host = "compute"
    hidden = ""
    refuses = False

    def __init__(self):
        self.leads = {}
        self.adopted = ()
        self.counted = 0

    def adopt(self, variant, instances):
        self.adopted = tuple(one.id for one in instances)

    def lead(self, leads):
        if self.refuses:
            raise UnsupportedError("no static addresses")
        self.leads |= {(one.side, one.mac): one.instance.id if one.instance else "generator" for one in leads}

    def hops(self, instances):
        """Return the hops of one instance: a port of it counts as long as some share leads to it."""
        (one,) = instances
        self.counted += one.id in self.leads.values()
        ends = [Hop(name="p", vnf=0, port=port, rx_packets=self.counted) for port in (0, 1)]
        return (Hop(name="gen0"), *ends, Hop(name="gen1"))

    def shares(self):
        """Return the instance of each share; both data networks lead alike."""
        found = [[self.leads[side, share_mac(side, share)] for share in (0, 1)] for side in (0, 1)]
        assert found[0] == found[1]
        return found[0]


class Tacker:
    """Scales as Heat does: the oldest instance goes."""

    def __init__(self):
        self.names = ["a"]
        self.silent = ()

    def scale(self, first, delta):
        assert vnfs.CloudVnfState.of(first).instance in self.names
        self.names = [*self.names, "bcd"[len(self.names) - 1]] if delta > 0 else self.names[-delta:]
        return handles(*self.names)

    def console(self, instance):
        return [] if instance in self.silent else ["vloop: ready 1"]


@pytest.fixture(name="live")
def _live():
    deployment = Deployment(
        id="d", variant="linux-bridge", site="s", topology="pvp", ports=(), vnfs=handles("a"), vnf_ports=()
    )
    wanted = CloudRequest(BRIDGE, layout("pvp"), choice("mac"))
    return CloudDeployment(wanted, deployment, Compute(), SimpleNamespace(), SimpleNamespace(), SimpleNamespace())


def of(live):
    tacker = Tacker()
    return SideBySide(live, ScaleControl(tacker.scale, tacker.console)), tacker


def instance(live):
    (only,) = live.handles
    return vnfs.CloudVnfState.of(only).instance


def test_scale_out_deals_half_of_the_flows_to_the_instance_that_has_booted(live):
    require_scalable(live)
    sides, tacker = of(live)
    shares = sides.prepare(OUT)
    assert (shares.flows, shares.addressing.macs) == (2, (share_mac(1, 0), share_mac(0, 0)))
    assert (tacker.names, live.compute.shares()) == (["a"], ["a", "a"])
    assert [live.compute.leads[side, f"02:00:00:00:00:0{side}"] for side in (0, 1)] == ["generator"] * 2
    report = sides.disrupt(Disruption(OUT, 0.01, Monitor()))
    assert [mark for mark, _ in report.marks] == [Mark.BEGAN, Mark.ACTED, Mark.BOOTED, Mark.DEALT]
    assert (live.compute.shares(), live.compute.adopted) == (["a", "b"], ("a", "b"))
    assert dict(report.settings)["instances"] == "1 to 2"
    assert report.accelerator is Accelerator.TCG
    sides.settle()
    assert (tacker.names, instance(live)) == (["b"], "b")


def test_scale_in_deals_all_flows_to_the_instance_that_is_left(live):
    sides, tacker = of(live)
    sides.prepare(IN)
    assert (tacker.names, live.compute.shares(), instance(live)) == (["a", "b"], ["a", "b"], "a")
    report = sides.disrupt(Disruption(IN, 0.01, Monitor()))
    assert [mark for mark, _ in report.marks] == [Mark.BEGAN, Mark.ACTED, Mark.DEALT]
    assert (live.compute.shares(), instance(live)) == (["b", "b"], "b")
    assert dict(report.settings)["removed"].startswith("the first")


def test_instance_that_never_forwards_gets_no_frames(live, monkeypatch):
    monkeypatch.setattr("nfvbed.cloud.tacker.waits.MEASURED_S", {"boot": 0.01})
    sides, tacker = of(live)
    sides.prepare(OUT)
    tacker.silent = ("b",)
    with pytest.raises(OnboardError, match="does not say that it forwards") as failure:
        sides.disrupt(Disruption(OUT, 0.01, Monitor()))
    assert "its console: nothing" in failure.value.observed
    assert live.compute.shares() == ["a", "a"]


def test_instance_without_frames_is_an_error(live, monkeypatch):
    monkeypatch.setattr("nfvbed.cloud.tacker.waits.MEASURED_S", {"boot": 0.01, "settle": 0.01})
    sides, _ = of(live)
    sides.prepare(OUT)
    monkeypatch.setattr(live.compute, "hops", lambda instances: (Hop(name="p", vnf=0, port=0, rx_packets=7),))
    with pytest.raises(OnboardError, match="passes no frames on"):
        sides.disrupt(Disruption(OUT, 0.01, Monitor()))


@pytest.mark.parametrize(("forwarding", "topology"), [("io", "pvp"), ("macswap", "pvp"), ("mac", "pvvp")])
def test_what_would_be_a_loop_is_refused(live, forwarding, topology):
    live.wanted = CloudRequest(BRIDGE, layout(topology), choice(forwarding))
    with pytest.raises(UnsupportedError, match="not scaled under traffic") as refused:
        require_scalable(live)
    assert "loop" in refused.value.observed


def test_switch_without_static_addresses_is_refused(live):
    live.compute.refuses = True
    with pytest.raises(UnsupportedError, match="no static addresses"):
        require_scalable(live)
