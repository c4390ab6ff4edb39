"""Variants of the bridge that say which NIC their guests have."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ports.kernel_options import vhost_of
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.vnf import VnfChoice

PROJECT = open_project()
VLOOP = PROJECT.load_vnf("vloop")
ROWS = {
    "linux-bridge-virtio": ("virtio", False, True),
    "linux-bridge-vhost-net": ("virtio", True, True),
    "linux-bridge-no-offloads": ("virtio", False, False),
    "emulated-nic": ("e1000", None, True),
    "emulated-nic-rtl8139": ("rtl8139", None, True),
}
"""Variant: its guests' NIC, whether the kernel moves their frames (None: as it can), offloads."""


def choice(kind=VnfKind.VM, vnic="any"):
    flavor = PROJECT.load_flavor(VLOOP.flavor)
    return VnfChoice(label="", vnf=VLOOP, kind=kind, forwarding="bridge", flavor=flavor, vnic=vnic)


@pytest.mark.parametrize("name", ROWS)
def test_rows_say_what_they_are(name):
    variant = PROJECT.load_variant(name)
    options, (nic, vhost, offloads) = variant.options, ROWS[name]
    assert (options.guest_nic, vhost_of(options.vhost), options.offloads) == (nic, vhost, offloads)
    assert variant.native_vnf.kind is VnfKind.VM
    assert options.vnf_port_kind(choice()) is PortKind.TAP
    assert ("p2p" in variant.topologies) is (name == "linux-bridge-no-offloads")


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        *[(name, {"kind": VnfKind.PROCESS}, "of kind process has no") for name in ROWS],
        ("emulated-nic", {"vnic": "rtl8139"}, "asks for a NIC of kind 'rtl8139'"),
        ("emulated-nic", {"vnic": "tap"}, "asks for a NIC of kind 'tap'"),
        ("linux-bridge-virtio", {"vnic": "e1000"}, "asks for a NIC of kind 'e1000'"),
    ],
)
def test_vnfs_without_that_nic_are_refused(name, more, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        PROJECT.load_variant(name).options.vnf_port_kind(choice(**more))
    assert "variant linux-bridge" in caught.value.fix


def test_the_bridge_itself_asks_for_no_nic():
    options = PROJECT.load_variant("linux-bridge").options
    assert (options.guest_nic, vhost_of(options.vhost)) == ("any", None)
