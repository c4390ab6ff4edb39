"""In which mode the kernel hands frames to the AF_XDP sockets of an Open vSwitch.

Up to 3.2 `dpctl/show` tells it (`xdp-mode-in-use`), from 3.3 on the interface's status (`xdp-mode`). Source:
`lib/netdev-afxdp.c` of Open vSwitch; read as 3.1, 3.5 and 4.0 write it.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.afxdpoptions import AfxdpDatapathOptions
from nfvbed.errors import DeployError
from nfvbed.patience import patient

STATUS = "xdp-mode"
_SHOWN = "xdp-mode-in-use"
_PORT = re.compile(r"^\s+port \d+: (?P<name>\S+) \(afxdp(?:-nonpmd)?: (?P<settings>.*)\)$", re.MULTILINE)
_IN_USE = re.compile(rf"\b{_SHOWN}=(?P<mode>[\w-]+)")
_PATIENCE_S = patient(5.0)
"""A switch writes an interface's status some time after it has opened it."""
_LOOK_S = 0.05

Statuses = Callable[[], Mapping[str, Mapping[str, str]]]
"""Reads the status of the switch's interfaces, by name."""


def parse(text: str) -> dict[str, str | None]:
    """Return the AF_XDP ports that `dpctl/show` prints, and the mode of each; None: it is not said there."""
    found = {match["name"]: _IN_USE.search(match["settings"]) for match in _PORT.finditer(text)}
    return {name: match["mode"] if match else None for name, match in found.items()}


def read(control: Path, statuses: Statuses, names: Iterable[str]) -> dict[str, str | None]:
    """Return those of the named ports that are AF_XDP sockets, with the mode of each; None: not said in time.

    Args:
        control: the control socket of ovs-vswitchd.
        statuses: read the status of its interfaces, by name.
    """
    shown = parse(unixctl.command(control, "dpctl/show"))
    found = {name: shown[name] for name in names if name in shown}
    deadline = time.monotonic() + _PATIENCE_S
    while None in found.values() and time.monotonic() < deadline:
        told = statuses()
        found |= {name: told.get(name, {}).get(STATUS) for name, mode in found.items() if mode is None}
        if None in found.values():
            time.sleep(_LOOK_S)
    return found


def check(control: Path, statuses: Statuses, names: Iterable[str], options: AfxdpDatapathOptions) -> None:
    """Check that ports are AF_XDP sockets in the mode that is asked for; `best-effort` takes any mode.

    Args:
        control: the control socket of ovs-vswitchd.
        statuses: read the status of its interfaces, by name.

    Raises:
        DeployError: a port is no AF_XDP socket, or is in another mode.
    """
    wanted = tuple(names)
    found = read(control, statuses, wanted)
    for name in wanted:
        mode = found.get(name)
        if mode is None or options.xdp_mode not in ("best-effort", mode):
            raise DeployError(
                f"port {name} is not in mode {options.xdp_mode}",
                where=f"xdp_mode: {options.xdp_mode}",
                observed=_observed(name, found),
                fix="xdp_mode: best-effort; the switch's log has the reason",
            )


def _observed(name: str, found: Mapping[str, str | None]) -> str:
    if name not in found:
        return "it is no AF_XDP socket"
    mode = found[name]
    return f"it is in mode {mode}" if mode else f"the switch says its mode neither as {_SHOWN} nor as {STATUS}"
