"""Counters of a node's Open vSwitch, and what is said where it has lost a port."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.cloud.compute import AddressLead
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.nodeswitch import NodeSwitch, SwitchPort
from nfvbed.errors import DeployError
from nfvbed.spec.layout import End

LOG = """\
2026-11-25T16:25:36Z|00330|netdev_dpdk|ERR|Failed to create mempool "ovsb15a" with a request of 10256 mbufs
2026-11-25T16:25:36Z|00331|dpif_netdev|INFO|Performing pmd to rx queue assignment using cycles algorithm.
2026-11-25T16:25:36Z|00332|dpif_netdev|ERR|Failed to set interface gen0 new configuration
"""


class WithoutPorts(NodeSwitch):
    """Stands for a switch that has taken its ports off again: a double."""

    def _counted(self, bridges):
        return {}


@pytest.mark.parametrize(("log", "observed"), [(LOG, "Failed to set interface gen0"), ("", "its log has no error")])
def test_a_port_that_the_switch_could_not_set_up_is_named_with_its_reason(tmp_path: Path, log: str, observed: str):
    (tmp_path / "ovs-vswitchd.log").write_text(log)
    switch = WithoutPorts(SimpleNamespace(name="controller", places=SimpleNamespace(logs=tmp_path)))
    with pytest.raises(DeployError, match="does not have port gen0") as error:
        switch.hops([SwitchPort("br-data0", "gen0", End(None, 0))])
    assert observed in error.value.observed and "INFO" not in error.value.observed
    assert "hugepages_mib" in error.value.fix


class Tagged(NodeSwitch):
    """Stands for a switch on which Neutron's agent has tagged the ports."""

    control = Path("control")

    def vsctl(self, *words):
        return {"tap-in": "3\n", "tap-out": "4\n", "tap-new": "[]\n"}[words[2]]


def guest(*names):
    ports = tuple(InstancePort(name, f"data{side}", "02::1") for side, name in enumerate(names))
    return PlacedInstance("1", "vnf", "controller", ports)


def device(port):
    return f"tap-{port.id}"


def test_an_address_leads_to_an_instance_or_to_the_generator_in_the_networks_vlan(monkeypatch):
    told = []
    monkeypatch.setattr(unixctl, "command", lambda socket, *words: told.append(words))
    one = guest("in", "out")
    leads = [AddressLead(0, "02::a", one), AddressLead(1, "02::b", None), AddressLead(1, "02::c", one)]
    Tagged(SimpleNamespace()).lead(leads, device)
    assert told == [
        ("fdb/add", "br-int", "tap-in", "3", "02::a"),
        ("fdb/add", "br-int", "int-br-data1", "4", "02::b"),
        ("fdb/add", "br-int", "tap-out", "4", "02::c"),
    ]


def test_a_port_that_the_agent_has_not_tagged_is_named():
    with pytest.raises(DeployError, match="has no tag") as error:
        Tagged(SimpleNamespace()).lead([AddressLead(0, "02::a", guest("new", "out"))], device)
    assert error.value.where == "br-int port tap-new"
