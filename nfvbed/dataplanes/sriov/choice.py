"""Which port of which NIC a variant's options mean, and which of them a ConnectX-3 does not support.

A ConnectX-3 (mlx4_core) has its functions from the moment its driver is loaded, by the options `num_vfs`,
`port_type_array` and `probe_vf`. Both of its ports are at one PCI address, and its driver does not know trust. Later
ones (mlx5_core) are configured as others are.
Source: mlx4_core's and mlx5_core's own descriptions of options (modinfo).
"""

from collections.abc import Iterable
from pathlib import Path

from nfvbed.dataplanes.sriov.options import SriovOptions
from nfvbed.errors import UnsupportedError
from nfvbed.host.nics.pf import NO_NIC_FIX, SYSFS, PfPort, PhysicalFunction
from nfvbed.records import Record

_CONNECTX3_DRIVER = "mlx4_core"
MODULE_FILE = Path("/etc/modprobe.d/nfvbed-mlx4.conf")


def choose(options: SriovOptions, functions: Iterable[PhysicalFunction]) -> PfPort:
    """Choose the port that a variant names, or the only one there is.

    Raises:
        UnsupportedError: there is none, or more than one fits.
    """
    known = tuple(functions)
    if not known:
        raise UnsupportedError(
            "no NIC here can have virtual functions",
            where="/sys/bus/pci/devices",
            observed="no network device with sriov_totalvfs above 0",
            fix=NO_NIC_FIX,
        )
    pairs = [PfPort(function=function, port=port) for function in known for port in function.ports]
    fitting = [pair for pair in pairs if _fits(options, pair)]
    if len(fitting) == 1:
        return fitting[0]
    there = ", ".join(f"{p.function.address} {p.port.name} {p.port.mac}" for p in pairs)
    there = there or ", ".join(f"{f.address} ({f.driver or 'no driver'}) without a network device" for f in known)
    raise UnsupportedError(
        "several ports fit the variant" if fitting else "no port fits the variant",
        where=_asked(options),
        observed=there,
        fix="name one of these: pf_address, pf_interface or pf_mac among the options of the variant's file,"
        " or of an experiment's `altered` variant",
    )


def _fits(options: SriovOptions, pair: PfPort) -> bool:
    asked = (options.pf_address, options.pf_interface, options.pf_mac)
    has = (pair.function.address, pair.port.name, pair.port.mac)
    return all(one is None or one == other for one, other in zip(asked, has, strict=True))


def _asked(options: SriovOptions) -> str:
    named = {"pf_address": options.pf_address, "pf_interface": options.pf_interface, "pf_mac": options.pf_mac}
    return (
        ", ".join(f"{key}: {value}" for key, value in named.items() if value) or "no pf_address, pf_interface, pf_mac"
    )


class Mlx4Options(Record):
    """The options that mlx4_core was loaded with; empty: not given, or not readable."""

    num_vfs: str = ""
    port_type_array: str = ""
    probe_vf: str = ""


def is_connectx3(function: PhysicalFunction) -> bool:
    """Return whether its functions come from module options."""
    return function.driver == _CONNECTX3_DRIVER


def read_module_options(sysfs: Path = SYSFS) -> Mlx4Options:
    """Return the options that the loaded driver shows."""
    folder = sysfs / "module" / _CONNECTX3_DRIVER / "parameters"
    values = {key: (folder / key) for key in Mlx4Options.model_fields}
    return Mlx4Options(**{key: path.read_text().strip() for key, path in values.items() if path.exists()})


def module_file(functions: int, ports: int) -> str:
    """Return a file for /etc/modprobe.d that makes this number of functions on all ports, both of type Ethernet.

    `num_vfs=a,b,c` is functions on port 1 alone, on port 2 alone, on both; a NIC with one port takes one number.
    """
    numbers = f"{functions}" if ports < 2 else f"0,0,{functions}"
    return f"options mlx4_core num_vfs={numbers} port_type_array={','.join(['2'] * max(ports, 1))} probe_vf={numbers}\n"


def check(options: SriovOptions, chosen: PfPort, needed: int, sysfs: Path = SYSFS) -> None:
    """Refuse what a ConnectX-3 cannot do, or cannot do before its driver is loaded again.

    Raises:
        UnsupportedError: with the exact content of the file that fixes it, where one does.
    """
    function = chosen.function
    if not is_connectx3(function):
        return
    asked = [options.settings, *options.ports.values()]
    if any(one.trust is not None for one in asked):
        raise UnsupportedError(
            "a ConnectX-3 has no trust of virtual functions",
            where=f"{function.address} ({_CONNECTX3_DRIVER})",
            observed="its driver has no such setting (ndo_set_vf_trust)",
            fix="leave trust out of the variant's settings",
        )
    if options.embedded_switch == "switchdev":
        raise UnsupportedError(
            "a ConnectX-3 has no representors", where=function.address, fix="embedded_switch: legacy"
        )
    if function.num_vfs < needed:
        raise UnsupportedError(
            f"a ConnectX-3 has its virtual functions from its driver's options, and {needed} are needed",
            where=f"{function.address}, module {_CONNECTX3_DRIVER}",
            observed=f"{function.num_vfs} functions; loaded with {_shown(read_module_options(sysfs))}",
            fix=f"write into {MODULE_FILE}: {module_file(needed, len(function.ports)).strip()}; then restart "
            "the machine, or load the driver again, not over SSH by one of its ports: all ports of all"
            " ConnectX-3 of this host go down, and functions that guests have are gone (modprobe -r mlx4_en mlx4_ib"
            " mlx4_core; modprobe mlx4_core)",
        )


def _shown(options: Mlx4Options) -> str:
    given = {key: value for key, value in options.model_dump().items() if value}
    return ", ".join(f"{key}={value}" for key, value in given.items()) or "none of num_vfs, port_type_array, probe_vf"
