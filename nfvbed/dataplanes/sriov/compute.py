"""How a compute with virtual functions is configured, and why this machine has none.

The files are rendered from the NICs that a machine has, and checked. nfvbed does not yet start a node with such NICs,
so a devcloud does not support the variant, and says why.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.cloud.devcloud.services.computes import DATA
from nfvbed.cloud.devcloud.services.service import File, Mechanism
from nfvbed.cloud.devcloud.services.settings import CloudSettings
from nfvbed.dataplanes.sriov import choice
from nfvbed.dataplanes.sriov.options import SriovOptions
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.host.nics import pf
from nfvbed.host.nics.pf import SYSFS, PfPort
from nfvbed.spec.variant import Variant, options_of

MECHANISM = Mechanism("sriovnicswitch")
"""By which Neutron would bind ports there."""
FILES = (
    # Nova's, beside those that each compute has.
    File("/etc/nova/nova-pci.conf", "nova-pci.conf.j2", "root:nova", package=__package__),
    # Those of Neutron's agent.
    File("/etc/neutron/neutron.conf", "neutron-of-agent.conf.j2", "root:neutron"),
    File("/etc/neutron/plugins/ml2/sriov_agent.ini", "sriov_agent.ini.j2", "root:neutron", package=__package__),
)


@dataclass(frozen=True)
class PhysicalNic:
    """A port of a NIC, whose virtual functions are given to instances."""

    network: str
    """Neutron's name of the physical network that it leads to."""
    interface: str
    """Its network device."""
    vendor: int
    product: int
    """PCI ids of its virtual functions."""

    @property
    def mapping(self) -> str:
        """The mapping as Neutron's SR-IOV agent reads it."""
        return f"{self.network}:{self.interface}"

    @property
    def device_spec(self) -> str:
        """The device specification of Nova's compute service: functions it may give away, and their network."""
        return json.dumps({"devname": self.interface, "physical_network": self.network})

    @property
    def alias(self) -> str:
        """The alias of Nova's API: a name by which flavors can ask for such functions."""
        ids = {"vendor_id": f"{self.vendor:04x}", "product_id": f"{self.product:04x}"}
        return json.dumps({"name": f"vf-{self.vendor:04x}-{self.product:04x}", "device_type": "type-VF", **ids})


def no_compute(variant: Variant, sysfs: Path = SYSFS) -> UnsupportedError:
    """Return why there is no compute with virtual functions: what this machine, or a devcloud, lacks."""
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
        ports: ports of physical functions, in the order of the path.
        product: PCI id of their virtual functions.

    Raises:
        ConfigurationError: the ports are not those of two NICs.
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


def configuration(settings: CloudSettings, given: Sequence[PhysicalNic]) -> dict[str, str]:
    """Return the files that only a node with such NICs has, by path.

    Args:
        given: NICs whose functions instances get.

    Raises:
        ConfigurationError: there are none.
    """
    if not given:
        raise ConfigurationError("a compute with virtual functions has no NIC", where=settings.host, fix="name two")
    aliases = tuple(dict.fromkeys(nic.alias for nic in given))
    return {file.path: settings.render(file, nics=given, aliases=aliases) for file in FILES}


def _require_functions(chosen: PfPort) -> None:
    if chosen.function.num_vfs == 0:
        raise UnsupportedError(
            f"{chosen.port.name} has no virtual functions",
            where=chosen.function.address,
            observed="sriov_numvfs is 0",
            fix=f"echo 4 > /sys/bus/pci/devices/{chosen.function.address}/sriov_numvfs (at most sriov_totalvfs"
            " beside it); nfvbed does not take them away again",
        )
