from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, PrerequisiteError, UnsupportedError
from nfvbed.host import identity
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.records import Accelerator, PortKind
from nfvbed.records.readings import Part
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.guest_node import files, machine
from nfvbed.sites.guest_node import site as guest_node
from nfvbed.sites.guest_node.devices import DEVICES, NodeDevice, devices
from nfvbed.sites.guest_node.files import NodeFiles
from nfvbed.sites.guest_node.machine import NodeMachine, NodePlaces
from nfvbed.sites.guest_node.ramdisk import ramdisk
from nfvbed.spec.site import GuestSpec

FILES = NodeFiles(Path("/nowhere/node"), "6.12.0")


@pytest.fixture(name="binaries")
def _binaries(monkeypatch):
    monkeypatch.setattr(QemuBinaries, "version", "10.0.2")
    return QemuBinaries(Path("/nowhere/qemu"))


@pytest.fixture(name="unpacked")
def _unpacked(tmp_path):
    """A kernel that has 9p as modules and overlayfs built in; the modules are words."""
    root = tmp_path / files.PRIVATE_DIRECTORY
    modules = root / "lib/modules/6.12.0"
    (modules / "kernel").mkdir(parents=True)
    for name in ("vmlinuz", "busybox"):
        (root / name).write_bytes(name.encode())
    names = ("netfs", "9pnet", "9p", "9pnet_virtio")
    for name in names:
        (modules / f"kernel/{name}.ko").write_bytes(f"module {name}".encode())
    (modules / "modules.dep").write_text("".join(f"kernel/{name}.ko: kernel/netfs.ko\n" for name in names))
    (modules / "modules.builtin").write_text("kernel/fs/overlayfs/overlay.ko\n")
    return files.locate(tmp_path)


def words(wanted, binaries):
    return machine.argv(wanted, FILES, binaries, NodePlaces(Path("/run/nfvbed/1")))


def after(command, option):
    return [command[place + 1] for place, word in enumerate(command) if word == option]


def test_the_hosts_root_is_shared_for_reading_alone(binaries):
    command = words(NodeMachine("guest-node", Accelerator.TCG, 2, 3072), binaries)
    assert after(command, "-virtfs") == [
        "local,path=/,mount_tag=nfvbed-root,security_model=none,readonly=on,multidevs=remap"
    ]
    assert after(command, "-smp") == ["2"]
    assert after(command, "-m") == ["3072"]
    assert after(command, "-M") == ["q35"]


def test_devices_reach_qemu_the_kernel_and_the_agent(binaries):
    nic = NodeDevice(("-device", "igb"), ("kernel-irqchip=split",), ("iommu=pt",), ("igb",))
    wanted = NodeMachine("guest-node", Accelerator.TCG, 2, 3072, (nic, nic))
    command = words(wanted, binaries)
    assert after(command, "-M") == ["q35,kernel-irqchip=split"]
    assert command[-4:] == ["-device", "igb", "-device", "igb"]
    assert "iommu=pt" in after(command, "-append")[0].split()
    assert wanted.modules == ("tun", "vhost_net", "kvm_amd", "igb")


def test_a_machine_under_kvm_loads_no_emulated_virtualization():
    assert "kvm_amd" not in NodeMachine("n", Accelerator.KVM, 2, 3072).modules


def test_every_device_that_a_site_may_name_is_known():
    names = GuestSpec.model_fields["devices"].annotation.__args__[0].__args__
    assert set(names) == set(DEVICES)
    assert devices(names)
    with pytest.raises(ConfigurationError, match="no device floppy"):
        devices(("floppy",))


def test_a_guest_knows_itself_by_its_kernels_parameters(binaries):
    line = after(words(NodeMachine("guest-node", Accelerator.TCG, 2, 3072), binaries), "-append")[0]
    assert identity.this_node(line) == identity.NodeIdentity("guest-node", Accelerator.TCG, "10.0.2")
    assert identity.this_node("root=/dev/vda quiet") is None


def test_a_ramdisk_holds_what_its_root_needs_in_order(unpacked):
    content = ramdisk(unpacked, ("tun",))
    assert content.index(b"module netfs") < content.index(b"module 9p")
    assert b"netfs\n9pnet\n9p\n9pnet_virtio\n" in content
    assert b"module overlay" not in content
    assert b"agent.py' " in content
    assert b"'tun'" in content


def test_a_kernel_without_9p_is_said(unpacked):
    (unpacked.modules / "modules.dep").write_text("")
    with pytest.raises(PrerequisiteError, match="no module netfs"):
        ramdisk(unpacked, ())


def test_a_node_that_is_not_unpacked_is_said(tmp_path):
    with pytest.raises(PrerequisiteError, match="not set up") as caught:
        files.locate(tmp_path)
    assert caught.value.fix == "make node"


def test_a_guest_node_is_no_site_of_this_machine():
    project = open_project()
    with pytest.raises(UnsupportedError, match="lives as long as one command"):
        open_site(project.load_site("guest-node"), project.root)


@pytest.fixture(name="site")
def _site(monkeypatch):
    project = open_project()
    node = identity.NodeIdentity("guest-node", Accelerator.TCG, "10.0.2")
    monkeypatch.setattr(guest_node, "this_node", lambda: node)
    monkeypatch.setattr(identity, "this_node", lambda: node)
    return open_site(project.load_site("guest-node"), project.root)


def test_the_rig_of_a_guest_node_names_it(site, monkeypatch):
    arrangement = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,))
    live = SimpleNamespace(port_kind=PortKind.VETH, starter=SimpleNamespace(arrangement=arrangement))
    monkeypatch.setattr(site._planes.machine, "generator_version", lambda: "1")
    monkeypatch.setattr(site._planes, "_find", lambda deployment: live)
    deployment = SimpleNamespace(id="1", order=())
    assert site.rig(deployment)["node"] == {"site": "guest-node", "accelerator": "tcg", "qemu": "10.0.2"}


def test_emulated_cores_have_no_distance(site):
    seen = site.look(None, Part.DISTANCES)
    assert seen.core_distance_ns is None
    assert "emulated" in seen.distances_ns.reason
