"""QEMU's command line for a guest node: a pure function from a value to arguments."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.host.identity import parameters
from nfvbed.host.qemu.accelerator import MACHINE
from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.records import Accelerator
from nfvbed.sites.guest_node import ramdisk
from nfvbed.sites.guest_node.agent import PORT
from nfvbed.sites.guest_node.devices import NodeDevice
from nfvbed.sites.guest_node.files import NodeFiles

_KERNEL = ("console=ttyS0", "panic=-1", "quiet", "mitigations=off", "nokaslr", "tsc=reliable")
"""An emulated CPU has no secrets to lose, and its mitigations cost it seconds; its TSC is the one of this host."""
_MODULES = ("tun", "vhost_net")
_NESTED = "kvm_amd"
"""The virtualization that QEMU emulates with its processor: guests of the guest run under it."""


@dataclass(frozen=True)
class NodeMachine:
    """A guest node as it is started."""

    name: str
    """Name of its site."""
    accelerator: Accelerator
    vcpus: int
    memory_mib: int
    devices: tuple[NodeDevice, ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        """What is loaded before anything runs: what has a device file, which nothing else would ask for."""
        emulated = (_NESTED,) if self.accelerator is Accelerator.TCG else ()
        wanted = (*_MODULES, *emulated, *(name for device in self.devices for name in device.modules))
        return tuple(dict.fromkeys(wanted))


@dataclass(frozen=True)
class NodePlaces:
    """The files of a running node, below its run directory."""

    directory: Path

    @property
    def ramdisk(self) -> Path:
        """What it boots."""
        return self.directory / "initrd"

    @property
    def console(self) -> Path:
        """What its kernel prints."""
        return self.directory / "console.log"

    @property
    def channel(self) -> Path:
        """The socket of its agent's port."""
        return self.directory / "node.sock"


def argv(machine: NodeMachine, files: NodeFiles, binaries: QemuBinaries, places: NodePlaces) -> list[str]:
    """Return the arguments, the program first."""
    words = [str(binaries.program), *binaries.firmware, "-name", f"guest={machine.name},debug-threads=on"]
    words += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    words += ["-M", ",".join(("q35", *dict.fromkeys(o for device in machine.devices for o in device.machine)))]
    words += [*MACHINE[machine.accelerator], "-smp", str(machine.vcpus), "-m", str(machine.memory_mib)]
    kernel = [*_KERNEL, *parameters(machine.name, machine.accelerator, binaries.version)]
    kernel += [parameter for device in machine.devices for parameter in device.parameters]
    words += ["-kernel", str(files.kernel), "-initrd", str(places.ramdisk), "-append", " ".join(kernel)]
    words += ["-serial", f"file:{places.console}"]
    words += ["-virtfs", f"local,path=/,mount_tag={ramdisk.ROOT_TAG},security_model=none,readonly=on,multidevs=remap"]
    words += ["-device", "virtio-serial-pci", "-chardev", f"socket,id=node,path={places.channel},server=on,wait=off"]
    words += ["-device", f"virtserialport,chardev=node,name={PORT}"]
    return words + [word for device in machine.devices for word in device.arguments]
