"""Both forms of a descriptor say the same: they come from one `vnf.yml`."""

from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.cloud.tacker.api import VnfIdentity
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.spec.document import parse_document
from nfvbed.vnfs.descriptors import csar, hot, legacy, requestedresources, sol, solvnfd, written
from nfvbed.vnfs.descriptors.cloudimage import CloudImage, checksums, version_of
from nfvbed.vnfs.descriptors.onemachine import descriptor_of
from nfvbed.vnfs.descriptors.yamltext import dump
from tests import heattranslator
from tests.unit.vnfs.descriptors.requests import IMAGE, NETWORKS, PROJECT, choice_of, request

NESTED = "BaseHOT/default/nested/VDU1.yaml"
VARIATIONS = {
    "plain": {},
    "management": {"management": True},
    "bridge": {"forwarding": "bridge"},
    "virtual functions": {"direct": True},
    "zone and scaling": {"zone": "rack-1", "most_instances": 3},
    **{name: {"flavor": name} for name in PROJECT.flavor_names},
}


def nodes(template):
    return template["topology_template"]["node_templates"]


def legacy_says(made):
    found = nodes(legacy.template(made))
    inputs = {name: one["default"] for name, one in legacy.inputs(made.only).items()}
    machine = found["VDU1"]["properties"]
    links = {name: node["properties"]["network_name"] for name, node in found.items() if name.startswith("VL_")}
    points = {name: node for name, node in found.items() if node["type"].endswith("CP.Tacker")}
    policies = legacy.template(made)["topology_template"].get("policies", [])
    return {
        "image": inputs[machine["image"]["get_input"]],
        "flavor": inputs[machine["flavor"]["get_input"]],
        "user data": machine.get("user_data", ""),
        "config drive": machine.get("config_drive", False),
        "zone": inputs[machine["availability_zone"]["get_input"]] if "availability_zone" in machine else "",
        "ports": {
            name: (
                node["properties"]["order"],
                node["properties"].get("anti_spoofing_protection", True),
                {"sriov": "direct"}.get(node["properties"].get("type"), "normal"),
                links[node["requirements"][0]["virtualLink"]["node"]],
            )
            for name, node in points.items()
        },
        "most": policies[0]["machines"]["properties"]["max_instances"] if policies else 1,
    }


def sol_says(made):
    members = {name: content for name, content in sol.files(made).items() if name.endswith(".yaml")}
    flavour = yaml.safe_load(members["Definitions/vloop_flavour.yaml"])
    stack = yaml.safe_load(members["BaseHOT/default/vloop.yaml"])["resources"]
    nested = yaml.safe_load(members[NESTED])["resources"]
    described, server = nodes(flavour)["VDU1"], nested["VDU1"]["properties"]
    compute = described["capabilities"]["virtual_compute"]["properties"]
    wanted = compute["requested_additional_capabilities"]["properties"]
    ports = {name: one["properties"] for name, one in nested.items() if one["type"] == "OS::Neutron::Port"}
    order = [entry["port"]["get_resource"] for entry in server["networks"]]
    assert described["properties"].get("boot_data", "") == server.get("user_data", "")
    assert {name: nodes(flavour)[name]["properties"]["order"] for name in ports} == {
        name: order.index(name) for name in ports
    }
    return {
        "image": described["properties"]["sw_image_data"]["name"],
        "flavor": wanted["requested_additional_capability_name"],
        "user data": server.get("user_data", ""),
        "config drive": server.get("config_drive", False),
        "zone": server.get("availability_zone", ""),
        "ports": {
            name: (
                order.index(name),
                one.get("port_security_enabled", True),
                one["binding:vnic_type"],
                # The network is the request's to name: by the connection point.
                {port.name: port.network for port in made.only.ports}[name],
            )
            for name, one in ports.items()
        },
        "most": stack["machines"]["properties"]["max_size"],
    }


