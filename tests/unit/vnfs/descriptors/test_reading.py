"""What is read of a descriptor is what it was written from: the same model, for a file of any writer."""

from dataclasses import replace
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import parse_document
from nfvbed.vnfs.descriptors import csar, legacy, reading, sol
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.model import Group, Link, Size, Subnet
from nfvbed.vnfs.descriptors.yamltext import dump
from tests.unit.vnfs.descriptors import several
from tests.unit.vnfs.descriptors.requests import legacy_document, legacy_text, request


def said(machine):
    """Return a machine without what a form does not say, and without lines."""
    return replace(
        machine,
        title="",
        size=Size(machine.size.vcpus, machine.size.memory_mib),
        extra_specs=dict(machine.extra_specs),
        image=CloudImage(machine.image.name),
        user_data="",
        most_instances=None,
        is_only=False,
        places={},
    )


def of_a_template(machine):
    """Return a machine as a template says it: its size is its flavor's, and links are named as nodes are."""
    found = said(machine)
    ports = tuple(replace(port, link=f"VL_{port.link}", network=port.network) for port in found.ports)
    return replace(found, size=Size(), extra_specs={}, ports=ports)


def cloud_only(machine, made):
    """Return a machine of which ports on networks that are made with the VNF name none of the cloud's."""
    ports = tuple(replace(port, network="" if port.link in made else port.network) for port in machine.ports)
    return replace(machine, ports=ports)


@pytest.mark.parametrize("keys", [{}, {"management": True}, {"direct": True}, {"zone": "rack-1"}])
def test_template_of_one_machine_is_read_as_it_was_written(keys):
    (found,) = reading.flavour_of(legacy_document(legacy_text(**keys))).machines
    assert said(found) == of_a_template(request(**keys).only.machines[0])
    assert found.places["flavor"].startswith("vloop.yaml:")


@pytest.mark.parametrize("flavour", [several.EIGHT, several.TWO])
def test_template_of_several_machines_is_too(flavour):
    made = several.request(zones=several.ZONES).flavour(flavour)
    links = {f"VL_{link.name}" for link in made.links if link.made}
    found = reading.flavour_of(several.legacy_document(flavour, zones=several.ZONES)).machines
    assert [said(one) for one in found] == [cloud_only(of_a_template(one), links) for one in made.machines]


def test_definitions_of_a_package_say_sizes_and_extra_specs(tmp_path):
    path, made = tmp_path / "vloop.csar", request(flavor="numa")
    path.write_bytes(csar.write(sol.files(made)))
    (found,) = reading.flavour_of(csar.read(path).definitions["Definitions/vloop_flavour.yaml"]).machines
    (machine,) = made.only.machines
    assert found.size == Size(machine.size.vcpus, machine.size.memory_mib)
    assert found.extra_specs == machine.extra_specs
    assert (found.flavor, found.image.name) == (machine.flavor, machine.image.name)
    assert [(port.name, port.order, port.vnic) for port in found.ports] == [
        (port.name, port.order, port.vnic) for port in machine.ports
    ]
    assert "vloop_flavour.yaml" in found.places["vcpus"]


def as_nodes(links):
    """Return links as a template says them: named as nodes are, and without a title."""
    return tuple(replace(link, name=f"VL_{link.name}", title="") for link in links)


@pytest.mark.parametrize("flavour", [several.EIGHT, several.TWO])
def test_links_and_groups_of_a_template_are_read_as_they_were_written(flavour):
    made = several.request(zones=several.ZONES).flavour(flavour)
    found = reading.flavour_of(several.legacy_document(flavour, zones=several.ZONES))
    assert found.links == as_nodes(made.links)
    groups = tuple(replace(one, name=f"PG_{one.name}", apart_from=()) for one in made.groups)
    assert found.groups == groups
    assert any(link.subnet and link.subnet.pool for link in found.links)


@pytest.mark.parametrize("soft", [False, True])
def test_whether_a_placement_is_required_is_read(soft):
    found = reading.flavour_of(several.legacy_document(several.EIGHT, soft=soft, zones=several.ZONES))
    assert {one.strict for one in found.groups} == {not soft}


def test_links_groups_and_their_distance_are_read_of_a_package(tmp_path):
    made, path = several.request(several.EIGHT, zones=several.ZONES), tmp_path / "vepc.csar"
    path.write_bytes(csar.write(sol.files(made)))
    (member,) = (name for name in csar.read(path).definitions if "flavour" in name)
    found = reading.flavour_of(csar.read(path).definitions[member], several.EIGHT)
    links = [replace(link, name=f"VL_{link.name}", network="") for link in made.only.links if link.made]
    assert list(found.links) == links
    apart = [replace(one, name=f"PG_{one.name}", apart_from=_nodes(one.apart_from)) for one in made.only.groups]
    assert list(found.groups) == apart
    assert any(one.apart_from for one in found.groups)
    assert found.most_instances is None


