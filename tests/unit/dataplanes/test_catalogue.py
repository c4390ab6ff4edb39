"""Which adapter sets up which variant."""

import subprocess
import sys

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE, VariantModel, data_plane, open_project
from nfvbed.errors import UnsupportedError
from nfvbed.records import CellRole, PortKind, VnfKind
from nfvbed.spec.options import name_of
from nfvbed.spec.vnf import VnfChoice

BRIDGE = VariantModel(
    name="b", title="b", port_kind=PortKind.VETH, topologies=("p2p",), options={"dataplane": "linux-bridge"}
)


OVS = VariantModel(
    name="o", title="o", port_kind=PortKind.VHOST_USER, topologies=("p2p",), options={"dataplane": "ovs-dpdk"}
)


@pytest.fixture(scope="module")
def project():
    return open_project()


def choice(project, kind=VnfKind.PROCESS):
    spec = project.load_vnf("vloop")
    return VnfChoice(label="", vnf=spec, kind=kind, forwarding="io", flavor=project.load_flavor(spec.flavor))


def test_bridge_and_its_ceiling():
    assert data_plane(BRIDGE).kind == "linux-bridge"
    assert data_plane(BRIDGE, CellRole.LOOPBACK).kind == "loopback-veth"


def test_every_data_plane_that_a_variant_may_name_has_its_adapter(project):
    variants = {variant.options.dataplane: variant for variant in project.list_variants()}
    assert sorted(variants) == [name_of(options) for options in CATALOGUE.options]
    del variants["simulated"]  # of another site
    assert {name: data_plane(variant).kind for name, variant in variants.items()} == {name: name for name in variants}


def test_every_port_kind_of_the_lab_has_its_ceilings(project):
    assert data_plane(BRIDGE, CellRole.REFERENCE).kind == "testpmd-veth"
    assert data_plane(OVS, CellRole.REFERENCE).kind == "testpmd-io"
    assert data_plane(project.load_variant("ovs-dpdk-memif"), CellRole.REFERENCE).kind == "testpmd-memif"
    with pytest.raises(UnsupportedError, match="no reference for ports of kind pci"):
        data_plane(project.load_variant("ovs-dpdk-pci"), CellRole.REFERENCE)


def test_ceiling_of_a_vnf_goes_by_its_ports(project):
    assert data_plane(BRIDGE, CellRole.VNF, choice(project)).kind == "bare-veth"
    assert data_plane(OVS, CellRole.VNF, choice(project)).kind == "bare-vhost"
    with pytest.raises(UnsupportedError, match="no vnf for ports of kind tap"):
        data_plane(BRIDGE, CellRole.VNF, choice(project, kind=VnfKind.VM))


def test_data_plane_of_another_site():
    simulated = BRIDGE.model_copy(update={"options": {"dataplane": "simulated"}})
    variant = VariantModel.model_validate(simulated.model_dump(warnings=False))
    with pytest.raises(UnsupportedError, match="no data plane 'simulated'"):
        data_plane(variant)


def test_reading_variants_needs_nothing_of_a_host():
    """A report is shown, and a dashboard runs, where no switch and no library of one is."""
    code = (
        "import sys, nfvbed.cli.compare, nfvbed.cli.report, nfvbed.dataplanes.catalogue\n"
        "print(*[name for name in sys.modules if name.startswith(('nfvbed.host', 'pyroute2', 'ovs', 'vpp_papi'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
