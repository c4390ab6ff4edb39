"""The guests of a path on a cloud: who is joined with whom, and what libvirt is told. Libvirt is a double here."""

import json
from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.verify.commands import Answer, Hypervisor
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, OnboardError, UnsupportedError
from nfvbed.records import VnfKind
from nfvbed.records.readings import Unavailable
from nfvbed.sites.openstack.guests import path_guests
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.vm.agent import AgentRefused

PROJECT = open_project()
NOT_CONNECTED = "error: Guest agent is not responding: QEMU guest agent is not connected\n"
NOT_CONFIGURED = "error: argument unsupported: QEMU guest agent is not configured\n"
NO_DOMAIN = "error: failed to get domain '00000000-0000-0000-0000-000000000000'\n"
"""Recorded of virsh 9.0.0: of a guest that boots, of one of an image without the property, and of none."""


class Libvirt(Hypervisor):
    """Answers as an agent would through libvirt, or as it is told."""

    def __init__(self, host="controller", said=None):
        super().__init__(host)
        self.asked, self._said = [], said

    def virsh(self, words, timeout_s):
        self.asked.append((tuple(words), timeout_s))
        if isinstance(self._said, Exception):
            raise self._said
        if self._said is not None:
            return self._said
        request = json.loads(words[-1])["arguments"]
        reply = {"schema": "vloop/1", "id": request["id"], "ok": True, "result": {"did": request["do"]}}
        if request["do"] == "fly":
            reply |= {"ok": False, "result": None, "error": {"what": "the agent cannot do this"}}
        return Answer(0, json.dumps({"return": reply}) + "\n", "")


def instance(number, host="controller"):
    ports = tuple(
        InstancePort(f"p{number}{side}", f"net{number + side}", f"fa:16:3e:00:0{number}:0{side}") for side in (0, 1)
    )
    return PlacedInstance(f"i-{number}", f"vnf{number}", host, ports)


CHAIN = (instance(1), instance(2, "ovs-dpdk-2"), instance(3))


def choice(**image):
    vnf, flavor = PROJECT.load_vnf("vloop"), PROJECT.load_flavor("hugepages")
    found = vnf.image.model_copy(update=image)
    return VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding="io", flavor=flavor, image=found)


def neutron(**told):
    found = SimpleNamespace(**{"provider_network_type": None, "provider_physical_network": None, **told})
    return SimpleNamespace(network=SimpleNamespace(find_network=lambda _: found))


def guests_of(instances=CHAIN, connection=None, libvirt=Libvirt, hidden="", **image):
    compute = SimpleNamespace(hypervisor=lambda host: libvirt(host) if libvirt else None, hidden=hidden, host="c")
    return path_guests(connection or neutron(), compute, choice(**image), instances)


def test_each_guest_is_joined_with_the_next_by_the_network_between_them():
    found = guests_of()
    assert [guest.name for guest in found.guests] == ["vnf1", "vnf2", "vnf3"]
    pairs = [(first.mac, second.mac) for first, second in found.joined]
    assert pairs == [("fa:16:3e:00:01:01", "fa:16:3e:00:02:00"), ("fa:16:3e:00:02:01", "fa:16:3e:00:03:00")]
    assert found.network == "network net2 joins them, on computes controller and ovs-dpdk-2"
    with pytest.raises(OnboardError, match="vnf1 has no port 2"):
        found.guests[0].mac(2)


def test_the_network_is_named_with_its_kind_where_neutron_tells_it():
    vlan = neutron(provider_network_type="vlan", provider_physical_network="tenant")
    assert guests_of(connection=vlan).network.startswith("network net2 (vlan of physical network tenant) joins them")
    local = neutron(provider_network_type="local")
    both = guests_of((instance(1), instance(2)), connection=local).network
    assert both == "network net2 (local) joins them, both on compute controller"


def test_one_guest_is_joined_with_none_and_so_are_two_side_by_side():
    assert guests_of(CHAIN[:1]).joined == ()
    beside = PlacedInstance("i-9", "vnf9", "controller", CHAIN[0].ports)
    assert guests_of((CHAIN[0], beside)).joined == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"instances": ()}, "no VNFs"),
        ({"agent": False}, "no agent"),
        ({"libvirt": None, "hidden": "the cloud belongs to others"}, "the cloud belongs to others"),
    ],
)
def test_guests_that_nothing_reaches_have_the_reason(changes, reason):
    found = guests_of(**changes)
    assert isinstance(found, Unavailable) and reason in found.reason


def test_a_request_goes_through_libvirt_and_its_answer_comes_back():
    guest = guests_of().guests[1]
    assert guest.agent.ask("info", timeout_s=4.2) == {"did": "info"}
    ((words, timeout_s),) = guest.hypervisor.asked
    assert words[:-1] == ("--connect", "qemu:///system", "qemu-agent-command", "--timeout", "4", "i-2")
    assert json.loads(words[-1])["execute"] == "vloop"
    assert timeout_s > 4.2, "libvirt says why it gave up before its command is ended"


def test_a_refusal_of_the_agent_is_its_own():
    with pytest.raises(AgentRefused, match="refused fly: the agent cannot do this") as refused:
        guests_of().guests[0].agent.ask("fly")
    assert refused.value.where == "instance i-1 on controller"


@pytest.mark.parametrize(
    ("said", "observed", "fix"),
    [
        (Answer(1, "", NOT_CONNECTED), NOT_CONNECTED.strip(), "console"),
        (Answer(1, "", NO_DOMAIN), NO_DOMAIN.strip(), "nfvbed verify"),
        (Answer(0, "pong", ""), "libvirt printed 'pong'", "make images"),
        (Answer(0, '{"error": {}}', ""), "libvirt printed", "make images"),
        (DeployError("it did not end", observed="within 9 s"), "it did not end: within 9 s", "nfvbed verify"),
    ],
)
def test_what_does_not_reach_the_agent_is_an_error_with_libvirts_words(said, observed, fix):
    guest = guests_of(libvirt=lambda host: Libvirt(host, said)).guests[0]
    with pytest.raises(OnboardError, match="could not be asked to info") as raised:
        guest.agent.ask("info")
    assert observed in raised.value.observed and fix in raised.value.fix


def test_an_instance_without_the_port_is_unsupported():
    guest = guests_of(libvirt=lambda host: Libvirt(host, Answer(1, "", NOT_CONFIGURED))).guests[0]
    with pytest.raises(UnsupportedError, match="has no port") as raised:
        guest.agent.ask("info")
    assert raised.value.observed == NOT_CONFIGURED.strip() and "hw_qemu_guest_agent" in raised.value.fix
