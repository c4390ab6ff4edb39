"""A devcloud with two computes of a data plane: which data planes have it, and when the second one takes instances."""

import pytest

from nfvbed.cloud.devcloud import contents
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.dataplanes.ovs.dpdk.compute import SECOND
from nfvbed.errors import UnsupportedError
from nfvbed.sites.openstack import owncloud
from nfvbed.sites.openstack.owncloud import OwnCloud
from tests.unit.vnfs.descriptors.requests import PROJECT

PLANE = PROJECT.load_variant("ovs-dpdk")
BOTH = ("controller", SECOND.host)


@pytest.fixture(name="asked")
def _asked(monkeypatch):
    """What the cloud's APIs and nodes are asked for, in its order."""
    asked = []
    monkeypatch.setattr(OwnCloud, "_api", "api")
    monkeypatch.setattr(OwnCloud, "connection", "connection")
    monkeypatch.setattr(owncloud.enable, "only", lambda api, *hosts: asked.append(("only", *hosts)))
    monkeypatch.setattr(owncloud.zones, "provide_zones", lambda _, hosts: {host: f"on-{host}" for host in hosts})
    return asked


def pair(tmp_path, asked, computes=2):
    cloud = open_cloud(tmp_path)
    cloud.start_compute = lambda host, _, mib: asked.append(("start", host, mib))
    return OwnCloud(cloud, "devcloud-pair", computes)


def test_the_site_has_two():
    assert PROJECT.load_site("devcloud-pair").computes == 2
    assert PROJECT.load_site("devcloud").computes == 1
    (limit,) = [line for line in PROJECT.load_site("devcloud-pair").changes(()) if "second compute" in line]
    assert "hugepage memory" in limit


def test_the_second_is_started_and_takes_only_what_asks_for_it(tmp_path, asked):
    target = pair(tmp_path, asked)
    target.choose(target.compute(PLANE))
    assert asked == [("start", SECOND.host, target.compute(PLANE).guests_mib), ("only", "controller")]
    assert (target.computes_of(PLANE), target.computes_apart(PLANE)) == (("controller",), BOTH)
    assert target.zones(PLANE) == {host: f"on-{host}" for host in BOTH}
    assert asked[-1] == ("only", *BOTH)


def test_what_is_between_vnfs_reaches_both(tmp_path, asked):
    kinds = {one.name: one.kind for one in contents.NETWORKS}
    for computes, kind in ((1, "local"), (2, "vlan")):
        named = pair(tmp_path, asked, computes).networks.named
        assert {kinds[named[name]] for name in ("link1", "link2")} == {kind}


def test_a_site_with_one_is_as_before(tmp_path, asked):
    target = pair(tmp_path, asked, computes=1)
    target.choose(target.compute(PLANE))
    assert asked == [("only", "controller")]
    assert (target.computes_apart(PLANE), target.zones(PLANE)) == (("controller",), {})


@pytest.mark.parametrize("name", ["linux-bridge", "ovn", "macvtap"])
def test_a_data_plane_without_a_second_is_refused_before_anything_starts(tmp_path, asked, name):
    with pytest.raises(UnsupportedError, match=f"{name} has one compute on a devcloud") as refused:
        pair(tmp_path, asked).compute(PROJECT.load_variant(name))
    assert refused.value.where == "computes: 2 of site devcloud-pair"
    assert asked == []


def test_its_links_lead_to_the_controller_and_none_to_the_generator():
    kind = open_cloud(PROJECT.root).kinds[SECOND.host]
    assert kind.joined and kind.switch.dpdk
    assert [one.host for one in open_cloud(PROJECT.root).kinds.values() if one.joined] == [SECOND.host]
