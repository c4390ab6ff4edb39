"""What `record.py` prints is read: as it was recorded on a virtual machine, and as sysfs(5) has bonds and functions."""

import json
import subprocess
import sys
from pathlib import Path

from nfvbed.sites.kolla.preflight import record
from nfvbed.sites.kolla.preflight.facts import facts_of

RECORDED = Path(__file__).parent / "recorded" / "two_core_vm.json"
NET, BUS = "sys/class/net", "sys/bus/pci/devices"
BOND = {
    f"{NET}/eth0": {"link": "../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/net/eth0"},
    f"{NET}/eth0/address": "02:00:00:00:00:01",
    f"{NET}/eth0/flags": "0x1843",
    f"{NET}/eth0/carrier": "0",
    f"{NET}/eth1": {"link": "../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.1/net/eth1"},
    f"{NET}/eth1/flags": "0x1002",
    f"{NET}/bond0": {"link": "../../devices/virtual/net/bond0"},
    f"{NET}/bond0/lower_eth0": {"link": "../../0000:3b:00.0/net/eth0"},
    f"{NET}/bond0/lower_eth1": {"link": "../../0000:3b:00.1/net/eth1"},
    f"{NET}/bond0.10": {"link": "../../devices/virtual/net/bond0.10"},
    f"{NET}/bond0.10/lower_bond0": {"link": "../bond0"},
    f"{BUS}/0000:3b:00.0/class": "0x020000",
    f"{BUS}/0000:3b:00.0/vendor": "0x15b3",
    f"{BUS}/0000:3b:00.0/numa_node": "1",
    f"{BUS}/0000:3b:00.0/driver": {"link": "../../../bus/pci/drivers/mlx5_core"},
    f"{BUS}/0000:3b:00.0/sriov_totalvfs": "16",
    f"{BUS}/0000:3b:00.1/class": "0x020000",
    f"{BUS}/0000:3b:00.2/class": "0x020000",
    f"{BUS}/0000:3b:00.2/driver": {"link": "../../../bus/pci/drivers/vfio-pci"},
    f"{BUS}/0000:3b:00.2/physfn": {"link": "../0000:3b:00.0"},
    "sys/kernel/iommu_groups/7/type": "DMA",
}


def document(**changes):
    answers = {name: {"status": 0, "out": "", "said": ""} for name in ("links", "addresses", "routes")}
    return {"files": BOND, "answers": answers, "modules": {}, "address": "", "uid": 0} | changes


def test_the_numa_node_that_the_machine_does_not_say_is_not_node_0():
    for said, node in (("-1", None), ("0", 0), ("1", 1)):
        files = BOND | {f"{BUS}/0000:3b:00.0/numa_node": said}
        assert facts_of(document(files=files)).nics[0].numa_node == node
    assert facts_of(document()).nics[1].numa_node is None, "no such file"


