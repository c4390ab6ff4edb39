"""Which networks the VNFs of a path are on, and which paths a cloud does not have."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError
from nfvbed.records import Deployment
from nfvbed.sites.openstack import paths
from nfvbed.sites.openstack.site import open_site
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


def test_a_management_port_needs_a_network_for_it():
    monitored = resolve(VnfUse(vnf="vloop-monitored", kind="vm"), VARIANT, PROJECT)
    paths.check(layout("pvp"), monitored, "devcloud")
    assert paths.most_instances(layout("pvp"), monitored.model_copy(update={"forwarding": "mac"})) == 1
    with pytest.raises(UnsupportedError, match="has a management port, and site rack no network for it") as caught:
        paths.check(layout("pvp"), monitored, "rack", paths.PathNetworks(("left", "right"), ()))
    assert caught.value.observed == "networks there: left, right"


def test_vnfs_side_by_side_are_refused_as_a_loop_with_what_to_do():
    site = open_site(PROJECT.load_site("devcloud"), PROJECT.root)
    deployment = Deployment(id="abcd", variant="ovs-dpdk", site="devcloud", topology="pvp", ports=())
    for scale in (site.scale, site.foresee_scale):
        with pytest.raises(UnsupportedError, match="site devcloud are not scaled") as caught:
            scale(deployment, 2)
        assert caught.value.where == "ovs-dpdk (pvp) to 2 VNFs"
        assert "data0 and data1, are a loop" in caught.value.observed
        assert "--topology pvvp" in caught.value.fix and "site lab" in caught.value.fix
