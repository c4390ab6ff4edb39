"""Virtual functions for instances: which NICs, and why a devcloud has none."""

import pytest

from nfvbed.cloud.devcloud.services.settings import CloudSettings, Secrets
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.sriov import compute as sriov
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.host.nics.pf import NetPort, PfPort, PhysicalFunction


def _port(name, functions=4):
    port = NetPort(name=name, mac="02:00:00:00:00:01")
    function = PhysicalFunction(
        address="0000:01:00.0",
        vendor=0x8086,
        device=0x1572,
        driver="i40e",
        ports=(port,),
        total_vfs=64,
        num_vfs=functions,
        numa_node=0,
    )
    return PfPort(function=function, port=port)


def test_without_a_nic_the_reason_is_the_probes(root, tmp_path):
    found = sriov.no_compute(open_project(root).load_variant("sriov"), tmp_path)
    assert found.what == "no NIC here can have virtual functions"
    assert found.observed == "no network device with sriov_totalvfs above 0"
    assert "SR-IOV" in found.fix


def test_two_ports_become_the_two_networks():
    first, second = sriov.nics([_port("ens1f0"), _port("ens1f1")], 0x1889)
    assert (first.mapping, second.mapping) == ("data0:ens1f0", "data1:ens1f1")
    assert first.alias == second.alias


@pytest.mark.parametrize("names", [["ens1f0"], ["ens1f0", "ens1f0"], []])
def test_each_network_needs_a_port_of_its_own(names):
    with pytest.raises(ConfigurationError, match="data0 and data1 need"):
        sriov.nics([_port(name) for name in names], 0x1889)


def test_a_port_without_functions_is_named_with_the_command():
    with pytest.raises(UnsupportedError, match="ens1f1 has no virtual functions") as raised:
        sriov.nics([_port("ens1f0"), _port("ens1f1", 0)], 0x1889)
    assert raised.value.fix.startswith("echo 4 > /sys/bus/pci/devices/0000:01:00.0/sriov_numvfs (at most")


def test_no_file_is_rendered_without_a_nic(tmp_path):
    with pytest.raises(ConfigurationError, match="has no NIC"):
        sriov.configuration(CloudSettings(Secrets.open(tmp_path / "secrets.json")), ())
