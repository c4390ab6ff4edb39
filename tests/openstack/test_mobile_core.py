"""The mobile core through Tacker: two guests of its image, onboarded when the console says that pings were carried."""

import base64
import json

import pytest

from nfvbed.errors import OnboardError
from nfvbed.host.qemu import images
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.openstack.tacker import console
from nfvbed.vnfs.descriptors.given import GivenDescriptor, GivenImage
from nfvbed.vnfs.descriptors.machines import legacy
from nfvbed.vnfs.descriptors.yamltext import dump
from tests.openstack.cloud_driver import ROOT
from tests.openstack.test_tacker_samples import offboard, onboarded
from tests.unit.vnfs.descriptors import several

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400), pytest.mark.usefixtures("nothing_onboarded")]
VARIANT = "ovs-dpdk"
STEPS = ["image", "vim", "vnfd", "create", "active", "servers", "functions", "attach", "ping"]


def test_a_ue_attaches_through_two_instances_and_its_pings_are_carried(onboarding_cloud, connection):
    before = onboarding_cloud.holdings()
    vnf = onboarded("vepc", VARIANT)
    try:
        assert [name for name, _ in vnf["steps"]] == STEPS
        functions, attached, carried = vnf["said"]
        assert functions.startswith("vepc: functions up: store hss pcrf sgw pgw mme after ")
        assert attached.startswith("vepc: attached: UE 10.45.")
        assert carried.startswith("vepc: ping carried: 10 of 10, after ")
        secret = _secret(connection, vnf)
        lines = [line for one in vnf["instances"] for line in console.last_lines(connection, one["id"], 500)]
        assert secret not in json.dumps(vnf) + "".join(lines)
        again = onboarded("vepc", VARIANT)
        assert [name for name, _ in again["steps"]] == ["found"]
        assert again["said"] == vnf["said"]
    finally:
        offboard("vepc")
    assert onboarding_cloud.holdings() | {"images": before["images"]} == before


def test_a_core_with_another_network_is_told_with_its_consoles_and_removed(onboarding_cloud, tmp_path):
    before = onboarding_cloud.holdings()
    vnf = several.vepc()
    (declared,) = vnf.flavours
    pgw = vnf.machine("pgw")
    other = pgw.model_copy(update={"config": {**pgw.config, "apn": "elsewhere"}})
    changed = several.vepc(machines=tuple(other if one.name == "pgw" else one for one in vnf.machines))
    path = tmp_path / "vepc.yaml"
    path.write_text(dump(legacy.template(several.request(several.TWO, vnf=changed, soft=True), several.TWO)))
    image = GivenImage("vepc", images.find(declared.image, ROOT), ("image_core", "image_edge"))
    site = several.PROJECT.load_site("devcloud")
    place = open_site(site, ROOT)
    try:
        with pytest.raises(OnboardError, match="vepc is not ready") as failure:
            place.onboard_given(
                several.PROJECT.load_variant(VARIANT, site),
                GivenDescriptor(path, "vepc", image=image, console=declared.console),
                print,
            )
    finally:
        place.close()
    assert failure.value.where.startswith("step attach")
    assert "vepc: failed: the UE is not attached after 4 attempts" in failure.value.observed
    assert "console of " in failure.value.observed
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
