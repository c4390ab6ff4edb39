"""Descriptors of vloop against the real Heat and Tacker: valid, onboarded through both APIs, forwarding as they say."""

import json
import zipfile
from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.rest import ApiError
from nfvbed.cloud.tacker.api import VnfIdentity
from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import parse_document
from nfvbed.vnfs.descriptors import csar, hot, imports, legacy, naming, parsing, sol, written
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.naming import CloudNames
from nfvbed.vnfs.descriptors.typefiles import LEGACY_TYPES
from nfvbed.vnfs.descriptors.yamltext import dump
from tests import heattranslator
from tests.openstack.cloud_driver import IMAGES, ROOT, wait
from tests.unit.vnfs.descriptors import several
from tests.unit.vnfs.descriptors.requests import request

pytestmark = pytest.mark.timeout(1800)
TACKER = Path("opt/tacker/lib/python3.11/site-packages/tacker")
SAMPLES = TACKER / "tests/etc/samples/etsi/nfv"
WHOLE = (
    "functional",
    "vnflcm1",
    "vnflcm2",
    "sample_vnf_package_csar_in_meta_and_manifest",
    "vnfpkgm2",
    "test_cnf_scale",
)
"""Folders that are packages with what is in `common`."""
WRONG = {
    "sample_vnf_package_csar_in_meta_and_manifest_false": "the manifest is not in",
    "sample_vnf_package_csar_in_meta_and_manifest_false_algorithm": "unknown algorithm",
    "sample_vnf_package_csar_in_meta_and_manifest_false_hash": "has another hash",
    "sample_vnf_package_csar_in_meta_and_manifest_false_source": "is not in",
    "sample_vnf_package_csar_in_meta_and_manifest_missing_key": "has no Algorithm",
    "sample_vnf_package_csar_in_single_manifest_false_name": "is the manifest of nothing",
}
IMAGE = "desc-vloop"
NAME = "desc-vloop"
NESTED = "VDU1.yaml"
FRAMES = 200
BASE_HOT = "base HOT"
PARAMETERS = {
    "nfv": {
        "VDU": {"VDU1": {"flavor": "nfvbed.hugepages", "image": "cirros"}},
        "CP": {"in": {"network": "data0"}, "out": {"network": "data1"}},
    }
}
"""As the package's script fills them in."""


@pytest.fixture(scope="module", name="root")
def _root():
    root = CloudPlaces.of(ROOT).root
    assert root.is_dir(), "nfvbed devcloud start"
    return root


@pytest.fixture(scope="module", name="cloud")
def _cloud(onboarding_cloud):
    """The cloud of all tests of onboarding."""
    return onboarding_cloud


@pytest.fixture(scope="module", name="image")
def _image(cloud):
    """One image for all, with nothing beside it."""
    made = cloud.image(IMAGE, IMAGES / "vloop.qcow2")
    yield IMAGE
    cloud.api.delete("glance", f"/v2/images/{made}")


def sample(root, name, target):
    """Build a package as Tacker's own tests do: a folder, with `common` and, where it has definitions, its siblings."""
    folders = [root / SAMPLES / name, root / SAMPLES / "common_artifact", root / SAMPLES / "common"]
    members = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                members.setdefault(str(path.relative_to(folder)), path)
    with zipfile.ZipFile(target, "w") as made:
        for member, path in members.items():
            made.write(path, member)
    return target


def test_types_are_those_of_the_tacker_that_runs(root):
    theirs = {}
    for name in ("tacker_defs.yaml", "tacker_nfv_defs.yaml"):
        for section, types in yaml.safe_load((root / TACKER / "tosca/lib" / name).read_text()).items():
            theirs.setdefault(section, {}).update(types)
    ours = yaml.safe_load(LEGACY_TYPES.read_text())
    for section in ("node_types", "policy_types"):
        for name, own in ours[section].items():
            other = theirs[section][name]
            assert own["derived_from"] == other["derived_from"]
            for key, schema in own["properties"].items():
                assert {**other["properties"][key], "description": ""} == {**schema, "description": ""}, f"{name} {key}"


