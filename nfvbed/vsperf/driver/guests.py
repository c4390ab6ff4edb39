"""VSPERF's guests: QEMU with the accelerator that boots here, and nfvbed's image where the user names none.

VSPERF logs in to its guests and builds a forwarder in them. In nfvbed's image one is there already, and forwards from
its boot on (`vloop.forward`); to VSPERF it is a guest whose forwarding is `buildin`.
"""

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.qemu.accelerator import MACHINE, AcceleratorFound, find_accelerator
from nfvbed.host.qemu.binaries import QemuBinaries, locate
from nfvbed.host.qemu.images import Image, find
from nfvbed.patience import patient
from nfvbed.records import Accelerator, PortKind, VnfPort
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import VnfSpec
from nfvbed.vnfs.vm import image as disks
from nfvbed.vnfs.vm import sizing, support
from nfvbed.vsperf.conf.draft import Draft, whole
from nfvbed.vsperf.conf.guest import PORTS, forwarding_of
from nfvbed.vsperf.conf.guestflavor import LEAST_MIB, MOST_MIB, same_for_all, vcpus_of
from nfvbed.vsperf.conf.settings import TestSettings
from nfvbed.vsperf.driver.configuration import Additions

KIND: Final = "QemuDpdkVhostUser"
"""VSPERF's class of guests on vhost-user ports."""
FORWARDINGS: Final = ("io", "mac", "macswap", "5tswap", "bridge")
"""What nfvbed's image does from its boot on, of what VSPERF can ask for."""
BY_ITSELF: Final = "image"
WRAPPER: Final = Path(__file__).parent / "plugin" / "qemu_system.py"
TIMEOUT_S: Final = {Accelerator.KVM: 180, Accelerator.TCG: 600}
"""VSPERF's patience with a guest's boot: its default, and more for an emulated one."""
_ASKED: Final = ("--enable-kvm", "-enable-kvm")


@dataclass(frozen=True)
class Guests:
    """The guests of one run, all alike."""

    count: int
    flavor: Flavor
    """Its size, as VSPERF's settings say it."""
    forwarding: str
    """`image`: what the user's image does, or what VSPERF builds in it."""
    binaries: QemuBinaries
    found: AcceleratorFound
    image: Image | None
    """nfvbed's own; None: the user's."""

    @property
    def accelerator(self) -> Accelerator:
        """Which boots guests here."""
        return self.found.accelerator

    @property
    def memory_mib(self) -> int:
        """Hugepage memory of all of them."""
        return self.count * self.flavor.memory_mib

    @property
    def rig(self) -> Mapping[str, Any]:
        """What a result's rig says of them."""
        own = self.image
        return {
            "vnf": {"count": self.count, "forwarding": self.forwarding, "image": own.digest if own else "the user's"},
            "flavor": {"vcpus": self.flavor.vcpus, "memory_mib": self.flavor.memory_mib},
            "accelerator": self.accelerator.value,
        }


def has_own_image(settings: TestSettings) -> bool:
    """Return whether the user names an image."""
    given = settings.get("GUEST_IMAGE")
    return given is not None and any(given.value if isinstance(given.value, list | tuple) else (given.value,))


def check_guests(test: str, settings: TestSettings) -> None:
    """Refuse guests that nfvbed cannot give VSPERF.

    Raises:
        UnsupportedError: with all that is missing.
    """
    draft = Draft(test)
    kind = settings.require("VNF")
    if kind.value != KIND:
        draft.lacks(f"without NICs guests have vhost-user ports ({KIND})", kind)
    _flavor(draft, settings)
    if not has_own_image(settings):
        mode = forwarding_of(draft, settings)
        if mode not in FORWARDINGS:
            text = f"nfvbed's image forwards from its boot on as {', '.join(FORWARDINGS)}, and not as {mode}"
            draft.lacks(text, settings.require("GUEST_LOOPBACK"), "name an image of your own in GUEST_IMAGE")
    if draft.missing:
        raise UnsupportedError(
            f"VSPERF's guests of {test} cannot be started here",
            observed="; ".join(draft.missing),
            fix="; ".join(draft.advice) or "see docs/howto/vsperf.md",
        )


