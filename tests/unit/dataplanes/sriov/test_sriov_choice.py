"""Which port of which NIC is taken, and what is refused."""

import pytest

from nfvbed.dataplanes.sriov import choice
from nfvbed.dataplanes.sriov.choice import choose
from nfvbed.dataplanes.sriov.options import SriovOptions
from nfvbed.dataplanes.sriov.vfs import check_number
from nfvbed.errors import UnsupportedError
from nfvbed.host.nics import mellanox
from nfvbed.host.nics.pf import discover


def options(**given):
    return SriovOptions(dataplane="sriov", **given)


def test_no_nic_is_a_reason_with_a_way_out(sys_tree):
    with pytest.raises(UnsupportedError) as refused:
        choose(options(), discover(sys_tree.root))
    assert "sriov_totalvfs" in refused.value.observed
    assert "firmware" in refused.value.fix


def test_the_only_nic_needs_no_name(sys_tree):
    sys_tree.nic("ixgbe")
    chosen = choose(options(), discover(sys_tree.root))
    assert (chosen.function.address, chosen.port.name, chosen.function.total_vfs) == ("0000:05:00.0", "ens1f0", 63)
    assert chosen.function.numa_node == 1
    assert chosen.function.driver == "ixgbe"


def test_a_node_of_minus_one_is_none(sys_tree):
    sys_tree.nic("igb")
    assert discover(sys_tree.root)[0].numa_node is None


def test_functions_and_other_devices_are_no_nics(sys_tree):
    sys_tree.functions(sys_tree.nic("igb"), 2)
    assert [one.driver for one in discover(sys_tree.root)] == ["igb"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"pf_address": "0000:81:00.0"}, "ens2f0"),
        ({"pf_interface": "ens1f0"}, "ens1f0"),
        ({"pf_mac": "24:8a:07:00:00:02"}, "ens3d1"),
        ({"pf_address": "0000:82:00.0", "pf_interface": "ens3"}, "ens3"),
    ],
)
def test_a_port_is_found_by_each_of_its_names(sys_tree, given, name):
    for kind in ("ixgbe", "mlx4", "mlx5"):
        sys_tree.nic(kind)
    assert choose(options(**given), discover(sys_tree.root)).port.name == name


def test_the_address_of_a_connectx3_names_two_ports(sys_tree):
    sys_tree.nic("mlx4")
    with pytest.raises(UnsupportedError, match="several ports") as refused:
        choose(options(pf_address="0000:82:00.0"), discover(sys_tree.root))
    assert "ens3d1" in refused.value.observed
    assert "pf_mac" in refused.value.fix
    assert "--set" not in refused.value.fix, "no command sets a variant's options"


def test_a_name_that_nothing_has_is_refused_with_what_there_is(sys_tree):
    sys_tree.nic("igb")
    with pytest.raises(UnsupportedError, match="no port fits") as refused:
        choose(options(pf_interface="ens9"), discover(sys_tree.root))
    assert "eth0" in refused.value.observed


def test_more_functions_than_the_nic_has_are_refused(sys_tree):
    sys_tree.nic("igb")
    (function,) = discover(sys_tree.root)
    check_number(function, 7)
    with pytest.raises(UnsupportedError, match="more than the NIC can have"):
        check_number(function, 8)


def test_functions_of_others_are_not_removed_for_more(sys_tree):
    sys_tree.functions(sys_tree.nic("igb"), 2, "igbvf")
    (function,) = discover(sys_tree.root)
    check_number(function, 2)
    with pytest.raises(UnsupportedError, match="has 2 virtual functions already") as refused:
        check_number(function, 4)
    assert "echo 0" in refused.value.fix


def connectx3(tree, name="ens3"):
    tree.nic("mlx4")
    return choose(options(pf_interface=name), discover(tree.root))


def test_a_connectx3_without_functions_gets_the_exact_file(sys_tree):
    chosen = connectx3(sys_tree)
    parameters = sys_tree.root / "module/mlx4_core/parameters"
    parameters.mkdir(parents=True)
    (parameters / "port_type_array").write_text("2,2\n")
    with pytest.raises(UnsupportedError, match="driver's options") as refused:
        choice.check(options(), chosen, 4, sys_tree.root)
    assert "options mlx4_core num_vfs=0,0,4 port_type_array=2,2 probe_vf=0,0,4" in refused.value.fix
    assert "port_type_array=2,2" in refused.value.observed


def test_a_connectx3_has_no_trust_and_no_representors(sys_tree):
    chosen = connectx3(sys_tree)
    with pytest.raises(UnsupportedError, match="no trust"):
        choice.check(options(ports={"p0": {"trust": True}}), chosen, 0, sys_tree.root)
    with pytest.raises(UnsupportedError, match="no representors"):
        choice.check(options(embedded_switch="switchdev"), chosen, 0, sys_tree.root)


def test_other_nics_are_not_asked_for_module_options(sys_tree):
    sys_tree.nic("mlx5")
    chosen = choose(options(), discover(sys_tree.root))
    choice.check(options(settings={"trust": True}), chosen, 8, sys_tree.root)
    assert mellanox.keeps_kernel_driver(chosen.function)


def test_dpdk_names_a_connectx3_by_its_address_and_mac(sys_tree):
    chosen = connectx3(sys_tree)
    assert mellanox.dpdk_device("0000:82:00.1", chosen, "02:00:00:00:00:01") == (
        "0000:82:00.1,class=eth,mac=02:00:00:00:00:01"
    )


def test_dpdk_names_other_nics_by_address(sys_tree):
    sys_tree.nic("mlx5")
    chosen = choose(options(), discover(sys_tree.root))
    assert mellanox.dpdk_device("0000:81:00.2", chosen, "02:00:00:00:00:01") == "0000:81:00.2"