def test_all_that_is_in_a_nics_iommu_group_is_recorded_and_read(tmp_path):
    """A NIC, its second port, a disk and a bridge in one group; a disk of another group, which is no NIC's."""
    groups = tmp_path / "sys/kernel/iommu_groups"
    for address, kind, driver, group in (
        ("0000:3b:00.0", "0x020000", "ice", "75"),
        ("0000:3b:00.1", "0x020000", "tg3", "75"),
        ("0000:3b:01.0", "0x010700", "megaraid_sas", "75"),
        ("0000:3a:00.0", "0x060400", "pcieport", "75"),
        ("0000:00:17.0", "0x010601", "ahci", "3"),
    ):
        folder, members = tmp_path / BUS / address, groups / group / "devices"
        folder.mkdir(parents=True)
        members.mkdir(parents=True, exist_ok=True)
        (folder / "class").write_text(f"{kind}\n")
        (folder / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
        (folder / "iommu_group").symlink_to(f"{groups}/{group}")
        (members / address).symlink_to(f"../../../../devices/pci0000:3a/{address}")
    files = record.recorded_files(tmp_path)
    assert not [name for name in files if "0000:00:17.0" in name]
    first, second = facts_of(document(files=files)).nics
    assert (first.pci, first.iommu_group, second.driver) == ("0000:3b:00.0", 75, "tg3")
    assert first.group == second.group
    assert [(one.address, one.driver, one.can_be_driven) for one in first.group] == [
        ("0000:3a:00.0", "pcieport", False),
        ("0000:3b:00.0", "ice", True),
        ("0000:3b:00.1", "tg3", True),
        ("0000:3b:01.0", "megaraid_sas", True),
    ]


def test_a_recorded_virtual_machine():
    facts = facts_of(json.loads(RECORDED.read_text()))
    assert (facts.hostname, len(facts.cores), facts.isolated, facts.siblings) == ("vm", 2, (), ())
    assert (facts.address_on, facts.address_nics, facts.route_nics) == ("eth0", ("eth0",), ("eth0",))
    (nic,) = facts.nics
    assert (nic.pci, nic.interface, nic.driver) == ("0000:00:03.0", "eth0", "virtio-pci")
    assert nic.numa_node is None and facts.node_of(nic) == 0, "it says -1, and has one node"
    assert (nic.mtu, nic.max_mtu, nic.carrier, nic.total_functions) == (1400, 65535, True, 0)
    assert facts.nodes[0].pages == {2048: 0, 1048576: 0}
    assert facts.iommu_groups == 0 and facts.may_administer
    assert facts.summary.startswith("Debian GNU/Linux 12 (bookworm), kernel 6.18.44; 1 NUMA nodes, 2 cores")


def test_nics_below_a_vlan_on_a_bond_and_functions():
    answers = document()["answers"]
    answers["addresses"]["out"] = "9: bond0.10    inet 10.10.0.11/24 brd 10.10.0.255 scope global bond0.10"
    answers["routes"]["out"] = "default via 10.10.0.1 dev bond0.10 proto static"
    answers["links"]["out"] = (
        "2: eth0: <UP> mtu 1500 \\ link/ether minmtu 68 maxmtu 9978 addrgenmode\n3: eth1: <> mtu 9"
    )
    facts = facts_of(document(answers=answers, address="10.10.0.11"))
    assert (facts.address_on, facts.address_nics, facts.route_nics) == ("bond0.10", ("eth0", "eth1"), ("eth0", "eth1"))
    first, second, function = facts.nics
    assert (first.pci, first.is_mellanox, first.total_functions, first.numa_node) == ("0000:3b:00.0", True, 16, 1)
    assert (first.max_mtu, first.carrier) == (9978, False)
    assert (second.max_mtu, second.carrier) == (None, None), "it is not up: nobody knows"
    assert (function.is_function, function.interface, function.driver) == (True, None, "vfio-pci")
    assert facts.iommu_groups == 1


def test_rights_and_an_address_that_no_device_has():
    answers = document()["answers"] | {"sudo": {"status": 1, "out": "", "said": "sudo: a password is required"}}
    facts = facts_of(document(answers=answers, address="10.10.0.11"))
    assert (facts.may_administer, facts.refused) == (False, "sudo: a password is required")
    assert (facts.address_on, facts.address_nics) == ("", ())


def test_what_runs_there_needs_nothing_of_nfvbed_and_reads_this_machine():
    done = subprocess.run(
        [sys.executable, "-I", "-"], input=Path(record.__file__).read_bytes(), capture_output=True, check=True
    )
    facts = facts_of(json.loads(done.stdout))
    assert facts.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert facts.cores


def test_a_device_that_is_no_hardware_is_a_nic_if_the_site_s_file_names_its_mac_address():
    """A veth that Open vSwitch has as a packet socket: its bridge and a VLAN on it have the same address."""
    mac = "52:54:00:30:00:0b"
    files = {
        f"{NET}/dp0": {"link": "../../devices/virtual/net/dp0"},
        f"{NET}/dp0/address": mac,
        f"{NET}/dp0/mtu": "1500",
        f"{NET}/dp0.200": {"link": "../../devices/virtual/net/dp0.200"},
        f"{NET}/dp0.200/address": mac,
        f"{NET}/dp0.200/lower_dp0": {"link": "../dp0"},
        f"{NET}/br-data": {"link": "../../devices/virtual/net/br-data"},
        f"{NET}/br-data/address": mac,
        f"{NET}/br-data/tun_flags": "0x1002",
        f"{NET}/mg0": {"link": "../../devices/virtual/net/mg0"},
        f"{NET}/mg0/address": "52:54:00:10:00:0b",
        # A bridge without a port, which lies on nothing.
        f"{NET}/docker0": {"link": "../../devices/virtual/net/docker0"},
        f"{NET}/docker0/address": "52:54:00:10:00:0b",
        f"{NET}/docker0/bridge/bridge_id": "8000.52540010000b",
        f"{NET}/br-kernel": {"link": "../../devices/virtual/net/br-kernel"},
        f"{NET}/br-kernel/address": "52:54:00:10:00:0b",
    }
    answers = document()["answers"]
    answers["addresses"]["out"] = "2: mg0    inet 10.10.0.11/24 scope global mg0"
    answers["links"]["out"] = (
        "9: br-kernel: <UP> mtu 1500 \\    link/ether 52:54:00:10:00:0b \\    openvswitch addrgenmode eui64"
    )
    made = document(files=files, answers=answers, address="10.10.0.11")
    assert facts_of(made).nics == () and facts_of(made).address_nics == ()
    facts = facts_of(made, {mac, "52:54:00:10:00:0b"})
    data, management = facts.nics
    assert (data.interface, data.pci, data.is_virtual, data.alike) == ("dp0", None, True, ("dp0.200",))
    assert (management.interface, management.alike, facts.address_nics) == ("mg0", (), ("mg0",))


def test_a_vlan_with_a_mac_address_of_its_own_is_a_nic_and_its_address_is_of_both():
    own = "52:54:00:30:00:0c"
    files = BOND | {
        f"{NET}/eth0.200": {"link": "../../devices/virtual/net/eth0.200"},
        f"{NET}/eth0.200/address": own,
        f"{NET}/eth0.200/lower_eth0": {"link": "../../0000:3b:00.0/net/eth0"},
    }
    answers = document()["answers"]
    answers["addresses"]["out"] = "2: eth0.200    inet 10.10.0.11/24 scope global eth0.200"
    facts = facts_of(document(files=files, answers=answers, address="10.10.0.11"), {own, "02:00:00:00:00:01"})
    assert [nic.interface for nic in facts.nics if nic.is_virtual] == ["eth0.200"]
    assert facts.address_nics == ("eth0", "eth0.200"), "a data plane may have neither"


def test_netlinks_attributes_are_split_as_they_are_padded():
    """Index 7, and 23 for XDP's features, as the kernel's netdev family has them: an attribute is padded to 4 B."""
    data = (
        b"\x08\x00\x01\x00\x07\x00\x00\x00" + b"\x05\x00\x09\x00\x01\x00\x00\x00" + b"\x0c\x00\x03\x00\x17" + bytes(7)
    )
    assert record.attributes(data) == [(1, b"\x07\0\0\0"), (9, b"\x01"), (3, b"\x17" + bytes(7))]


def test_whether_xdp_may_send_through_a_nic_is_read_where_the_kernel_says_so():
    found = facts_of(document(features={"eth0": 0x17}))
    assert [nic.takes_redirected for nic in found.nics[:2]] == [True, None]
    assert facts_of(document(features={"eth0": 0x13})).nics[0].takes_redirected is False


def test_devices_of_addresses_and_which_address_is_a_second_one():
    """As `ip -o -4 address` of iproute2 6.1 prints it."""
    shown = (
        "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever\n"
        "5: bond0.10    inet 10.10.0.11/24 brd 10.10.0.255 scope global bond0.10\\       valid_lft forever\n"
        "5: bond0.10    inet 10.10.0.12/24 scope global secondary bond0.10\\       valid_lft forever\n"
    )
    answers = document()["answers"] | {"addresses": {"status": 0, "out": shown, "said": ""}}
    found = facts_of(document(answers=answers))
    assert found.devices == {"127.0.0.1": "lo", "10.10.0.11": "bond0.10", "10.10.0.12": "bond0.10"}
    assert found.second_addresses == ("10.10.0.12",)
