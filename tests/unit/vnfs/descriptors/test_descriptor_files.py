"""Descriptors of others, completed by what a command gives: inputs, names of the cloud, ids."""

from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.vnfs.descriptors import csar, descriptorfile, sol
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorFile
from nfvbed.vnfs.descriptors.onboardable import Form
from tests.unit.vnfs.descriptors.requests import request

TEMPLATE = """\
tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
description: with inputs
topology_template:
  inputs:
    image_name: {type: string, description: Image Name}
    managed: {type: string, default: true}
  node_templates:
    VDU1:
      type: tosca.nodes.nfv.VDU.Tacker
      properties: {image: {get_input: image_name}, flavor: m1.tiny}
    CP1:
      type: tosca.nodes.nfv.CP.Tacker
      properties: {management: {get_input: managed}, anti_spoofing_protection: false}
      requirements:
        - virtualLink: {node: VL1}
        - virtualBinding: {node: VDU1}
    VL1:
      type: tosca.nodes.nfv.VL
      properties: {network_name: net_mgmt, vendor: Tacker}
"""
NAMES = {"m1.tiny": "nfvbed.small", "net_mgmt": "mgmt"}
IMAGE = {"image_name": "cirros"}


def descriptor(tmp_path, **fields):
    path = tmp_path / "their.yaml"
    path.write_text(TEMPLATE)
    return DescriptorFile(path, "their", **fields)


def nodes(document):
    return document.data["topology_template"]["node_templates"]


def test_inputs_and_names_are_filled_in_and_lines_are_the_files(tmp_path):
    document = descriptorfile.template(descriptor(tmp_path, parameters=IMAGE, names=NAMES))
    assert nodes(document)["VDU1"]["properties"] == {"image": "cirros", "flavor": "nfvbed.small"}
    assert nodes(document)["CP1"]["properties"]["management"] is True
    assert nodes(document)["VL1"]["properties"]["network_name"] == "mgmt"
    assert "inputs" not in document.data["topology_template"]
    assert document.where(("topology_template", "node_templates", "VL1")).startswith(f"{tmp_path}/their.yaml:17")


def test_an_input_without_a_value_is_named_with_its_line(tmp_path):
    with pytest.raises(ConfigurationError, match="'image_name'") as failure:
        descriptorfile.template(descriptor(tmp_path))
    assert failure.value.where.startswith(f"{tmp_path}/their.yaml:5")
    assert failure.value.fix == "--param image_name=VALUE"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"parameters": {"imagename": "x"}}, "image_name"),
        ({"parameters": IMAGE, "names": {"m1.tny": "x"}}, "m1.tiny"),
        ({"parameters": IMAGE, "networks": {"CP1": "mgmt"}}, "--name"),
        ({"parameters": IMAGE, "flavour": "simple"}, "--deployment-flavour"),
    ],
)
def test_what_a_template_does_not_ask_for_is_refused(tmp_path, fields, said):
    with pytest.raises(UsageError) as failure:
        descriptorfile.template(descriptor(tmp_path, **fields))
    assert said in str(failure.value)


def package(tmp_path, hashed=True, **fields):
    """Return vloop's package, as if it were given; without its digests where that is wanted."""
    members = sol.files(request())
    if not hashed:
        members = {name: content for name, content in members.items() if not name.endswith(".mf")}
        meta = members["TOSCA-Metadata/TOSCA.meta"].decode().splitlines()
        kept = [line for line in meta if not line.startswith("ETSI-Entry-Manifest")]
        members["TOSCA-Metadata/TOSCA.meta"] = "\n".join([*kept, ""]).encode()
    path = tmp_path / "their.csar"
    path.write_bytes(csar.write(members))
    return DescriptorFile(path, "their", **fields)


def descriptor_id(tmp_path, content):
    path = Path(tmp_path / "sent.csar")
    path.write_bytes(content)
    (found,) = descriptorfile._ids(csar.read(path))
    return found


def test_a_package_has_an_id_of_its_own_for_each_owner(tmp_path):
    one = package(tmp_path, hashed=False)
    found = descriptorfile.read(one)
    first = found.request("aaaa", "")
    assert (found.flavour, first.flavour) == ("default", "default")
    assert found.request("aaaa", "") == first
    ids = {descriptor_id(tmp_path, found.request(owner, "").descriptor) for owner in ("aaaa", "bbbb")}
    assert len(ids | {request().descriptor_id}) == 3
    path = tmp_path / "sent.csar"
    assert request().descriptor_id not in "".join(
        csar.read(path).archive.text(name) for name in csar.read(path).definitions
    )


def test_a_package_with_digests_of_its_definitions_is_sent_as_it_is(tmp_path):
    one = package(tmp_path)
    assert descriptorfile.read(one).request("aaaa", "").descriptor == one.path.read_bytes()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"networks": {"inn": "data0"}}, "connection point 'inn'"),
        ({"flavour": "large"}, "no flavour 'large'"),
        ({"names": {"a": "b"}}, "--network"),
    ],
)
def test_what_a_package_does_not_have_is_refused(tmp_path, fields, said):
    with pytest.raises(UsageError) as failure:
        descriptorfile.read(package(tmp_path, **fields))
    assert said in str(failure.value)


def test_a_template_and_a_package_are_told_apart(tmp_path):
    assert descriptor(tmp_path).form is Form.TEMPLATE
    assert package(tmp_path).form is Form.PACKAGE
