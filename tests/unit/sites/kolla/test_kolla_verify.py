"""What a variant says of a rack's machines, and how commands get into Kolla's containers there."""

import json
from contextlib import contextmanager

import pytest

from nfvbed.cli.main import main
from nfvbed.errors import PrerequisiteError
from nfvbed.host.remote.connection import CommandResult
from nfvbed.records.findings import State
from nfvbed.sites.kolla.measured import computes
from nfvbed.sites.kolla.verify.containers import KollaCommands
from nfvbed.sites.kolla.verify.origin import origin_of, read_origin
from nfvbed.sites.kolla.verify.rack import expected_of
from nfvbed.spec.remote import RemoteHostSpec
from tests.unit.sites.kolla.orders import order


def expected(variant, name):
    asked = order(variant)
    return expected_of(asked, name)


def test_machines_of_ovs_dpdk():
    compute, controller = expected("ovs-dpdk", "compute1"), expected("ovs-dpdk", "controller")
    assert (compute.agents, compute.services) == (("neutron-openvswitch-agent",), ("nova-compute",))
    assert (compute.datapath_type, compute.polling, compute.takes_hugepages) == ("netdev", (2,), True)
    assert (controller.datapath_type, controller.polling) == ("system", ())
    assert "neutron-dhcp-agent" in controller.agents


def test_machines_of_sriov_and_macvtap():
    compute = expected("sriov", "compute1")
    assert "neutron-sriov-nic-agent" in compute.agents
    assert compute.functions == {"0000:af:00.0": 8}
    assert expected("sriov", "controller").functions == {}
    assert expected("macvtap", "compute1").agents == ("neutron-macvtap-agent",)
    assert expected("macvtap", "compute1").datapath_type is None


def test_machines_of_ovn():
    compute, controller = expected("ovn-kernel", "compute1"), expected("ovn-kernel", "controller")
    assert compute.agents == controller.agents == ("ovn-controller", "neutron-ovn-metadata-agent")
    assert (compute.datapath_type, compute.polling, compute.takes_hugepages) == ("system", (), False)


class HostDouble:
    """A double of a host over SSH, with podman or without any engine."""

    def __init__(self, user="root", engine="/usr/bin/podman\n"):
        self.spec = RemoteHostSpec(address="10.10.0.11", user=user, key="/k", known_hosts="/h")
        self.engine, self.ran, self.times = engine, [], []

    def run(self, argv, *, check, timeout_s):
        """Remember what was run, and how long it might take."""
        assert not check
        self.ran.append(tuple(argv))
        self.times.append(timeout_s)
        return CommandResult(0, (self.engine if "command -v" in argv[-1] else "answer").encode(), "")


@pytest.mark.parametrize(("user", "rights"), [("root", ()), ("kolla", ("sudo", "-n"))])
def test_commands_run_in_the_switchs_container(user, rights):
    host = HostDouble(user)
    commands = KollaCommands("compute1", host, "ovsdpdk_vswitchd")
    assert commands.vsctl("list", "Bridge") == commands.vsctl("list", "Bridge") == "answer"
    inside = (*rights, "/usr/bin/podman", "exec", "ovsdpdk_vswitchd")
    assert host.ran[1:] == [(*inside, "ovs-vsctl", "--timeout=20", "--format=json", "list", "Bridge")] * 2
    commands.appctl("dpif-netdev/pmd-rxq-show")
    assert host.ran[-1][: len(inside) + 1] == (*inside, "sh")
    assert host.ran[-1][-2:] == ("--timeout=20", "dpif-netdev/pmd-rxq-show"), "words are arguments of the script"


def test_libvirt_is_asked_in_its_own_container_for_as_long_as_it_may_take(monkeypatch):
    host = HostDouble("kolla")

    @contextmanager
    def commands(site, compute, container):
        assert site == "site"
        yield KollaCommands(compute, host, container)

    monkeypatch.setattr(computes, "commands_in", commands)
    answer = computes.RackHypervisor("site", "compute1").virsh(("qemu-agent-command", "i-1", "{}"), 95.0)
    inside = ("sudo", "-n", "/usr/bin/podman", "exec", "nova_libvirt")
    assert host.ran[-1] == (*inside, "virsh", "--quiet", "qemu-agent-command", "i-1", "{}")
    assert (answer.out, host.times[-1]) == ("answer", 95.0)


def test_a_machine_without_containers():
    with pytest.raises(PrerequisiteError, match="no engine for containers"):
        KollaCommands("compute1", HostDouble(engine=""), "ovsdpdk_vswitchd").vsctl("list", "Bridge")


class LabelledHost(HostDouble):
    """A double of a host whose engine prints labels."""

    def __init__(self, printed):
        super().__init__()
        self.printed = printed

    def run(self, argv, *, check, timeout_s):
        """Answer an inspection as the engine does."""
        return (
            CommandResult(0, self.printed.encode(), "")
            if "inspect" in argv
            else super().run(argv, check=check, timeout_s=timeout_s)
        )


@pytest.mark.parametrize(
    ("labels", "state", "said"),
    [
        ({"kolla_version": "22.2.0", "nfvbed.images": "ours"}, State.PRESENT, "Kolla 22.2.0, images: ours"),
        ({"kolla_version": "22.2.0", "maintainer": "Kolla Project"}, State.PRESENT, "Kolla 22.2.0, images: Kolla's"),
        ({"name": "other"}, State.UNKNOWN, "neither Kolla's nor nfvbed's"),
        (None, State.UNKNOWN, "neither Kolla's nor nfvbed's"),
    ],
)
def test_containers_say_whose_images_they_are_of(labels, state, said):
    host = LabelledHost(json.dumps(labels) + "\n")
    found = read_origin(KollaCommands("compute1", host, "ovsdpdk_vswitchd"))
    assert (found.topic, found.state) == ("compute1: images", state)
    assert said in found.summary


def test_a_container_that_is_not_there_says_nothing():
    found = read_origin(KollaCommands("compute1", LabelledHost("no such object\n"), "ovsdpdk_vswitchd"))
    assert found.state is State.UNKNOWN
    assert "ovsdpdk_vswitchd" in found.summary


@pytest.mark.parametrize(("images", "whose"), [(None, "ours"), ("build", "ours"), ("pull", "Kolla's")])
def test_a_deployment_says_whose_images_it_has(images, whose):
    asked = order("ovs-dpdk")
    site = asked.site.model_copy(update={"machines": "box", "images": images})
    assert origin_of(site, asked.release) == f"kolla-ansible 22.2.0, images: {whose}"


def test_the_verb_says_what_it_needs(tmp_path, monkeypatch, capsys):
    assert main(["verify", "--site", "rack"]) == 2
    assert "nfvbed verify VARIANT --site rack" in capsys.readouterr().err
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text(json.dumps({"clouds": {"other": {"auth": {"auth_url": "http://10.10.0.250:5000"}}}}))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
    assert main(["verify", "ovs-dpdk", "--site", "rack"]) == 10
    assert "unknown cloud 'kolla-admin'" in capsys.readouterr().err
