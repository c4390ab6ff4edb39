"""What is read of a descriptor is what it was written from: the same model, whoever wrote the file."""

from dataclasses import replace

import pytest

from nfvbed.vnfs.descriptors import csar, reading, sol
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.model import Size
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
    (found,) = reading.machines_of(legacy_document(legacy_text(**keys)))
    assert said(found) == of_a_template(request(**keys).only.machines[0])
    assert found.places["flavor"].startswith("vloop.yaml:")


@pytest.mark.parametrize("flavour", [several.EIGHT, several.TWO])
def test_template_of_several_machines_is_too(flavour):
    made = several.request(zones=several.ZONES).flavour(flavour)
    links = {f"VL_{link.name}" for link in made.links if link.made}
    found = reading.machines_of(several.legacy_document(flavour, zones=several.ZONES))
    assert [said(one) for one in found] == [cloud_only(of_a_template(one), links) for one in made.machines]


def test_definitions_of_a_package_say_sizes_and_extra_specs(tmp_path):
    path, made = tmp_path / "vloop.csar", request(flavor="numa")
    path.write_bytes(csar.write(sol.files(made)))
    (found,) = reading.machines_of(csar.read(path).definitions["Definitions/vloop_flavour.yaml"])
    (machine,) = made.only.machines
    assert found.size == Size(machine.size.vcpus, machine.size.memory_mib)
    assert found.extra_specs == machine.extra_specs
    assert (found.flavor, found.image.name) == (machine.flavor, machine.image.name)
    assert [(port.name, port.order, port.vnic) for port in found.ports] == [
        (port.name, port.order, port.vnic) for port in machine.ports
    ]
    assert "vloop_flavour.yaml" in found.places["vcpus"]
