"""The variant's options, what its probe says, and what DPDK is reported of its functions; on doubles."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.sriov import adapter as sriov
from nfvbed.dataplanes.sriov.options import SriovOptions
from nfvbed.errors import UnsupportedError
from nfvbed.host.fitness import support_of
from nfvbed.host.nics.pf import discover
from nfvbed.host.probes import devices
from nfvbed.host.probes.host import Host
from nfvbed.host.testpmd import command
from nfvbed.records import PortKind, Readiness, VnfKind
from nfvbed.records.findings import State
from nfvbed.spec.site import GuestSpec
from nfvbed.spec.vnf import VnfChoice


def choice(**more):
    project = open_project()
    spec = project.load_vnf("vloop")
    given = {"kind": VnfKind.PROCESS, "forwarding": "mac", **more}
    return VnfChoice(label="", vnf=spec, flavor=project.load_flavor(spec.flavor), **given)


@pytest.mark.parametrize(
    "wrong",
    [
        {"settings": {"mac": "02:00:00:00:00:01"}},
        {"vlan_per_cable": 100, "settings": {"vlan": 7}},
        {"settings": {"min_rate_mbps": 20, "max_rate_mbps": 10}},
        {"ports": {"p2": {"vlan": 7}}},
        {"ports": {"p0": {"mac": "01:00:00:00:00:01"}}},
        {"pf_address": "05:00.0"},
    ],
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValidationError):
        SriovOptions(dataplane="sriov", **wrong)


@pytest.mark.parametrize("forwarding", ["io", "macswap", "5tswap", "bridge", "xdp"])
def test_a_vnf_that_does_not_address_the_next_function_is_refused(forwarding):
    with pytest.raises(UnsupportedError, match="NIC's switch"):
        SriovOptions(dataplane="sriov").vnf_port_kind(choice(forwarding=forwarding))


def test_a_router_needs_network_devices():
    assert SriovOptions(dataplane="sriov").vnf_port_kind(choice(forwarding="router")) is PortKind.VF
    with pytest.raises(UnsupportedError, match="network devices"):
        SriovOptions(dataplane="sriov", attach="dpdk").vnf_port_kind(choice(forwarding="router"))


def test_a_machine_takes_a_function_and_no_other_nic():
    options = SriovOptions(dataplane="sriov")
    assert options.vnf_port_kind(choice(kind=VnfKind.VM, vnic="vf")) is PortKind.VF
    with pytest.raises(UnsupportedError, match="no virtual function"):
        options.vnf_port_kind(choice(kind=VnfKind.VM, vnic="tap"))


def probe(tree, monkeypatch, reason="", **options):
    monkeypatch.setattr(sriov, "discover", lambda: discover(tree.root))
    monkeypatch.setattr(sriov, "vfio_reason", lambda: reason)
    monkeypatch.setattr(sriov.representors.devlink, "mode", lambda address: None)
    monkeypatch.setattr(sriov.os, "geteuid", lambda: 0)
    variant = open_project().load_variant("sriov")
    given = variant.options.model_copy(update=options)
    return support_of("sriov", lambda: sriov.Sriov().probe(variant.model_copy(update={"options": given})))


def test_the_probe_tells_what_is_lacking(sys_tree, monkeypatch):
    found = probe(sys_tree, monkeypatch)
    assert found.readiness is Readiness.UNSUPPORTED
    assert "sriov_totalvfs" in found.reason
    sys_tree.nic("ixgbe")
    assert probe(sys_tree, monkeypatch).readiness is Readiness.READY
    without = probe(sys_tree, monkeypatch, "no IOMMU group", attach="dpdk")
    assert without.readiness is Readiness.UNSUPPORTED
    assert "no IOMMU group" in without.reason
    assert "attach: kernel" in without.fix
    assert "representors" in probe(sys_tree, monkeypatch, embedded_switch="switchdev").reason


def test_dpdk_needs_no_vfio_on_mellanox_nics(sys_tree, monkeypatch):
    sys_tree.nic("mlx5")
    assert probe(sys_tree, monkeypatch, "no IOMMU group", attach="dpdk").readiness is Readiness.READY


def test_the_doctor_names_nics_and_their_functions(sys_tree):
    host = Host(sys_tree.root.parent)
    assert devices.probe_sriov(host).state is State.ABSENT
    sys_tree.functions(sys_tree.nic("igb"), 2)
    found = devices.probe_sriov(host)
    assert found.state is State.PRESENT
    assert found.summary == "0000:01:00.0 (igb): 2 of 7 functions"


def test_testpmd_is_given_pci_devices(monkeypatch):
    monkeypatch.setattr(command, "program", lambda: "testpmd")
    options = command.TestpmdOptions(
        vdevs=(),
        pci=("0000:01:10.2", "0000:01:10.4"),
        main_core=1,
        forwarding_core=0,
        hugepages=Path("/run/x/hugepages-0"),
        memory_mib=64,
        file_prefix="x",
    )
    argv = command.argv(options)
    assert [argv[i + 1] for i, word in enumerate(argv) if word == "--allow"] == ["0000:01:10.2", "0000:01:10.4"]
    assert "--no-pci" not in argv


def test_an_emulated_nic_wants_its_guest_below_4_gib():
    assert GuestSpec(memory_mib=2560, devices=("iommu", "igb")).memory_mib == 2560
    with pytest.raises(ValidationError, match="above 4 GiB"):
        GuestSpec(memory_mib=3072, devices=("igb",))
