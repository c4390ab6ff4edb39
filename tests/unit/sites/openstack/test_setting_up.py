"""Setting deployments up on a cloud: what is written down of others."""

from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.records import Deployment
from nfvbed.sites.openstack import storeddeployment
from nfvbed.sites.openstack.deployment import CloudRequest
from nfvbed.sites.openstack.setting_up import CloudSetup
from nfvbed.spec.layout import layout

PROJECT = open_project()
ARRANGEMENT = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,))


def done(*_):
    """Does nothing."""


def refuse(*_):
    """A switch that does not take its options: the deployment ends there."""
    raise DeployError("refused")


@pytest.mark.parametrize(("wanted", "stays"), [("ovs-dpdk", True), ("linux-bridge", False)])
def test_a_data_plane_without_vnfs_is_forgotten_when_another_one_takes_instances(tmp_path, wanted, stays):
    bare = Deployment(id="abcd", variant="ovs-dpdk", site="devcloud", topology="p2p", ports=())
    storeddeployment.save(
        tmp_path,
        storeddeployment.StoredDeployment(bare, PROJECT.load_variant("ovs-dpdk"), ARRANGEMENT, None, "now: nfvbed"),
    )
    compute = SimpleNamespace(check=done, start=done, apply=refuse)
    target = SimpleNamespace(folder=tmp_path, compute=lambda _: compute, bring_up=done, choose=done)
    machine = SimpleNamespace(arrangement=lambda *_: ARRANGEMENT)
    setting_up = CloudSetup("devcloud", machine, target, SimpleNamespace())
    with pytest.raises(DeployError, match="refused"):
        setting_up.from_nothing(CloudRequest(PROJECT.load_variant(wanted), layout("pvp"), None))
    assert (storeddeployment.find(tmp_path) is not None) is stays
