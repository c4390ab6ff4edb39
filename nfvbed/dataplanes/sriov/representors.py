"""Switchdev mode: representors of virtual functions, joined by a bridge for each cable that the NIC takes over."""

import re
from pathlib import Path

from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger.entries import EswitchEntry, LinkEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.network import devlink, links
from nfvbed.host.nics.pf import SYSFS, PfPort

_PORT_NAME = re.compile(r"(?:c\d+)?(?:pf\d+)?(?:vf)?(\d+)")
"""phys_port_name of a representor: pf0vf3; vf3 or 3 in older kernels."""
BRIDGE = "nfvbed-cable{}"
_OPTIONS = {"br_stp_state": 0, "br_forward_delay": 0, "br_mcast_snooping": 0}


def check_mode(chosen: PfPort, wanted: str) -> None:
    """Refuse a mode that the NIC cannot have.

    Raises:
        UnsupportedError: with what its driver says.
    """
    now = devlink.mode(chosen.function.address)
    if wanted == "switchdev" and now is None:
        raise UnsupportedError(
            "the NIC has no embedded switch with representors",
            where=f"pci/{chosen.function.address}",
            observed=f"driver {chosen.function.driver} tells no mode over devlink",
            fix="embedded_switch: legacy; switchdev takes a ConnectX-4 Lx or later (mlx5) or an E810 (ice)",
        )
    if wanted == "legacy" and now == "switchdev":
        raise UnsupportedError(
            "the embedded switch is in switchdev mode: functions only reach their representors",
            where=f"pci/{chosen.function.address}",
            observed="devlink eswitch mode switchdev",
            fix="embedded_switch: switchdev in the variant; or, if nothing uses its representors and functions,"
            f" which go: devlink dev eswitch set pci/{chosen.function.address} mode legacy",
        )


def enter_mode(chosen: PfPort, wanted: str, ledger: Ledger) -> None:
    """Set the mode of the switch; the ledger has the former one."""
    check_mode(chosen, wanted)
    address, now = chosen.function.address, devlink.mode(chosen.function.address)
    if now is not None and now != wanted:
        ledger.record(EswitchEntry(address=address, previous=now))
        devlink.set_mode(address, wanted)


def find(interface: str, sysfs: Path = SYSFS) -> dict[int, str]:
    """Return the representors of a physical function's virtual ones, by index.

    They have the switch id of the physical function's device, and a port name with the index.
    """
    folder = sysfs / "class/net"
    own = _text(folder / interface / "phys_switch_id")
    found: dict[int, str] = {}
    for path in sorted(folder.iterdir()):
        match = _PORT_NAME.fullmatch(_text(path / "phys_port_name"))
        if path.name != interface and own and _text(path / "phys_switch_id") == own and match:
            found[int(match[1])] = path.name
    return found


def join(interface: str, cables: list[tuple[int, int]], ledger: Ledger, sysfs: Path = SYSFS) -> tuple[str, ...]:
    """Make a bridge for each cable between the representors of two functions, given by index.

    Raises:
        DeployError: a function has no representor.
    """
    known = find(interface, sysfs)
    bridges = []
    for number, ends in enumerate(cables):
        missing = [index for index in ends if index not in known]
        if missing:
            raise DeployError(
                "virtual functions have no representors", where=interface, observed=f"indices {missing} of {known}"
            )
        name, ports = BRIDGE.format(number), [known[index] for index in ends]
        ledger.record(LinkEntry(name=name))
        links.set_up(ports)
        links.add_bridge(name, ports, _OPTIONS, learning=True)
        bridges.append(name)
    return tuple(bridges)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
