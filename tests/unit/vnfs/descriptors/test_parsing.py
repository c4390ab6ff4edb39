"""tosca-parser and heat-translator: what is wrong is named with file and line, what is right becomes HOT."""

from pathlib import Path

import pytest
import yaml

from nfvbed.errors import ConfigurationError, PrerequisiteError
from nfvbed.spec.document import parse_document
from nfvbed.vnfs.descriptors import csar, naming, parsing, sol, typefiles
from nfvbed.vnfs.descriptors.cloudimage import checksums
from nfvbed.vnfs.descriptors.naming import CloudNames
from tests import heattranslator
from tests.unit.vnfs.descriptors.requests import legacy_document, legacy_text, request


def package(tmp_path, change=(b"", b""), **keys):
    """Write the package with one text of the flavour's changed; its hashes are of the changed one."""
    made = request(**keys)
    members = sol.files(made)
    name = "Definitions/vloop_flavour.yaml"
    assert change[0] in members[name]
    members[name] = members[name].replace(*change) if change[0] else members[name]
    del members["TOSCA-Metadata/TOSCA.meta"], members["vloop.mf"]
    path = tmp_path / "vloop.csar"
    members = {"TOSCA-Metadata/TOSCA.meta": b"Entry-Definitions: Definitions/vloop.yaml\n", **members}
    path.write_bytes(csar.write(members))
    return csar.read(path)


def line_of(text, part):
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("type: tosca.nodes.nfv.CP.Tacker", "type: tosca.nodes.nfv.CP.Takker", "is not a valid type"),
        ("anti_spoofing_protection: false", "anti_spoofing: false", 'contains unknown field "anti_spoofing"'),
        ("type: vnic", "type: virtual", 'The value "virtual" of property "type" is not valid'),
        ("node: VL_0", "node: VL_7", 'Node template "VL_7" was not found in "in"'),
    ],
)
def test_what_is_wrong_is_named_with_its_line(old, new, words):
    text = legacy_text().replace(old, new, 1)
    with pytest.raises(ConfigurationError) as failure:
        parsing.parse_legacy(legacy_document(text))
    assert words in failure.value.observed
    assert failure.value.where.startswith(f"vloop.yaml:{line_of(text, new)} ")


def test_missing_property_is_named_with_the_line_of_its_node():
    text = legacy_text().replace("        vendor: nfvbed\n", "", 1)
    with pytest.raises(ConfigurationError) as failure:
        parsing.parse_legacy(legacy_document(text))
    assert "is missing required field \"['vendor']\"" in failure.value.observed
    assert (
        failure.value.where
        == f"vloop.yaml:{line_of(text, 'VL_0:') + 2} topology_template.node_templates.VL_0.properties"
    )


def test_legacy_descriptor_imports_nothing():
    text = legacy_text() + "imports: [/etc/passwd]\n"
    with pytest.raises(ConfigurationError, match="imports nothing") as failure:
        parsing.parse_legacy(legacy_document(text))
    assert failure.value.where.startswith(f"vloop.yaml:{line_of(text, 'imports')} ")


@pytest.mark.parametrize("text", ["a: b", "tosca_definitions_version: x", "tosca_definitions_version: 1.5\na: 1"])
def test_text_that_is_no_descriptor_is_refused(text):
    with pytest.raises(ConfigurationError, match="not valid TOSCA"):
        parsing.parse_legacy(legacy_document(text))


def test_package_is_parsed_and_its_faults_name_member_and_line(tmp_path):
    assert [node.name for node in parsing.parse_package(package(tmp_path)).nodetemplates] == ["VNF"]
    wrong = package(tmp_path, (b"num_virtual_cpu", b"num_virtual_cpus"))
    with pytest.raises(ConfigurationError) as failure:
        parsing.parse_package(wrong)
    assert "num_virtual_cpu" in failure.value.observed
    assert "vloop.csar!Definitions/" in failure.value.where


def test_type_files_that_are_not_the_tried_ones_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(typefiles, "ETSI_TYPES", dict.fromkeys(typefiles.ETSI_TYPES, "0" * 64))
    with pytest.raises(PrerequisiteError, match="is not the one that was tried"):
        typefiles.etsi_types()


