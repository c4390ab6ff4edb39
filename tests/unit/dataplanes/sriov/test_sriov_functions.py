"""The order in which functions are made and bound, and how all of it is undone; on doubles."""

from dataclasses import dataclass, field

import pytest

from nfvbed.dataplanes.sriov import functions, settings
from nfvbed.dataplanes.sriov.choice import choose
from nfvbed.dataplanes.sriov.functions import SriovNic
from nfvbed.dataplanes.sriov.options import SriovOptions, VfSettings
from nfvbed.dataplanes.sriov.plan import cables, plan_functions
from nfvbed.dataplanes.sriov.settings import VfLink, VfState
from nfvbed.dataplanes.sriov.vfs import read_functions
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger import restore
from nfvbed.host.ledger.entries import DriverEntry, FileEntry, VfSettingsEntry
from nfvbed.host.network import rebind
from nfvbed.host.nics import binding
from nfvbed.host.nics.pf import discover, driver_of
from nfvbed.spec.layout import layout

ZERO = VfState(mac="00:00:00:00:00:00", trust=False, spoof_check=True)


@dataclass
class FakeVfLink(VfLink):
    """A double of a NIC's driver: keeps what is set, but for what it does not know."""

    states: dict[int, VfState]
    deaf: tuple[str, ...] = ()
    requests: list[tuple[int, dict]] = field(default_factory=list)

    def read(self):
        return dict(self.states)

    def set(self, index, attributes):
        self.requests.append((index, attributes))
        ((key, value),) = attributes.items()
        if key in self.deaf:
            return
        words = {"mac": "mac", "vlan": "vlan", "trust": "trust", "spoofchk": "spoof_check"}
        if key == "rate":
            changed = {"min_rate_mbps": value["min_tx_rate"], "max_rate_mbps": value["max_tx_rate"]}
        else:
            changed = {words[key]: bool(value) if key in ("trust", "spoofchk") else value}
        self.states[index] = self.states[index].model_copy(update=changed)


def a_nic(tree, ledger, kind="igb", link=None):
    chosen = choose(SriovOptions(dataplane="sriov", pf_interface=None), discover(tree.root))
    return SriovNic(chosen, ledger, link or FakeVfLink(dict.fromkeys(range(8), ZERO)), tree.root)


def plans(topology="p2p", **given):
    return plan_functions(layout(topology), SriovOptions(dataplane="sriov", **given), None)


def test_functions_are_in_the_order_of_the_path():
    found = plans("pvvp")
    assert [one.name for one in found] == ["p0", "v1a", "v1b", "v2a", "v2b", "p1"]
    assert [one.netdev for one in found] == ["g0", "eth1a", "eth1b", "eth2a", "eth2b", "g1"]
    assert [one.space for one in found] == ["generator", "vnf1", "vnf1", "vnf2", "vnf2", "generator"]
    assert len({one.mac for one in found}) == 6
    assert cables(layout("pvvp"), found) == [(0, 1), (2, 3), (4, 5)]


def test_a_vlan_for_each_cable():
    assert [one.settings.vlan for one in plans("pvp", vlan_per_cable=100)] == [100, 100, 101, 101]


def test_single_ports_are_laid_down_over_the_general_settings():
    first, last = plans(settings={"trust": True}, ports={"p1": {"trust": False, "mac": "02:00:00:00:00:09"}})
    assert (first.settings.trust, last.settings.trust) == (True, False)
    assert last.mac == "02:00:00:00:00:09"


def test_the_generator_keeps_its_addresses_before_vnfs():
    with pytest.raises(UnsupportedError, match="keep their addresses"):
        plans("pvp", ports={"p0": {"mac": "02:00:00:00:00:09"}})


def test_drivers_are_kept_off_until_settings_are_laid_down(sys_tree, ledger):
    address = sys_tree.nic("igb")
    on = a_nic(sys_tree, ledger)
    sys_tree.log.clear()
    found = functions.create(on, 2, 2)
    assert [one.driver for one in found] == [None, None]
    functions.lay_down(on, plans())
    assert functions.give_drivers(on, plans(), found) == {0: "igbvf", 1: "igbvf"}
    assert [name for name, _ in sys_tree.log if name.startswith(address)] == [
        f"{address}/sriov_drivers_autoprobe",
        f"{address}/sriov_numvfs",
        f"{address}/sriov_drivers_autoprobe",
    ]
    probes = [index for index, (name, _) in enumerate(sys_tree.log) if name == "pci/drivers_probe"]
    assert probes and min(probes) > sys_tree.log.index((f"{address}/sriov_drivers_autoprobe", "1"))


def test_what_was_made_is_recorded_first_and_undone_last(sys_tree, ledger):
    address = sys_tree.nic("igb")
    on = a_nic(sys_tree, ledger)
    found = functions.create(on, 2, 2)
    functions.give_drivers(on, plans(), found)
    first = ledger.entries[0]
    assert isinstance(first, FileEntry)
    assert (first.path, first.previous) == (str(sys_tree.root / "bus/pci/devices" / address / "sriov_numvfs"), "0")
    assert [entry.kind for entry in ledger.entries] == ["file", "file", "driver", "driver"]


