"""The accelerator of a rack's guests: read from Nova's configuration on each compute, and from the guest itself."""

import re
from collections.abc import Iterable

from nfvbed.cloud.verify.commands import MachineCommands
from nfvbed.errors import DeployError
from nfvbed.records import Accelerator
from nfvbed.sites.kolla.measured.computes import LIBVIRT, NOVA, commands_in
from nfvbed.spec.site import KollaSiteSpec

_FILE = "/etc/nova/nova.conf"
_OF_TYPES = {"kvm": Accelerator.KVM, "qemu": Accelerator.TCG}
"""Accelerators by Nova's `[libvirt] virt_type`, and by libvirt's domain types, which have the same names."""
_NOVAS_OWN = "kvm"
"""Nova's value where its file has none."""
_DOMAIN = re.compile(r"<domain\s[^>]*\btype=['\"](\w+)['\"]")


def of_nova(site: KollaSiteSpec, computes: Iterable[str]) -> Accelerator:
    """Return the accelerator that Nova gives guests on these computes; none: they differ, or it is another kind.

    Raises:
        ConfigurationError: the site's file does not say how a compute is reached.
        DeployError: a container does not answer.
        ConnectionLost, HostRefused, PrerequisiteError: a compute cannot be asked.
    """
    found = {_of_configuration(site, name) for name in computes}
    return found.pop() if len(found) == 1 else Accelerator.NONE


def of_guest(site: KollaSiteSpec, compute: str, instance: str) -> Accelerator:
    """Return the accelerator with which libvirt runs an instance; none: it is another kind.

    Args:
        instance: id of the instance, which Nova gives the domain too.

    Raises:
        as `of_nova`.
    """
    with commands_in(site, compute, LIBVIRT) as commands:
        domain = _asked(commands, ("virsh", "--connect", "qemu:///system", "dumpxml", instance))
    found = _DOMAIN.search(domain)
    return _OF_TYPES.get(found[1], Accelerator.NONE) if found else Accelerator.NONE


def _of_configuration(site: KollaSiteSpec, compute: str) -> Accelerator:
    with commands_in(site, compute, NOVA) as commands:
        return _OF_TYPES.get(virt_type(_asked(commands, ("cat", _FILE))), Accelerator.NONE)


def virt_type(configuration: str) -> str:
    """Return Nova's `[libvirt] virt_type`: the last value counts, as for oslo.config."""
    section, value = "", _NOVAS_OWN
    for line in configuration.splitlines():
        heading = re.fullmatch(r"\[(.+)\]", line.strip())
        section = heading[1] if heading else section
        found = re.fullmatch(r"virt_type\s*[=:]\s*(\S+)\s*", line)
        if found and section == "libvirt":
            value = found[1]
    return value


def _asked(commands: MachineCommands, argv: tuple[str, ...]) -> str:
    answer = commands.by_switch(argv)
    if answer.status:
        raise DeployError(
            f"it is not known how guests run on {commands.host}",
            where=" ".join(argv),
            observed=answer.said.strip() or f"exit status {answer.status}",
            fix="see whether Nova's containers run there (docker ps), then nfvbed verify",
        )
    return answer.out
