"""Which networks the VNFs of a path are on, and which paths a cloud does not have."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError
from nfvbed.sites.openstack import paths
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
VARIANT = PROJECT.load_variant("ovs-dpdk")


def choice(kind="vm"):
    return resolve(VnfUse(kind=kind, forwarding="io"), VARIANT, PROJECT)


@pytest.mark.parametrize(
    ("topology", "networks"),
    [
        ("pvp", (("data0", "data1"),)),
        ("pvvp", (("data0", "link1"), ("link1", "data1"))),
        ("pv3p", (("data0", "link1"), ("link1", "link2"), ("link2", "data1"))),
    ],
)
def test_networks_lead_from_data0_to_data1(topology, networks):
    assert paths.networks_of(layout(topology)) == networks
    paths.check(layout(topology), choice(), "devcloud")


@pytest.mark.parametrize(("topology", "said"), [("p2p", "no path"), ("pvpv", "no path"), ("pv4p", "too long")])
def test_a_path_that_a_cloud_has_not_is_refused(topology, said):
    with pytest.raises(UnsupportedError, match=said):
        paths.check(layout(topology), choice(), "devcloud")


def test_a_vnf_that_is_no_virtual_machine_is_refused_as_a_vnf():
    with pytest.raises(UnsupportedError, match="kind process") as caught:
        paths.check(layout("pvp"), choice("process"), "devcloud")
    assert caught.value.of_vnf