def find_guests(test: str, settings: TestSettings, count: int, vnf: VnfSpec, root: Path) -> Guests:
    """Find QEMU, the accelerator that boots, and the image.

    Args:
        count: of the guests.
        vnf: whose image the guests boot where the user names none.
        root: of the project.

    Raises:
        UnsupportedError: no guest boots here; with what booting one showed.
        PrerequisiteError: QEMU or the image is not there.
    """
    draft = Draft(test)
    binaries = support.usable(locate(root))
    found = find_accelerator(root, binaries)
    if found.accelerator is Accelerator.NONE:
        raise UnsupportedError(
            "VSPERF's guests do not boot on this host", where=f"test {test}", observed=found.reason, fix="nfvbed doctor"
        )
    own = has_own_image(settings)
    image = None if own or vnf.image is None else find(vnf.image, root, f"image.file of the VNF {vnf.name}")
    forwarding = BY_ITSELF if own else forwarding_of(draft, settings)
    return Guests(count, _flavor(draft, settings), forwarding, binaries, found, image)


def _flavor(draft: Draft, settings: TestSettings) -> Flavor:
    memory = same_for_all(draft, settings.require("GUEST_MEMORY"))
    return Flavor(
        name="vsperf",
        title="VSPERF's guest",
        vcpus=vcpus_of(draft, same_for_all(draft, settings.require("GUEST_SMP"))),
        memory_mib=whole(draft, memory, LEAST_MIB, MOST_MIB),
    )


def guest_additions(guests: Guests, directory: Path, hugepages: Path, arrangement: Arrangement) -> Additions:
    """Write the program that stands for QEMU, and return VSPERF's settings for the guests.

    Args:
        directory: of the run.
        hugepages: a hugetlbfs for their memory.
    """
    every = range(guests.count)
    forced: dict[str, Any] = {
        "VNF": KIND,
        "HUGEPAGE_DIR": str(hugepages),
        # VSPERF removes what is there before.
        "GUEST_SHARE_DIR": [str(directory / f"share{number}") for number in every],
        "GUEST_CORE_BINDING": [cores_of(arrangement, number) for number in every],
        "VNF_AFFINITIZATION_ON": False,
    }
    if guests.image is not None:
        forced["GUEST_IMAGE"] = [str(guests.image.path)] * guests.count
        forced["GUEST_LOOPBACK"] = ["buildin"] * guests.count
        forced["GUEST_PROMPT_LOGIN"] = ["vloop: ready"] * guests.count
    wrapper = directory / "qemu-system"
    words = [sys.executable, "-I", str(WRAPPER), json.dumps(rules_of(guests, directory))]
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return Additions(
        forced=forced,
        defaults={"GUEST_TIMEOUT": [round(patient(TIMEOUT_S[guests.accelerator]))] * guests.count},
        paths={"qemu": {"type": "bin", "bin": {"qemu-system": str(wrapper)}}},
    )


def rules_of(guests: Guests, directory: Path) -> dict[str, Any]:
    """Return what the program in QEMU's place changes of VSPERF's arguments."""
    emulated = guests.accelerator is not Accelerator.KVM
    machine = MACHINE[guests.accelerator]
    processor = machine[machine.index("-cpu") + 1]
    words = [word for word in machine if word not in ("-cpu", processor)]
    more = list(guests.binaries.firmware)
    if guests.image is not None:
        parameters = f"{sizing.kernel_parameters(guests.flavor)} vloop.forward={guests.forwarding}"
        direct = disks.direct_boot(guests.image, parameters)
        if direct is not None:
            more += ["-kernel", str(direct.kernel), "-initrd", str(direct.ramdisk), "-append", direct.command_line]
    return {
        "program": str(guests.binaries.program),
        "environment": guests.binaries.environment,
        "replaced": dict.fromkeys(_ASKED, words) if emulated else {},
        "cpu": processor if emulated else "",
        "folder": str(directory),
        "more": more,
    }


def cores_of(arrangement: Arrangement, guest: int) -> tuple[str, ...]:
    """Return the cores on which VSPERF starts a guest, as it takes them."""
    return tuple(str(core) for core in sorted({arrangement.vnf_cores[guest], *arrangement.control_cores}))


def vnf_ports(guests: Guests, directory: Path) -> tuple[tuple[VnfPort, ...], ...]:
    """Return where each of VSPERF's guests attaches to its switch."""
    return tuple(tuple(_vnf_port(vnf, port, directory) for port in range(PORTS)) for vnf in range(guests.count))


def _vnf_port(vnf: int, port: int, directory: Path) -> VnfPort:
    address = directory / "openvswitch" / f"dpdkvhostuser{PORTS * vnf + port}"
    kind = PortKind.VHOST_USER
    return VnfPort(name=address.name, vnf=vnf, port=port, kind=kind, address=str(address), mac="", listens=False)