@pytest.mark.parametrize("name", WHOLE)
def test_sample_packages_of_tacker_are_read(root, tmp_path, name):
    package = csar.read(sample(root, name, tmp_path / "sample.zip"))
    assert parsing.parse_package(package) is not None
    assert imports.flavours(package)


@pytest.mark.parametrize(("name", "what"), WRONG.items())
def test_wrong_sample_packages_of_tacker_are_refused(root, tmp_path, name, what):
    with pytest.raises(ConfigurationError, match=what):
        csar.read(sample(root, name, tmp_path / "sample.zip"))


def validated(cloud, template, files=None, parameters=None):
    """Ask Heat; return what parameters it sees."""
    body = {"template": yaml.safe_load(template), "files": dict(files or {}), "parameters": parameters or {}}
    return cloud.api.post("heat", f"/v1/{cloud.api.project_id}/validate", body)["Parameters"]


def templates(tmp_path):
    """Return every template that is made of vloop's descriptors, with its nested ones."""
    found = {}
    for most in (1, 2):
        made = request(most_instances=most)
        translated = heattranslator.legacy_hot(parse_document(Path("vloop.yaml"), dump(legacy.template(made))))
        found[f"legacy, {most}"] = (translated.template, translated.files)
        own = hot.stack(made, made.only)
        found[f"stack, {most}"] = (dump(own.template), {name: dump(one) for name, one in own.nested.items()})
        members = sol.files(made)
        path = tmp_path / "vloop.csar"
        path.write_bytes(csar.write(members))
        given = {"in": "data0", "out": "data1", "VDU1": "cirros"}
        translated = heattranslator.package_hot(csar.read(path), "default", given)
        found[f"package, {most}"] = (translated.template, translated.files)
        nested = {NESTED: members[f"BaseHOT/default/nested/{NESTED}"].decode()}
        found[f"{BASE_HOT}, {most}"] = (members["BaseHOT/default/vloop.yaml"].decode(), nested)
    return found


def test_every_template_passes_heats_validation(cloud, tmp_path):
    for name, (template, files) in templates(tmp_path).items():
        seen = validated(cloud, template, files, PARAMETERS if name.startswith(BASE_HOT) else {})
        assert set(seen) == set(yaml.safe_load(template).get("parameters", {})), name


def several_templates(tmp_path, flavour, keys):
    """Yield every template that is made of the mobile core's descriptors, with the parameters of each."""
    image = CloudImage("cirros", None, several.IMAGE.checksums)
    made = several.request(image=image, **keys)
    chosen = made.flavour(flavour)
    text = dump(legacy.template(made, chosen))
    yield "legacy", heattranslator.legacy_hot(parse_document(Path("vepc.yaml"), text)).template, {}
    yield "stack", dump(hot.stack(made, chosen).template), {}
    members = sol.files(made)
    path = tmp_path / "vepc.csar"
    path.write_bytes(csar.write(members))
    networks = {port.name: port.network for port in chosen.outer}
    images = {one.name: one.image.name for one in chosen.machines}
    yield "package", heattranslator.package_hot(csar.read(path), flavour, networks | images).template, {}
    vdus = {one.name: {"flavor": one.flavor, "image": one.image.name} for one in chosen.machines}
    points = {name: {"network": network} for name, network in networks.items()}
    given = {"nfv": {"VDU": vdus, "CP": points}}
    yield BASE_HOT, members[f"BaseHOT/{flavour}/vepc.yaml"].decode(), given


