"""What an AF_XDP variant may ask for, and how it attaches VNFs."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.choices import resolve
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project(Path(__file__).parents[5])


def options(**values):
    return OvsAfxdpOptions(dataplane="ovs-afxdp", **values)


def choice(**use):
    return resolve(VnfUse(**use), PROJECT.load_variant("ovs-afxdp"), PROJECT)


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ({"forwarding": "io"}, PortKind.VETH),
        ({"forwarding": "bridge"}, PortKind.VETH),
        ({"kind": VnfKind.VM, "forwarding": "io"}, PortKind.TAP),
        ({"kind": VnfKind.VM, "forwarding": "io", "vnic": "e1000"}, PortKind.TAP),
        ({"kind": VnfKind.VM, "forwarding": "io", "vnic": "vhost-user"}, PortKind.VHOST_USER),
    ],
)
def test_vnfs_get_links_of_the_kernel_unless_they_ask_for_a_socket(use, kind):
    assert options().vnf_port_kind(choice(**use)) is kind


def test_a_variant_can_give_sockets_to_all():
    wanted = options(vnf_ports="vhost-user")
    assert wanted.vnf_port_kind(choice(forwarding="io")) is PortKind.VHOST_USER
    with pytest.raises(UnsupportedError, match="kernel ports"):
        wanted.vnf_port_kind(choice(forwarding="bridge"))


@pytest.mark.parametrize(
    "use", [{"kind": VnfKind.VM, "vnic": "macvtap"}, {"kind": VnfKind.VM, "vnic": "vf"}, {"vnic": "tap"}]
)
def test_other_nics_are_refused(use):
    with pytest.raises(UnsupportedError, match="NIC"):
        options().vnf_port_kind(choice(forwarding="io", **use))


def test_a_socket_needs_a_thread_that_polls():
    with pytest.raises(UnsupportedError, match="polled"):
        options(interrupt=True).vnf_port_kind(choice(kind=VnfKind.VM, forwarding="io", vnic="vhost-user"))


@pytest.mark.parametrize(
    "values", [{"pmd_cores": 2}, {"pmd_maxsleep_us": 10}, {"auto_load_balance": {}}, {"vnf_ports": "vhost-user"}]
)
def test_by_interrupt_there_is_nothing_that_polls(values):
    options(**values)
    with pytest.raises(ValueError, match="no polling thread"):
        options(interrupt=True, **values)


def test_cores():
    assert options(pmd_cores=3).switch_cores == 3
    assert options(interrupt=True).switch_cores == 1