@pytest.mark.parametrize("keys", VARIATIONS.values(), ids=VARIATIONS)
def test_both_forms_say_the_same(keys):
    made = request(**keys)
    assert legacy_says(made) == sol_says(made)


def of_hot(template):
    """Return the resources of a HOT; without what heat-translator leaves to Heat and Neutron."""
    for one in template["resources"].values():
        if one["type"] == "OS::Nova::Server":
            one["properties"].pop("name", None)
        else:
            one["properties"].setdefault("binding:vnic_type", "normal")
    return template["parameters"], template["resources"]


@pytest.mark.parametrize("keys", VARIATIONS.values(), ids=VARIATIONS)
def test_hot_says_what_heat_translator_makes_of_the_template(keys):
    made = request(**{**keys, "most_instances": 1})
    document = parse_document(Path("vloop.yaml"), dump(legacy.template(made)))
    theirs = yaml.safe_load(heattranslator.legacy_hot(document).template)
    stack = hot.stack(made, made.only)
    assert of_hot(stack.template) == of_hot(theirs)
    assert stack.nested == {}


def test_scaled_hot_gives_each_instance_what_the_template_of_one_has():
    one, several = (request(most_instances=most) for most in (1, 3))
    stack = hot.stack(several, several.only)
    (inner,) = stack.nested.values()
    group = stack.template["resources"]["machines"]["properties"]
    assert (group["min_size"], group["max_size"], group["resource"]["type"]) == (1, 3, *stack.nested)
    given = group["resource"]["properties"]
    assert set(given) == set(inner["parameters"])

    def filled(value):
        return given.get(value["get_param"], value) if isinstance(value, dict) and "get_param" in value else value

    resources = {
        name: {**found, "properties": {key: filled(value) for key, value in found["properties"].items()}}
        for name, found in inner["resources"].items()
    }
    assert resources == hot.stack(one, one.only).template["resources"]


@pytest.mark.parametrize("keys", VARIATIONS.values(), ids=VARIATIONS)
def test_package_asks_for_what_the_flavor_has(keys, tmp_path):
    made = request(**keys)
    path = tmp_path / "vloop.csar"
    path.write_bytes(csar.write(sol.files(made)))
    found = requestedresources.of_document(csar.read(path).definitions["Definitions/vloop_flavour.yaml"])
    machine = made.only.machines[0]
    assert found.vcpus == machine.size.vcpus
    assert found.memory_mib == machine.size.memory_mib
    assert dict(found.specs) == machine.extra_specs == extra_specs(PROJECT.load_flavor(keys.get("flavor", "hugepages")))
    assert found.vnics == {port.name: port.vnic for port in made.only.ports}


def test_ports_of_the_path_come_first():
    ports = request(management=True).only.ports
    assert [(port.name, port.order, port.management) for port in ports] == [
        ("in", 0, False),
        ("out", 1, False),
        ("mgmt", 2, True),
    ]


def test_anti_spoofing_is_off_on_every_data_port_and_on_no_other():
    found = nodes(legacy.template(request(management=True)))
    assert [found[name]["properties"].get("anti_spoofing_protection") for name in ("in", "out", "mgmt")] == [
        False,
        False,
        None,
    ]
    assert found["mgmt"]["properties"]["management"] is True


def test_ports_say_nothing_of_port_security_where_their_networks_have_none():
    plain, made = request(management=True), request(management=True, inherits_port_security=True)
    files = sol.files(made)
    nested = yaml.safe_load(files[NESTED])["resources"]
    ports = [one["properties"] for one in nested.values() if one["type"] == "OS::Neutron::Port"]
    template = nodes(legacy.template(made))
    assert not any("anti_spoofing_protection" in one["properties"] for one in template.values())
    assert len(ports) == 3 and not any("port_security_enabled" in one for one in ports)
    assert made.descriptor_id != plain.descriptor_id, "Tacker takes an id once"