def previewed(cloud, template, parameters):
    """Ask Heat for the stack that it would make: it looks at values too, and for what they name in the cloud."""
    body = {"stack_name": NAME, "template": yaml.safe_load(template), "parameters": parameters}
    stack = cloud.api.post("heat", f"/v1/{cloud.api.project_id}/stacks/preview", body)["stack"]
    return {one["resource_name"]: one["resource_type"] for one in stack["resources"]}


@pytest.mark.parametrize("keys", [{"soft": True}, {"zones": several.ZONES}], ids=["soft", "strict"])
@pytest.mark.parametrize("flavour", [several.EIGHT, several.TWO])
def test_every_template_of_several_machines_passes_heats_validation(cloud, tmp_path, flavour, keys):
    for name, template, parameters in several_templates(tmp_path, flavour, keys):
        seen = validated(cloud, template, {}, parameters)
        assert set(seen) == set(yaml.safe_load(template).get("parameters", {})), name
        foreseen = previewed(cloud, template, parameters)
        assert foreseen == {key: one["type"] for key, one in yaml.safe_load(template)["resources"].items()}, name
        assert list(foreseen.values()).count("OS::Nova::Server") == {several.EIGHT: 8, several.TWO: 2}[flavour]


def test_heat_refuses_several_machines_that_are_wrong(cloud, tmp_path):
    _, template, _ = next(several_templates(tmp_path, several.TWO, {"soft": True}))
    with pytest.raises(ApiError, match="policys"):
        validated(cloud, template.replace("policies:", "policys:"))
    with pytest.raises(ApiError, match="sort-of-affinity"):
        previewed(cloud, template.replace("soft-anti-affinity", "sort-of-affinity"), {})
    with pytest.raises(ApiError, match="data7"):
        previewed(cloud, template.replace("data1", "data7"), {})


def test_heat_refuses_a_template_that_is_wrong(cloud, tmp_path):
    template, _ = templates(tmp_path)["legacy, 1"]
    with pytest.raises(ApiError, match="port_secured"):
        validated(cloud, template.replace("port_security_enabled", "port_secured"))


def test_names_that_the_cloud_does_not_have_are_told_before_anything_is_made(cloud, image):
    listed = CloudNames(
        [one["name"] for one in cloud.api.get("neutron", "/v2.0/networks")["networks"]],
        [one["name"] for one in cloud.api.get("nova", "/v2.1/flavors?is_public=None")["flavors"]],
        [one["name"] for one in cloud.api.get("glance", "/v2/images")["images"]],
    )
    text = dump(legacy.template(request(image=image)))
    naming.require_names(parse_document(Path("vloop.yaml"), text), listed)
    with pytest.raises(ConfigurationError, match="unknown network: 'data7'"):
        naming.require_names(parse_document(Path("vloop.yaml"), text.replace("data1", "data7")), listed)


def forwards(cloud, server):
    """Whether frames of foreign addresses come through an instance, both ways."""
    assert wait(lambda: "vloop: ready" in cloud.console(server), 240), cloud.console(server)
    ways = (("br-data0", "br-data1"), ("br-data1", "br-data0"))
    return wait(lambda: cloud.frames(*ways[0], FRAMES) == FRAMES, 30) and cloud.frames(*ways[1], FRAMES) == FRAMES


def made_since(cloud, before):
    (server,) = cloud.servers() - before["servers"]
    return server


@pytest.mark.on_demand  # test_site.py has both
def test_legacy_descriptor_makes_an_instance_that_forwards(cloud, image):
    api, before, made = cloud.api, cloud.holdings(), request(image=image)
    template = legacy.template(made)
    body = {"name": NAME, "service_types": [{"service_type": "vnfd"}], "attributes": {"vnfd": template}}
    vnfd = api.post("tacker", "/v1.0/vnfds", {"vnfd": body})["vnfd"]["id"]
    try:
        asked = {"name": NAME, "vnfd_id": vnfd, "attributes": {}}
        vnf = api.post("tacker", "/v1.0/vnfs", {"vnf": asked})["vnf"]["id"]
        place = f"/v1.0/vnfs/{vnf}"
        try:
            wait(lambda: api.get("tacker", place)["vnf"]["status"] in ("ACTIVE", "ERROR"), 240)
            found = api.get("tacker", place)["vnf"]
            assert found["status"] == "ACTIVE", found["error_reason"]
            assert forwards(cloud, made_since(cloud, before))
        finally:
            api.delete("tacker", place)
            assert wait(lambda: cloud.is_gone("tacker", place), 120)
    finally:
        api.delete("tacker", f"/v1.0/vnfds/{vnfd}")
    assert cloud.holdings() == before


