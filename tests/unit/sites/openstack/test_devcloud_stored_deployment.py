"""What is written down of deployments on a cloud, and read by the next command."""

import json
from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import DeployError, VnfDiedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.records import Accelerator, Deployment, PortKind
from nfvbed.sites.deployed import InstancePlacement
from nfvbed.sites.openstack import storeddeployment, vnfs
from nfvbed.sites.openstack.site import OpenstackSite
from nfvbed.spec.choices import resolve
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
VARIANT = PROJECT.load_variant("ovs-dpdk")
CHOICE = resolve(VnfUse(kind="vm", forwarding="io"), VARIANT, PROJECT)
PORTS = (InstancePort("p-1", "data0", "fa:16:3e:00:00:01"), InstancePort("p-2", "data1", "fa:16:3e:00:00:02"))
PLACED = PlacedInstance("i-1", "vnf1", "controller", PORTS)
VNF = TackerVnf("legacy", "v-1", "d-1", "vnf1", "abcd", "s-1", (PLACED,), (("create", 5),))
ARRANGEMENT = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,))


def deployment():
    handle = vnfs.handle(0, VNF, CHOICE, PortKind.VHOST_USER)
    return Deployment(id="abcd", variant="ovs-dpdk", site="devcloud", topology="pvp", ports=(), vnfs=(handle,))


def test_a_deployment_is_read_as_it_was_written(tmp_path):
    assert storeddeployment.find(tmp_path) is None
    written = storeddeployment.StoredDeployment(deployment(), VARIANT, ARRANGEMENT, CHOICE, "now: nfvbed")
    storeddeployment.save(tmp_path / "run", written)
    found = storeddeployment.find(tmp_path / "run")
    assert found == written
    assert found.deployed(tmp_path / "run").is_same(VARIANT, "pvp")
    storeddeployment.forget(tmp_path / "run")
    assert storeddeployment.find(tmp_path / "run") is None


def test_computes_and_places_of_its_vnfs_are_known(tmp_path):
    written = storeddeployment.StoredDeployment(
        deployment(), VARIANT, ARRANGEMENT, CHOICE, "now: nfvbed", compute="macvtap"
    )
    storeddeployment.save(tmp_path, written)
    found = storeddeployment.find(tmp_path)
    assert found == written
    placed = vnfs.placed(found.deployment.vnfs)
    assert placed == (InstancePlacement(("controller",), ("i-1",), "s-1", "legacy", "v-1"),)
    assert found.deployed(tmp_path, placed).computes == ("macvtap", "controller")
    assert found.deployed(tmp_path, placed).placed == placed


def test_what_an_earlier_nfvbed_wrote_is_read_without_compute_and_stack(tmp_path):
    storeddeployment.save(
        tmp_path, storeddeployment.StoredDeployment(deployment(), VARIANT, ARRANGEMENT, CHOICE, "now: nfvbed")
    )
    path = tmp_path / "deployed.json"
    written = json.loads(path.read_text())
    del written["compute"], written["deployment"]["vnfs"][0]["control"]["stack"]
    path.write_text(json.dumps(written))
    found = storeddeployment.find(tmp_path)
    assert found.deployed(tmp_path).computes == ()
    assert vnfs.placed(found.deployment.vnfs)[0].stack == ""


def test_what_cannot_be_read_is_reported_with_its_place(tmp_path):
    (tmp_path / "deployed.json").write_text('{"deployment": {}}')
    with pytest.raises(DeployError) as caught:
        storeddeployment.find(tmp_path)
    assert caught.value.where == str(tmp_path / "deployed.json")


def test_what_is_under_way_is_known_to_the_next_command(tmp_path):
    assert storeddeployment.under_way(tmp_path) == ""
    storeddeployment.note(tmp_path, "abcd")
    assert storeddeployment.under_way(tmp_path) == "abcd"
    storeddeployment.done(tmp_path)
    assert storeddeployment.under_way(tmp_path) == ""


def test_a_vnf_is_described_with_its_instance_and_its_steps():
    (handle,) = deployment().vnfs
    assert (handle.accelerator, handle.forwarding) == (Accelerator.TCG, "io")
    assert handle.steps == (("onboard.vnf1.create", 5),)
    assert [(port.name, port.mac) for port in handle.ports] == [("v1a", PORTS[0].mac), ("v1b", PORTS[1].mac)]
    assert vnfs.instances([handle]) == (PLACED,)


def test_a_vnf_whose_instance_does_not_run_is_dead():
    handles = deployment().vnfs
    assert vnfs.dead({"i-1": "ACTIVE"}.get, handles) == ()
    assert vnfs.dead({"i-1": "SHUTOFF"}.get, handles) == ("vnf1",)
    vnfs.verify({"i-1": "ACTIVE"}.get, handles)
    with pytest.raises(VnfDiedError, match="vnf1"):
        vnfs.verify({"i-1": "gone"}.get, handles)


def test_the_consoles_of_onboarded_vnfs_are_shown_with_their_computes():
    asked = []

    def output(instance, length):
        asked.append((instance, length))
        return {"output": "booting\n\nvloop: ready\n"}

    cloud = SimpleNamespace(compute=SimpleNamespace(get_server_console_output=output))
    site = SimpleNamespace(_target=SimpleNamespace(connection=cloud))
    found = OpenstackSite.consoles(site, deployment(), 7)
    assert found == {"vnf1 on controller": ["booting", "vloop: ready"]} and asked == [("i-1", 7)]


@pytest.mark.parametrize("name", PROJECT.variant_names)
def test_options_that_no_file_names_are_not_set_in_what_is_read(tmp_path, name):
    """Some are refused only where a file names them, and what is written has all."""
    variant = PROJECT.load_variant(name)
    storeddeployment.save(
        tmp_path, storeddeployment.StoredDeployment(deployment(), variant, ARRANGEMENT, CHOICE, "now: nfvbed")
    )
    found = storeddeployment.find(tmp_path).variant
    assert found == variant
    assert found.options.model_fields_set <= variant.options.model_fields_set
