"""The mobile core through Tacker: two guests of its image, onboarded when the console says that pings were carried."""

import base64
import json

import pytest

from nfvbed.cloud.devcloud.places import CONTROLLER
from nfvbed.cloud.tacker import console
from nfvbed.dataplanes.ovs.dpdk.compute import SECOND
from nfvbed.errors import OnboardError
from nfvbed.host.qemu import images
from nfvbed.records.quality import QualityWarning
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.openstack import images as cloud_images
from nfvbed.store import Store
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs
from nfvbed.vnfs.descriptors.machines.projectvnf import ProjectVnf
from nfvbed.vnfs.descriptors.onboardable import Form, RequiredImage
from tests.openstack.cloud_driver import ROOT
from tests.openstack.test_site import ok
from tests.openstack.test_tacker_samples import offboard, onboarded
from tests.unit.vnfs.descriptors import several

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400), pytest.mark.usefixtures("nothing_onboarded")]
VARIANT = "ovs-dpdk"
STEPS = {
    "devcloud": ("legacy", ["image", "vim", "vnfd", "create", "active", "servers"]),
    "devcloud-sol": ("sol", ["image", "vim", "package", "create", "instantiate", "servers"]),
}
"""API of Tacker and steps until instances are ACTIVE, by site."""
PAIR = "devcloud-pair"
READY = ["functions", "attach", "ping", "tcp"]


@pytest.mark.drives("vepc", ["ovs-dpdk"], ["legacy", "sol"])
@pytest.mark.parametrize("site", STEPS)
def test_a_ue_attaches_through_two_instances_and_its_pings_are_carried(onboarding_cloud, connection, site):
    before = onboarding_cloud.holdings()
    vnf = onboarded("vepc", VARIANT, site=site)
    try:
        api, steps = STEPS[site]
        assert (vnf["api"], [name for name, _ in vnf["steps"]]) == (api, steps + READY)
        functions, attached, carried, sent = vnf["said"]
        assert functions.startswith("vepc: functions up: store hss pcrf sgw pgw mme after ")
        assert attached.startswith("vepc: attached: UE 10.45.")
        assert carried.startswith("vepc: ping carried: 10 of 10, after ")
        assert sent.startswith("vepc: tcp carried: 131072 of 131072 bytes and back in ")
        secret = _secret(connection, vnf)
        lines = [line for one in vnf["instances"] for line in console.last_lines(connection, one["id"], 500)]
        assert secret not in json.dumps(vnf) + "".join(lines)
        assert secret not in _logs(onboarding_cloud)
        again = onboarded("vepc", VARIANT, site=site)
        assert [name for name, _ in again["steps"]] == ["found"]
        assert again["said"] == vnf["said"]
    finally:
        offboard("vepc", site)
    assert onboarding_cloud.holdings() | {"images": before["images"]} == before


def test_a_core_with_another_network_is_told_with_its_consoles_and_removed(onboarding_cloud):
    before = onboarding_cloud.holdings()
    vnf = several.vepc()
    (declared,) = vnf.flavours
    other = vnf.machine("hss").model_copy(update={"config": {"apn": "elsewhere"}})
    changed = several.vepc(machines=tuple(other if one.name == "hss" else one for one in vnf.machines))
    file = images.find(declared.image, ROOT)
    core = ProjectVnf(
        name="vepc",
        form=Form.TEMPLATE,
        source="vnf.yml",
        image=RequiredImage("vepc", file),
        console=declared.console,
        vnf=changed,
        flavour=several.TWO,
        given=DeploymentInputs(
            flavors=several.FLAVORS, image=CloudImage(cloud_images.name_of("vepc", file)), soft=True
        ),
    )
    site = several.PROJECT.load_site("devcloud")
    place = open_site(site, ROOT)
    try:
        with pytest.raises(OnboardError, match="vepc is not ready") as failure:
            place.onboard_descriptor(several.PROJECT.load_variant(VARIANT, site), core, print)
    finally:
        place.close()
    assert failure.value.where.startswith("step attach")
    assert "vepc: failed: the UE is not attached after 4 attempts" in failure.value.observed
    assert "console of " in failure.value.observed
    assert onboarding_cloud.holdings() | {"images": before["images"]} == before


def carried(run):
    """Check that frames came over the bearers both ways, each as its bearer has it; return the trials."""
    trials = [trial for trial in run["trials"] if trial["status"] == "ok"]
    assert trials
    for trial in trials:
        print([(one["sent"], one["received"], one["corrupted"]) for one in trial["directions"]])
        assert all(0 < one["received"] <= one["sent"] for one in trial["directions"]), "uplink and downlink"
        assert all(one["corrupted"] == 0 for one in trial["directions"]), "each as its bearer has it"
    return trials


def test_frames_of_a_generator_go_over_bearers_through_its_instance(tmp_path):
    store = tmp_path / "results.sqlite"
    ok("run", "openstack-vepc", "--store", str(store), "--no-doctor")
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    assert [(cell["variant"], cell["topology"], cell["status"]) for cell in run["cells"]] == [(VARIANT, "vepc", "ok")]
    for trial in carried(run):
        assert QualityWarning.EMULATED_ACCELERATOR in trial["warnings"]


@pytest.mark.drives("vepc", ["ovs-dpdk"], ["legacy"], remark="its guests on two computes")
def test_its_two_guests_are_on_two_computes(onboarding_cloud, connection, tmp_path):
    before, store = onboarding_cloud.holdings(), tmp_path / "results.sqlite"
    ok("run", "openstack-vepc", "--site", PAIR, "--store", str(store), "--no-doctor")
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    carried(run)
    with Store.open(str(store), read_only=True) as opened:
        (cell,) = opened.cells(opened.runs()[0].id)
        rig = opened.get_blob(cell.rig_hash)
    # Onboarding has asked Nova, and has waited for what the UE says: attached, pings carried, 128 KiB by TCP and back.
    assert rig["vnf"]["computes"] == {"core": 1, "edge": 2}
    services = {one.host: one.status for one in connection.compute.services() if one.binary == "nova-compute"}
    ok("deploy", "linux-bridge", "--site", "devcloud")
    after = {one.host: one.status for one in connection.compute.services() if one.binary == "nova-compute"}
    assert (services[SECOND.host], after[SECOND.host]) == ("enabled", "disabled"), "it takes no others' instances"
    assert onboarding_cloud.holdings() | {"images": before["images"]} == before


def _secret(connection, vnf):
    """Return what both guests make their keys from: the same, and long enough."""
    found = set()
    for one in vnf["instances"]:
        said = base64.b64decode(connection.compute.get_server(one["id"]).user_data).decode()
        found |= {word.partition("=")[2] for word in said.split() if word.startswith("vnf.seed=")}
    (secret,) = found
    assert len(secret) == 32
    return secret


def _logs(cloud):
    """Return what all services of the cloud have written into their logs."""
    paths = [path for path in cloud.places.node(CONTROLLER).logs.rglob("*") if path.is_file()]
    return "".join(path.read_text(errors="replace") for path in paths)
