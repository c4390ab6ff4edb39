"""Which adapter sets up which variant."""

import pkgutil
import subprocess
import sys

import pytest

from nfvbed.dataplanes import ports
from nfvbed.dataplanes.catalogue import CATALOGUE, VariantModel, ceilings, data_plane, open_project
from nfvbed.dataplanes.dataplane import Ceiling
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


CEILING_ROLES = {CellRole.LOOPBACK, CellRole.VNF, CellRole.REFERENCE}


def test_a_kind_of_ports_declares_all_of_its_ceilings():
    """Each module `<kind>_ceilings` is of a kind that there is, and has one for each role."""
    names = [module.name for module in pkgutil.iter_modules(ports.__path__) if module.name.endswith("_ceilings")]
    kinds = {PortKind(name.removesuffix("_ceilings").replace("_", "-")) for name in names}
    assert kinds == {PortKind.MEMIF, PortKind.VETH, PortKind.VHOST_USER}
    for kind in kinds:
        found = ceilings(kind, BRIDGE)
        assert set(found) == CEILING_ROLES
        assert all(issubclass(ceiling, Ceiling) for ceiling in found.values())
        assert len({ceiling.kind for ceiling in found.values()}) == len(CEILING_ROLES)
    assert not any(ceilings(kind, BRIDGE) for kind in set(PortKind) - kinds)


def test_ceilings_of_one_more_kind_are_one_module(monkeypatch, tmp_path):
    """Nothing else of the package names them."""
    (tmp_path / "tap_ceilings.py").write_text(
        "from nfvbed.dataplanes.ports.veth_ceilings import LoopbackVeth\n"
        "from nfvbed.records import CellRole\n"
        "class LoopbackTap(LoopbackVeth):\n    kind = 'loopback-tap'\n"
        "CEILINGS = {CellRole.LOOPBACK: LoopbackTap}\n"
    )
    monkeypatch.setattr(ports, "__path__", [*ports.__path__, str(tmp_path)])
    on_taps = BRIDGE.model_copy(update={"port_kind": PortKind.TAP})
    assert data_plane(on_taps, CellRole.LOOPBACK).kind == "loopback-tap"
    with pytest.raises(UnsupportedError, match="no reference for ports of kind tap") as refused:
        data_plane(on_taps, CellRole.REFERENCE)
    assert refused.value.observed == "it has memif, veth, vhost-user"
    del sys.modules["nfvbed.dataplanes.ports.tap_ceilings"]


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