def test_two_ports_on_one_network_share_its_link():
    choice = choice_of()
    made = descriptor_of(choice, {"in": "data0", "out": "data0"}, IMAGE, {})
    assert [name for name in nodes(legacy.template(made)) if name.startswith("VL_")] == ["VL_0"]


def test_image_without_an_agent_is_told_nothing():
    choice = choice_of(forwarding="image")
    own = choice.model_copy(update={"image": choice.image.model_copy(update={"agent": False})})
    made = descriptor_of(own, NETWORKS, IMAGE, {})
    assert made.only.machines[0].user_data == ""
    assert "config_drive" not in nodes(legacy.template(made))["VDU1"]["properties"]


def test_same_request_has_the_same_id_and_another_one_has_another():
    assert request().descriptor_id == request().descriptor_id
    different = [
        request(forwarding="bridge"),
        request(flavor="default"),
        request(most_instances=2),
        request(version="2"),
    ]
    assert len({made.descriptor_id for made in (request(), *different)}) == 5


def test_same_request_gives_the_same_bytes():
    assert csar.write(sol.files(request())) == csar.write(sol.files(request()))


def test_image_is_packed_where_its_file_is_given(tmp_path):
    file = tmp_path / "own.qcow2"
    file.write_bytes(b"an image")
    members = sol.files(request(image_file=file, checksums=checksums(file)))
    assert members["Files/images/own.qcow2"] == b"an image"
    flavour = yaml.safe_load(members["Definitions/vloop_flavour.yaml"])
    assert nodes(flavour)["VDU1"]["artifacts"]["sw_image"]["file"] == "../Files/images/own.qcow2"


def test_version_is_the_one_beside_the_image(tmp_path):
    (tmp_path / "own.json").write_text('{"version": "1-abc"}')
    assert version_of(tmp_path / "own.qcow2") == "1-abc"
    assert version_of(tmp_path / "other.qcow2") == "1"


def test_request_to_instantiate_names_flavour_level_and_script():
    asked_for, members = written.for_api(VnfIdentity("abcd", "vnf1"), request(), "sol"), sol.files(request())
    script = asked_for.parameters["lcm-operation-user-data"].removeprefix("./")
    assert f"class {asked_for.parameters['lcm-operation-user-data-class']}:" in members[script].decode()
    assert asked_for.flavour == solvnfd.FLAVOUR
    assert asked_for.networks == (("in", "data0"), ("out", "data1"))
    flavour = yaml.safe_load(members["Definitions/vloop_flavour.yaml"])
    levels = next(p["levels"] for p in flavour["topology_template"]["policies"] if "levels" in p)["properties"]
    assert asked_for.level in levels["levels"]
    assert all("scale_info" in level for level in levels["levels"].values())


@pytest.mark.parametrize(
    ("networks", "words"),
    [
        ({"in": "data0"}, "port 'out' of VNF vloop has no network"),
        (NETWORKS | {"inn": "x"}, "VNF vloop has no port 'inn'"),
    ],
)
def test_networks_must_be_those_of_its_ports(networks, words):
    with pytest.raises(ConfigurationError, match=words) as failure:
        descriptor_of(choice_of(), networks, IMAGE, {})
    assert failure.value.where
    assert failure.value.fix


@pytest.mark.parametrize("forwarding", ["router", "xdp"])
def test_what_no_descriptor_can_carry_is_refused(forwarding):
    with pytest.raises(UnsupportedError, match="cannot be asked to forward"):
        descriptor_of(choice_of(forwarding=forwarding), NETWORKS, IMAGE, {})


def test_image_without_digest_or_file_is_refused(tmp_path):
    with pytest.raises(ConfigurationError, match="SHA-512"):
        sol.files(request(checksums={}))
    with pytest.raises(ConfigurationError, match="the image cannot be read"):
        checksums(tmp_path / "none.qcow2")
    assert CloudImage("x").checksums == {}