@pytest.mark.on_demand  # test_site.py has both
def test_package_makes_an_instance_that_forwards(cloud, image):
    api, before, asked = cloud.api, cloud.holdings(), request(image=image)
    package = api.post("tacker", "/vnfpkgm/v1/vnf_packages", {"userDefinedData": {}})["id"]
    place = f"/vnfpkgm/v1/vnf_packages/{package}"
    api.send_file("PUT", "tacker", f"{place}/package_content", csar.write(sol.files(asked)), "application/zip")
    assert wait(lambda: api.get("tacker", place)["onboardingState"] == "ONBOARDED", 120), api.get("tacker", place)
    assert api.get("tacker", place)["vnfdId"] == asked.descriptor_id
    body = {"vnfdId": asked.descriptor_id, "vnfInstanceName": NAME}
    instance = api.post("tacker", "/vnflcm/v1/vnf_instances", body)["id"]
    try:
        assert operate(cloud, instance, "instantiate", instantiation(cloud, asked)) == "COMPLETED"
        assert forwards(cloud, made_since(cloud, before))
    finally:
        assert operate(cloud, instance, "terminate", {"terminationType": "FORCEFUL"}) == "COMPLETED"
        api.delete("tacker", f"/vnflcm/v1/vnf_instances/{instance}")
        api.ask("PATCH", "tacker", place, {"operationalState": "DISABLED"})
        api.delete("tacker", place)
    assert cloud.holdings() == before


def instantiation(cloud, asked):
    """Return a request to instantiate: what the package says, networks, and the VIM."""
    protocol = {"cpProtocolData": [{"layerProtocol": "IP_OVER_ETHERNET"}]}
    links = [
        {
            "id": port.network,
            "resourceId": cloud.network(port.network),
            "extCps": [{"cpdId": port.name, "cpConfig": [protocol]}],
        }
        for port in asked.only.ports
    ]
    (vim,) = cloud.api.get("tacker", "/v1.0/vims")["vims"]
    connection = {"id": "devcloud", "vimId": vim["id"], "vimType": "ETSINFV.OPENSTACK_KEYSTONE.v_2"}
    asked_for = written.for_api(VnfIdentity("abcd", "vnf1"), asked, "sol")
    said = {
        "flavourId": asked_for.flavour,
        "instantiationLevelId": asked_for.level,
        "additionalParams": asked_for.parameters,
    }
    return said | {"extVirtualLinks": links, "vimConnectionInfo": [connection]}


def operate(cloud, instance, operation, body):
    """Ask for an operation of a VNF's life cycle; return the state in which it ended."""
    cloud.api.post("tacker", f"/vnflcm/v1/vnf_instances/{instance}/{operation}", body)

    def ended():
        listed = cloud.api.get("tacker", f"/vnflcm/v1/vnf_lcm_op_occs?filter=(eq,vnfInstanceId,{instance})")
        found = [one for one in listed if one["operation"] == operation.upper()]
        return next((one for one in found if one["operationState"] not in RUNNING), None)

    found = wait(ended, 300) and ended()
    assert found, f"{operation} did not end"
    if found["operationState"] != "COMPLETED":
        print(json.dumps(found.get("error")))
    return found["operationState"]


RUNNING = ("STARTING", "PROCESSING", "ROLLING_BACK")
