"""From flavors and ports to a guest, and what does not fit."""

from pathlib import Path

import pytest
import yaml

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind
from nfvbed.spec.flavor import Flavor
from nfvbed.vnfs.numa import GuestNode, GuestPlacement
from nfvbed.vnfs.vm import agentwork, sizing
from tests.unit.vnfs.vm.vm_seat import PROJECT, choice, port, seat


class Pages:
    """A workspace that gives hugepages."""

    def __init__(self):
        self.asked = []

    def hugepages(self, mib, node=None):
        self.asked.append((mib, node))
        return Path(f"/hugepages-{len(self.asked)}")


def test_every_flavor_of_the_project_makes_a_guest():
    for path in sorted((PROJECT / "flavors").glob("*.yml")):
        flavor = Flavor.model_validate(yaml.safe_load(path.read_text()))
        nodes = [(node.cpus, node.memory_mib) for node in flavor.numa] or [(range(flavor.vcpus), flavor.memory_mib)]
        guest = GuestPlacement(
            vcpu_cores=((1,),) * flavor.vcpus,
            emulator_cores=(0,),
            nodes=tuple(GuestNode(vcpus=tuple(cpus), memory_mib=mib, host_node=None) for cpus, mib in nodes),
        )
        pages = Pages()
        memory = sizing.memory(seat(choice(flavor=flavor), workspace=pages), guest)
        assert sum(node.mib for node in memory) == flavor.memory_mib
        assert len(pages.asked) == (len(nodes) if flavor.hugepages else 0)


def test_shared_vcpus_run_where_the_placement_says():
    found = sizing.resolved(seat(choice(), cores=(3,), control_cores=(1,)))
    assert found.vcpu_cores == ((3,), (3,))
    assert found.emulator_cores == (1, 3)


def test_what_was_resolved_is_taken_as_it_is():
    resolved = GuestPlacement(vcpu_cores=((4,), (5,)), emulator_cores=(6,), nodes=())
    assert sizing.resolved(seat(choice(), guest=resolved)) is resolved


def test_dedicated_flavor_that_nobody_resolved_is_refused():
    with pytest.raises(UnsupportedError, match="cores or nodes of its own"):
        sizing.resolved(seat(choice(flavor=Flavor(name="p", title="p", cpu_policy="dedicated"))))


@pytest.mark.parametrize(
    ("vnic", "kind", "model", "backend"),
    [
        ("any", PortKind.VHOST_USER, "virtio", "vhost-user"),
        ("vhost-user", PortKind.VHOST_USER, "virtio", "vhost-user"),
        ("any", PortKind.TAP, "virtio", "tap"),
        ("e1000", PortKind.TAP, "e1000", "tap"),
        ("rtl8139", PortKind.TAP, "rtl8139", "tap"),
        ("macvtap", PortKind.MACVTAP, "virtio", "macvtap"),
        ("vf", PortKind.VF, "vf", "vf"),
    ],
)
def test_nic_and_backend_follow_vnic_and_port(vnic, kind, model, backend):
    first, second = sizing.nics(choice(vnic=vnic), (port(0, kind), port(1, kind)), vhost=True)
    assert (first.model, first.backend) == (model, backend)
    assert first.mac != second.mac
    assert first.vhost is (backend in ("tap", "macvtap") and model == "virtio")


@pytest.mark.parametrize("model", ["e1000", "rtl8139", "virtio"])
def test_a_port_that_is_for_a_nic_gets_it_whatever_the_vnf_leaves_open(model):
    wants = port(0, PortKind.TAP).model_copy(update={"nic": model, "offloads": False})
    (nic,) = sizing.nics(choice(), (wants,), vhost=True)
    assert nic.model == model
    assert not nic.offloads
    assert nic.vhost is (model == "virtio")


@pytest.mark.parametrize("host_has_it", [True, False])
@pytest.mark.parametrize("wanted", [True, False])
def test_a_port_says_who_moves_the_frames(wanted, host_has_it):
    wants = port(0, PortKind.TAP).model_copy(update={"vhost": wanted})
    (nic,) = sizing.nics(choice(), (wants,), vhost=host_has_it)
    assert nic.vhost is wanted


def test_macvtap_files_are_counted_through_all_ports():
    first, second = sizing.nics(
        choice(), (port(0, PortKind.MACVTAP, queues=2), port(1, PortKind.MACVTAP, queues=2)), vhost=False
    )
    assert (first.descriptors, second.descriptors) == ((30, 31), (32, 33))


@pytest.mark.parametrize(
    ("vnic", "kind", "queues", "why"),
    [
        ("e1000", PortKind.VHOST_USER, 1, "needs a tap"),
        ("e1000", PortKind.TAP, 2, "one queue"),
        ("vf", PortKind.TAP, 1, "kind tap"),
        ("any", PortKind.VETH, 1, "virtual function"),
    ],
)
def test_nic_that_does_not_fit_the_port_is_refused(vnic, kind, queues, why):
    with pytest.raises(UnsupportedError) as caught:
        sizing.nics(choice(vnic=vnic), (port(0, kind, queues=queues),), vhost=False)
    assert why in caught.value.observed


def test_guests_kernel_gets_hugepages_and_isolated_cpus():
    words = sizing.kernel_parameters(Flavor(name="f", title="f", vcpus=4, memory_mib=1024)).split()
    assert "hugepages=64" in words
    assert "isolcpus=managed_irq,domain,1-3" in words
    assert "panic=-1" in words, "a panic must end the guest, so that it is seen"
    assert not any(word.startswith("nohz_full") for word in words)
    small = sizing.kernel_parameters(Flavor(name="f", title="f", vcpus=1, memory_mib=512))
    assert small == "panic=-1"
    strict = Flavor(name="f", title="f", vcpus=3, memory_mib=512, cpu_policy="dedicated", realtime=True)
    assert "nohz_full=1-2" in sizing.kernel_parameters(strict)


def test_agent_is_reported_what_the_vnf_declares():
    ports = (port(0, PortKind.TAP, queues=2), port(1, PortKind.TAP, queues=2))
    keys = agentwork.request(seat(choice(offloads=False), does="io", ports=ports))
    assert keys["mode"] == "io"
    assert keys["ports"] == [ports[0].mac, ports[1].mac]
    assert (keys["queues"], keys["offloads"], keys["retry"]) == (2, False, 0)
    assert "addresses" not in keys


def test_router_has_both_networks_and_fixed_neighbours():
    keys = agentwork.request(seat(choice(), does="router", beyond=("02:00:00:00:00:0a", "02:00:00:00:00:0b")))
    assert [len(side) for side in keys["addresses"]] == [1, 1]
    assert keys["neighbours"] == [[0, "198.18.0.1", "02:00:00:00:00:0a"], [1, "198.19.0.1", "02:00:00:00:00:0b"]]


def test_mac_mode_knows_its_peers():
    beyond = ("02:00:00:00:00:0a", "02:00:00:00:00:0b")
    assert agentwork.request(seat(choice(), does="mac", beyond=beyond))["peers"] == list(beyond)


@pytest.mark.parametrize(("does", "agent"), [("xdp", True), ("source", False), ("sink", False)])
def test_what_an_image_cannot_do_is_refused(does, agent):
    with pytest.raises(UnsupportedError):
        agentwork.check(seat(choice(agent=agent), does=does))


@pytest.mark.parametrize(("does", "agent"), [("io", True), ("image", True), ("io", False), ("sink", True)])
def test_what_it_can_do_is_not(does, agent):
    agentwork.check(seat(choice(agent=agent), does=does))
