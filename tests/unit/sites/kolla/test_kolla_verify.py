"""What a variant says of a rack's machines, and how commands get into Kolla's containers there."""

import json

import pytest

from nfvbed.cli.main import main
from nfvbed.errors import PrerequisiteError
from nfvbed.host.remote.connection import CommandResult
from nfvbed.sites.kolla.verify.containers import KollaCommands
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


class HostDouble:
    """A double of a host over SSH, with podman or without any engine."""

    def __init__(self, user="root", engine="/usr/bin/podman\n"):
        self.spec = RemoteHostSpec(address="10.10.0.11", user=user, key="/k", known_hosts="/h")
        self.engine, self.ran = engine, []

    def run(self, argv, *, check):
        """Remember what was run."""
        assert not check
        self.ran.append(tuple(argv))
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


def test_a_machine_without_containers():
    with pytest.raises(PrerequisiteError, match="no engine for containers"):
        KollaCommands("compute1", HostDouble(engine=""), "ovsdpdk_vswitchd").vsctl("list", "Bridge")


def test_the_verb_says_what_it_needs(tmp_path, monkeypatch, capsys):
    assert main(["verify", "--site", "rack"]) == 2
    assert "nfvbed verify VARIANT --site rack" in capsys.readouterr().err
    clouds = tmp_path / "clouds.yaml"
    clouds.write_text(json.dumps({"clouds": {"other": {"auth": {"auth_url": "http://10.10.0.250:5000"}}}}))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
    assert main(["verify", "ovs-dpdk", "--site", "rack"]) == 10
    assert "unknown cloud 'kolla-admin'" in capsys.readouterr().err