def hot(text):
    return yaml.safe_load(text)["resources"]


def test_legacy_descriptor_becomes_hot_as_tacker_makes_it():
    made = heattranslator.legacy_hot(legacy_document())
    found = hot(made.template)
    assert made.files == {}
    assert found["VDU1"]["properties"]["networks"] == [
        {"port": {"get_resource": "in"}},
        {"port": {"get_resource": "out"}},
    ]
    assert found["in"]["properties"] == {
        "network": "data0",
        "port_security_enabled": False,
        "binding:vnic_type": "normal",
    }
    assert found["VDU1"]["properties"]["user_data"] == "vloop.forward=io"
    assert found["VDU1"]["properties"]["config_drive"] is True


def test_parameters_of_the_request_replace_the_defaults():
    made = yaml.safe_load(heattranslator.legacy_hot(legacy_document(), {"image": "other", "flavor": "f"}).template)
    assert {name: one["default"] for name, one in made["parameters"].items()} == {"image": "other", "flavor": "f"}


def test_group_of_instances_is_a_nested_template():
    made = heattranslator.legacy_hot(legacy_document(legacy_text(most_instances=2)))
    (nested,) = made.files
    assert hot(made.template)["machines_group"]["properties"]["resource"] == {"type": nested}
    assert hot(made.files[nested])["out"]["properties"]["port_security_enabled"] is False


def test_package_becomes_hot_with_what_the_request_says(tmp_path):
    given = {"in": "data0", "out": "data1", "VDU1": "vloop"}
    made = heattranslator.package_hot(package(tmp_path, flavor="numa", most_instances=3), "default", given)
    group = hot(made.template)["machines"]["properties"]
    assert (group["min_size"], group["max_size"], group["desired_capacity"]) == (1, 3, 1)
    assert hot(made.template)["VDU1_flavor"]["properties"]["extra_specs"]["hw:numa_cpus.1"] == "2,3"
    assert hot(made.template)["VDU1_flavor"]["properties"]["ram"] == 2048
    (nested,) = made.files.values()
    assert hot(nested)["in"]["properties"]["network"] == "data0"
    assert hot(nested)["VDU1"]["properties"]["image"] == "vloop"


def test_unknown_flavour_is_refused_with_those_that_there_are(tmp_path):
    with pytest.raises(ConfigurationError, match="has no flavour 'large'") as failure:
        heattranslator.package_hot(package(tmp_path), "large", {})
    assert failure.value.observed == "it has default"


CLOUD = CloudNames(("data0", "data1"), ("nfvbed.hugepages",), ("vloop",))


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("network_name: data1", "network_name: data7", "network"),
        ("default: vloop", "default: vlop", "image"),
        ("default: nfvbed.hugepages", "default: nfvbed.huge", "flavor"),
    ],
)
def test_what_the_cloud_does_not_have_is_named_with_its_line(old, new, kind):
    naming.require_names(legacy_document(), CLOUD)
    text = legacy_text().replace(old, new, 1)
    with pytest.raises(ConfigurationError, match=f"unknown {kind}") as failure:
        naming.require_names(legacy_document(text), CLOUD)
    assert failure.value.where.startswith(f"vloop.yaml:{line_of(text, new)} ")
    assert old.split(": ")[1] in failure.value.fix


def test_names_of_a_package_are_looked_for_too(tmp_path):
    definitions = package(tmp_path).definitions["Definitions/vloop_flavour.yaml"]
    naming.require_names(definitions, CLOUD)
    with pytest.raises(ConfigurationError, match="unknown flavor: 'nfvbed.hugepages'"):
        naming.require_names(definitions, CloudNames((), ("m1.tiny",), ("vloop",)))


def test_image_in_the_package_is_not_looked_for(tmp_path):
    file = tmp_path / "own.qcow2"
    file.write_bytes(b"x")
    definitions = package(tmp_path, image_file=file, checksums=checksums(file)).definitions[
        "Definitions/vloop_flavour.yaml"
    ]
    assert [kind for kind, _, _ in naming.named(definitions)] == ["flavor"]


def test_document_without_nodes_names_nothing():
    assert list(naming.named(parse_document(Path("x"), "a: b"))) == []