def test_dpdk_binds_to_vfio_and_mellanox_does_not(sys_tree, ledger):
    sys_tree.nic("mlx5")
    on = a_nic(sys_tree, ledger)
    found = functions.create(on, 2, 2)
    assert set(functions.give_drivers(on, plans(attach="dpdk"), found).values()) == {"mlx5_core"}


def test_dpdk_binds_others_to_vfio(sys_tree, ledger):
    sys_tree.nic("ixgbe")
    on = a_nic(sys_tree, ledger)
    found = functions.create(on, 2, 2)
    assert set(functions.give_drivers(on, plans(attach="dpdk"), found).values()) == {"vfio-pci"}
    for one in found:
        assert rebind.read_override(one.address, sys_tree.root) == ""


def test_functions_that_were_there_are_used_and_given_back(sys_tree, ledger):
    address = sys_tree.nic("igb")
    sys_tree.functions(address, 3, "igbvf")
    link = FakeVfLink(dict.fromkeys(range(3), ZERO))
    on = a_nic(sys_tree, ledger, link=link)
    sys_tree.log.clear()
    found = functions.create(on, 2, 2)
    assert [driver_of(one.address, sys_tree.root) for one in found] == [None, None]
    functions.lay_down(on, plans())
    functions.give_drivers(on, plans(attach="dpdk"), found)
    assert not [name for name, _ in sys_tree.log if name.endswith("sriov_numvfs")]
    assert driver_of(read_functions(address, sys_tree.root)[2].address, sys_tree.root) == "igbvf"
    kinds = [entry.kind for entry in ledger.entries]
    assert kinds == ["driver", "driver", "vf-settings", "vf-settings", "driver", "driver"]
    for entry in reversed(ledger.entries):
        if isinstance(entry, DriverEntry):
            restore.driver(entry, sys_tree.root)
        elif isinstance(entry, VfSettingsEntry):
            for request in entry.requests:
                link.set(entry.index, request)
    assert [driver_of(one.address, sys_tree.root) for one in found] == ["igbvf", "igbvf"]
    assert set(link.states.values()) == {ZERO}


def test_functions_in_use_are_refused(sys_tree, ledger):
    address = sys_tree.nic("igb")
    sys_tree.functions(address, 2, "igbvf")
    used = read_functions(address, sys_tree.root)[1].address
    sys_tree.netdev(used, "eth7", "02:00:00:00:00:01", flags=0x1003)
    with pytest.raises(UnsupportedError, match="in use") as refused:
        functions.create(a_nic(sys_tree, ledger), 2, 2)
    assert "eth7" in refused.value.observed


def test_a_driver_that_takes_nothing_is_an_error(sys_tree, ledger, monkeypatch):
    sys_tree.nic("igb")
    (first, _) = functions.create(a_nic(sys_tree, ledger), 2, 2)
    monkeypatch.setattr(sys_tree, "written", lambda path, value: None)
    with pytest.raises(DeployError, match="has no driver") as failed:
        binding.bind(first.address, "vfio-pci", ledger, sys_tree.root)
    assert failed.value.fix.startswith("modprobe vfio-pci (of a kernel with CONFIG_VFIO_PCI")


def test_undoing_is_fine_with_what_is_gone(sys_tree):
    restore.driver(DriverEntry(address="0000:09:00.0", previous="igbvf", override=""), sys_tree.root)
    restore.driver(DriverEntry(address="0000:09:00.0", previous=None, override=""), sys_tree.root)


WANTED = VfSettings(mac="02:00:00:00:00:01", vlan=7, trust=True, spoof_check=False, min_rate_mbps=10, max_rate_mbps=100)


def test_every_setting_is_one_request_and_is_read_back(ledger):
    link = FakeVfLink({0: ZERO})
    now = settings.apply(link, 0, WANTED, ledger, "eth0")
    assert link.requests == [
        (0, {"mac": "02:00:00:00:00:01"}),
        (0, {"vlan": 7}),
        (0, {"trust": 1}),
        (0, {"spoofchk": 0}),
        (0, {"rate": {"min_tx_rate": 10, "max_tx_rate": 100}}),
    ]
    assert now.model_dump() == WANTED.model_dump()
    assert [entry.kind for entry in ledger.entries] == ["vf-settings"]


@pytest.mark.parametrize("deaf", ["mac", "vlan", "trust", "spoofchk", "rate"])
def test_a_setting_that_the_driver_ignores_is_found_out(ledger, deaf):
    with pytest.raises(UnsupportedError, match="does not take"):
        settings.apply(FakeVfLink({0: ZERO}, deaf=(deaf,)), 0, WANTED, ledger, "eth0")


def test_a_driver_that_does_not_tell_about_a_function_is_an_error(ledger):
    with pytest.raises(DeployError, match="does not tell"):
        settings.apply(FakeVfLink({}), 0, WANTED, ledger, "eth0")