def _nodes(groups):
    return tuple(f"PG_{name}" for name in groups)


@pytest.mark.parametrize("most", [1, 3])
def test_scaling_is_read_of_both_forms(tmp_path, most):
    made, path = request(most_instances=most), tmp_path / "vloop.csar"
    path.write_bytes(csar.write(sol.files(made)))
    packed = reading.flavour_of(csar.read(path).definitions["Definitions/vloop_flavour.yaml"])
    assert packed.most_instances == most
    template = reading.flavour_of(legacy_document(legacy_text(most_instances=most)))
    assert template.most_instances == (most if most > 1 else None), "a template without a policy says nothing"


FOREIGN = """\
tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
topology_template:
  node_templates:
    A: {type: tosca.nodes.nfv.VDU.Tacker, properties: {image: cirros}}
    B: {type: tosca.nodes.nfv.VDU.Tacker, properties: {image: cirros}}
    CP1:
      type: tosca.nodes.nfv.CP.Tacker
      properties: {management: true, ip_address: 192.0.2.9}
      requirements: [{virtualLink: {node: inner}}, {virtualBinding: {node: A}}]
    inner: {type: tosca.nodes.nfv.VL, properties: {vendor: x, cidr: 192.0.2.0/24}}
    six: {type: tosca.nodes.nfv.VL, properties: {network_name: n6, vendor: x, ip_version: 6, cidr: "2001:db8::/64"}}
    outer: {type: tosca.nodes.nfv.VL, properties: {network_name: mgmt, vendor: x}}
  policies:
  - near: {type: tosca.policies.tacker.Placement, properties: {strict: false}, targets: [A, B]}
  - far: {type: tosca.policies.tacker.Placement, properties: {policy: anti-affinity}, targets: [B]}
  - out:
      type: tosca.policies.tacker.Scaling
      targets: [B]
      properties: {increment: 1, min_instances: 1, max_instances: 4, default_instances: 1}
"""


def foreign(*change):
    return parse_document(Path("their.yaml"), FOREIGN.replace(*change) if change else FOREIGN)


def test_links_of_someone_elses_are_the_clouds_or_made_with_the_vnf():
    found = reading.flavour_of(foreign())
    assert found.links == (
        Link("inner", "", "", True, Subnet(ip_network("192.0.2.0/24"))),
        Link("six", "n6", "", True, Subnet(ip_network("2001:db8::/64"))),
        Link("outer", "mgmt"),
    )
    assert found.groups == (
        Group("near", "affinity", ("A", "B"), strict=False),
        Group("far", "anti-affinity", ("B",), strict=True),
    )
    assert {one.name: one.most_instances for one in found.machines} == {"A": None, "B": 4}
    assert found.machines[0].places["CP1"].startswith("their.yaml:8"), "also of a port that is no path's"


def test_what_is_read_of_someone_elses_can_be_written():
    flavour = reading.flavour_of(foreign())
    written = legacy.template(replace(request(), flavours=(flavour,)))
    again = reading.flavour_of(parse_document(Path("again.yaml"), dump(written)))
    assert again.links == as_nodes(flavour.links)
    assert [one.policy for one in again.groups] == [one.policy for one in flavour.groups]
    assert again.most_instances == flavour.most_instances


def test_one_pool_of_a_subnet_is_read_and_several_are_none():
    change = ("cidr: 192.0.2.0/24", "cidr: 192.0.2.0/24, start_ip: 192.0.2.10, end_ip: 192.0.2.20")
    (found, *_) = reading.flavour_of(foreign(*change)).links
    assert found.subnet.pool == (ip_address("192.0.2.10"), ip_address("192.0.2.20"))


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (("192.0.2.0/24", "192.0.2.0/240"), 10, "cidr"),
        (("192.0.2.0/24", "7 of them"), 10, "cidr"),
        (("max_instances: 4", "max_instances: some"), 19, "max_instances"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(change, line, said):
    with pytest.raises(ConfigurationError, match=said) as failure:
        reading.flavour_of(foreign(*change))
    assert failure.value.where.startswith(f"their.yaml:{line} ")


@pytest.mark.parametrize(
    "change", [("192.0.2.0/24", "{get_input: cidr}"), ("max_instances: 4", "max_instances: {get_input: n}")]
)
def test_an_input_without_a_value_says_nothing(change):
    found = reading.flavour_of(foreign(*change))
    assert found.links[0].made
    assert None in (found.links[0].subnet, found.most_instances)
