"""The attributes that go to the kernel, and what of its answers is read; against doubles of pyroute2's sockets."""

import pytest
from pyroute2.netlink.devlink import devlinkcmd
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.rtnl.ifinfmsg import ifinfmsg

from nfvbed.dataplanes.sriov import representors, settings
from nfvbed.dataplanes.sriov.settings import NetlinkVfLink, VfState
from nfvbed.errors import UnsupportedError
from nfvbed.host.network import devlink


class FakeRoute:
    """A double of IPRoute: one link with one function."""

    asked: list

    def __init__(self):
        type(self).asked = []

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def link_lookup(self, ifname):
        return [4] if ifname == "eth0" else []

    def link(self, command, **keys):
        self.asked.append((command, keys))
        info = ifinfmsg.vflist.vfinfo()
        info["attrs"] = [
            ("IFLA_VF_MAC", {"vf": 3, "mac": "02:00:00:00:00:01"}),
            ("IFLA_VF_VLAN", {"vf": 3, "vlan": 9, "qos": 0}),
            ("IFLA_VF_SPOOFCHK", {"vf": 3, "spoofchk": 1}),
            ("IFLA_VF_TRUST", {"vf": 3, "trust": 0xFFFFFFFF}),
            ("IFLA_VF_RATE", {"vf": 3, "min_tx_rate": 0, "max_tx_rate": 50}),
        ]
        listed = ifinfmsg.vflist()
        listed["attrs"] = [("IFLA_VF_INFO", info)]
        message = ifinfmsg()
        message["attrs"] = [("IFLA_VFINFO_LIST", listed)]
        return (message,)


def test_functions_are_asked_for_and_read(monkeypatch):
    monkeypatch.setattr(settings, "IPRoute", FakeRoute)
    assert NetlinkVfLink("eth0").read() == {
        3: VfState(mac="02:00:00:00:00:01", vlan=9, trust=None, spoof_check=True, max_rate_mbps=50)
    }
    assert FakeRoute.asked == [("get", {"index": 4, "ext_mask": 1})]


def test_a_setting_goes_to_its_function(monkeypatch):
    monkeypatch.setattr(settings, "IPRoute", FakeRoute)
    NetlinkVfLink("eth0").set(3, {"vlan": 9})
    assert FakeRoute.asked == [("set", {"index": 4, "vf": {"vf": 3, "vlan": 9}})]


class FakeDevlink:
    """A double of devlink's socket."""

    prid = 21
    sent: list
    answer: int | None = 1

    def __init__(self):
        type(self).sent = []

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def nlm_request(self, message, msg_type, msg_flags):
        self.sent.append(dict(message["attrs"]) | {"cmd": message["cmd"]})
        if self.answer is None:
            raise NetlinkError(95, "Operation not supported")
        reported = devlinkcmd()
        reported["attrs"] = [("DEVLINK_ATTR_ESWITCH_MODE", self.answer)]
        return (reported,)


def test_the_mode_is_asked_for_by_bus_and_address(monkeypatch):
    monkeypatch.setattr(devlink, "DL", FakeDevlink)
    assert devlink.mode("0000:81:00.0") == "switchdev"
    assert FakeDevlink.sent == [{"DEVLINK_ATTR_BUS_NAME": "pci", "DEVLINK_ATTR_DEV_NAME": "0000:81:00.0", "cmd": 29}]


def test_the_mode_is_set(monkeypatch):
    monkeypatch.setattr(devlink, "DL", FakeDevlink)
    devlink.set_mode("0000:81:00.0", "legacy")
    assert (FakeDevlink.sent[0]["cmd"], FakeDevlink.sent[0]["DEVLINK_ATTR_ESWITCH_MODE"]) == (30, 0)


def test_a_driver_without_modes_is_refused_for_switchdev_only(monkeypatch):
    monkeypatch.setattr(devlink, "DL", FakeDevlink)
    monkeypatch.setattr(FakeDevlink, "answer", None)
    assert devlink.mode("0000:01:00.0") is None
    with pytest.raises(UnsupportedError, match="cannot be set"):
        devlink.set_mode("0000:01:00.0", "switchdev")


def test_representors_are_reported_by_switch_and_port_name(tmp_path):
    for name, switch, port in (
        ("ens2f0", "aabb", "p0"),
        ("ens2f0_0", "aabb", "pf0vf0"),
        ("ens2f0_1", "aabb", "1"),
        ("other_0", "ccdd", "pf0vf0"),
        ("lo", "", ""),
    ):
        folder = tmp_path / "class/net" / name
        folder.mkdir(parents=True)
        (folder / "phys_switch_id").write_text(switch)
        (folder / "phys_port_name").write_text(port)
    assert representors.find("ens2f0", tmp_path) == {0: "ens2f0_0", 1: "ens2f0_1"}
