"""Cables in a site's file, and the variants whose ports they are."""

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.records import PortKind, VnfKind
from nfvbed.sites.guest_node.devices import CABLED_NICS, devices
from nfvbed.spec.choices import resolve
from nfvbed.spec.site import LabSiteSpec

FIRST = {"switch": "0000:3b:00.0", "generator": "0000:5e:00.0"}
SECOND = {"switch": "0000:3b:00.1", "generator": "0000:5e:00.1"}


def site(*cables):
    return LabSiteSpec.model_validate({"name": "rack", "kind": "lab", "cables": cables})


def test_none_or_two():
    assert site().cables == ()
    assert [cable.generator for cable in site(FIRST, SECOND).cables] == ["0000:5e:00.0", "0000:5e:00.1"]
    with pytest.raises(ValidationError, match="a path has 2 cables, one at each end; these are 1"):
        site(FIRST)
    with pytest.raises(ValidationError, match="at most 2"):
        site(FIRST, SECOND, {"switch": "0000:60:00.0", "generator": "0000:61:00.0"})


def test_every_end_is_a_port_of_its_own():
    with pytest.raises(ValidationError, match=r"0000:3b:00\.0 is named twice"):
        site(FIRST, {"switch": "0000:60:00.0", "generator": "0000:3b:00.0"})


@pytest.mark.parametrize("address", ["3b:00.0", "0000:3B:00.0", "eth0", "0000:3b:20.0", "0000:3b:00.8", ""])
def test_addresses_are_as_lspci_writes_them(address):
    with pytest.raises(ValidationError, match="should match pattern"):
        site({"switch": address, "generator": "0000:5e:00.0"}, SECOND)


def test_the_guest_nodes_cables_are_its_nics():
    spec = open_project().load_site("guest-node-cables")
    assert tuple(end for cable in spec.cables for end in (cable.switch, cable.generator)) == CABLED_NICS
    (_, nics) = devices(spec.guest.devices)
    ends = [word for word in nics.arguments if word.startswith("hubport")]
    assert [word.rpartition("=")[2] for word in ends] == ["0", "0", "1", "1"]


@pytest.mark.parametrize("name", ["ovs-dpdk-pci", "vpp-pci"])
def test_vnfs_have_vhost_user_behind_ports_of_nics(name):
    project = open_project()
    variant = project.load_variant(name)
    assert variant.port_kind is PortKind.PCI
    choice = resolve(variant.native_vnf, variant, project)
    assert variant.options.vnf_port_kind(choice) is PortKind.VHOST_USER
    assert variant.options.vnf_port_kind(choice.model_copy(update={"kind": VnfKind.VM})) is PortKind.VHOST_USER
    assert not variant.lacks("pv4p")
    assert "no port outside" in variant.lacks("v2v")


def test_ports_of_nics_are_of_kind_pci():
    assert OvsDpdkOptions(dataplane="ovs-dpdk", port_type="pci").port_kinds == (PortKind.PCI,)
