"""What a compute with virtual functions is configured with, and why this machine has none.

The files are rendered and checked from the NICs that a machine has; a node that is given such NICs is not started by
nfvbed yet, so the variant is not supported by a devcloud, and says why.
"""

from collections.abc import Sequence
from pathlib import Path

from nfvbed.dataplanes.sriov import choice
from nfvbed.dataplanes.sriov.options import SriovOptions
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.host.nics import pf
from nfvbed.host.nics.pf import SYSFS, PfPort
from nfvbed.sites.openstack.devcloud.services import neutron, nova
from nfvbed.sites.openstack.devcloud.services.computes import DATA
from nfvbed.sites.openstack.devcloud.services.settings import CloudSettings, PhysicalNic
from nfvbed.spec.variant import Variant, options_of

FILES = (*nova.PCI.files, *neutron.SRIOV.files)


def no_functions(variant: Variant, sysfs: Path = SYSFS) -> UnsupportedError:
    """Return why there is no compute with virtual functions here: what this machine lacks, or what a devcloud does."""
    try:
        _require_functions(choice.choose(options_of(variant, SriovOptions), pf.discover(sysfs)))
    except UnsupportedError as failure:
        return failure
    return UnsupportedError(
        "no compute node of a devcloud is given PCI devices",
        where=f"variant {variant.name}",
        fix="site lab measures the variant; a cloud of several machines gives functions to instances",
    )


def nics(ports: Sequence[PfPort], product: int) -> tuple[PhysicalNic, ...]:
    """Return the NICs of `data0` and `data1`, one each.

    Args:
        ports: of physical functions, in the order of the path.
        product: PCI id of their virtual functions.

    Raises:
        ConfigurationError: they are not two different ones.
        UnsupportedError: one has no virtual functions.
    """
    names = [one.port.name for one in ports]
    if len(ports) != len(DATA) or len(set(names)) != len(names):
        raise ConfigurationError(
            "data0 and data1 need a port of a NIC each",
            where="physical functions",
            observed=", ".join(names) or "none",
            fix="name two different ports",
        )
    for one in ports:
        _require_functions(one)
    return tuple(
        PhysicalNic(network, one.port.name, one.function.vendor, product)
        for network, one in zip(DATA, ports, strict=True)
    )


def configuration(settings: CloudSettings) -> dict[str, str]:
    """Return the files of such a node that others do not have, by path.

    Raises:
        ConfigurationError: the settings name no NICs.
    """
    if not settings.nics:
        raise ConfigurationError("a compute with virtual functions has no NIC", where=settings.host, fix="name two")
    return {file.path: settings.render(file) for file in FILES}


def _require_functions(chosen: PfPort) -> None:
    if chosen.function.num_vfs == 0:
        raise UnsupportedError(
            f"{chosen.port.name} has no virtual functions",
            where=chosen.function.address,
            observed="sriov_numvfs is 0",
            fix=f"echo 4 > /sys/bus/pci/devices/{chosen.function.address}/sriov_numvfs (at most sriov_totalvfs"
            " beside it); nfvbed does not take them away again",
        )
