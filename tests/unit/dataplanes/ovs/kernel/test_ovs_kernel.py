import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.kernel import probe as ovs_kernel_probe
from nfvbed.dataplanes.ovs.kernel.adapter import OvsKernel, OvsPlan, switch_settings
from nfvbed.dataplanes.ovs.kernel.options import OvsKernelOptions
from nfvbed.dataplanes.wiring import port_numbers
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.host.fitness import Fitness, support_of
from nfvbed.records import PortKind, Readiness, Support
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import options_of

PROJECT = open_project()


def test_ports_have_the_names_of_open_vswitchs_rules():
    plan = OvsPlan(layout("pvp"), PortKind.VETH)
    assert plan.ports == tuple(port_numbers(plan.layout)) == ("p0", "v1a", "v1b", "p1")
    assert [plan.peer(end) for end in plan.ends] == ["g0", "eth1a", "eth1b", "g1"]
    assert plan.always_up == plan.ports


def test_a_tap_has_no_carrier_before_its_guest():
    plan = OvsPlan(layout("pvp"), PortKind.TAP)
    assert plan.taps == ("v1a", "v1b")
    assert plan.always_up == ("p0", "p1")


def test_limits_of_the_kernels_cache_reach_the_switch():
    options = OvsKernelOptions(dataplane="ovs-kernel", flow_limit=1000, max_idle_ms=500, max_revalidator_ms=200)
    limits = {"flow-limit": "1000", "max-idle": "500", "max-revalidator": "200"}
    assert switch_settings(options) == {"n-revalidator-threads": "1"} | limits
    assert switch_settings(OvsKernelOptions(dataplane="ovs-kernel")) == {"n-revalidator-threads": "1"}
    with pytest.raises(ValidationError):
        OvsKernelOptions(dataplane="ovs-kernel", max_idle_ms=0)


def test_its_ceilings_are_placed_as_itself():
    options = OvsKernelOptions(dataplane="ovs-kernel", core_use="rps", offloads=False)
    assert (options.veth_core_use, options.veth_offloads) == ("rps", False)


def test_options_of_another_data_plane_are_refused():
    with pytest.raises(ConfigurationError, match="another data plane than ovs-kernel"):
        options_of(PROJECT.load_variant("ovs-dpdk"), OvsKernelOptions)


@pytest.fixture(name="probe")
def _probe(monkeypatch):
    """A host that has all but what a test takes away."""
    monkeypatch.setattr(ovs_kernel_probe, "probe_veth", lambda variant: Fitness())
    monkeypatch.setattr(ovs_kernel_probe, "_datapath_reason", lambda: "")
    monkeypatch.setattr(ovs_kernel_probe, "run_version", lambda program: None)
    return lambda: support_of("ovs-kernel", lambda: OvsKernel().probe(PROJECT.load_variant("ovs-kernel")))


def test_a_host_with_the_datapath_is_ready(probe):
    assert probe().readiness is Readiness.READY


def test_a_kernel_without_the_datapath_is_unsupported_with_what_to_do(probe, monkeypatch):
    monkeypatch.setattr(ovs_kernel_probe, "_datapath_reason", lambda: "the kernel makes no Open vSwitch datapath: none")
    found = probe()
    assert found.readiness is Readiness.UNSUPPORTED
    assert found.reason.startswith("the kernel makes no Open vSwitch datapath")
    assert "modprobe openvswitch" in found.fix
    assert "guest-node" in found.fix


def test_without_veth_ports_nothing_else_is_asked(probe, monkeypatch):
    lacking = Support(variant="ovs-kernel", readiness=Readiness.UNSUPPORTED, reason="no veth", fix="modprobe veth")

    def no_veth(variant):
        raise UnsupportedError("no veth", fix="modprobe veth")

    monkeypatch.setattr(ovs_kernel_probe, "probe_veth", no_veth)
    assert probe() == lacking
