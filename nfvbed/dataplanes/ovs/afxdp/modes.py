"""In which mode the kernel hands frames to the AF_XDP sockets of an Open vSwitch: `dpctl/show` alone tells it."""

import re
from collections.abc import Iterable
from pathlib import Path

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.dataplanes.ovs.afxdp.options import OvsAfxdpOptions
from nfvbed.errors import DeployError

_PORT = re.compile(r"^\s+port \d+: (?P<name>\S+) \(afxdp(?:-nonpmd)?: .*xdp-mode-in-use=(?P<mode>[\w-]+)", re.MULTILINE)


def parse(text: str) -> dict[str, str]:
    """Return the mode of each such port, by its name, from what `dpctl/show` prints."""
    return {match["name"]: match["mode"] for match in _PORT.finditer(text)}


def check(control: Path, names: Iterable[str], options: OvsAfxdpOptions) -> None:
    """Make sure that ports are AF_XDP sockets, in the mode that is asked for; `best-effort` takes any.

    Args:
        control: socket of ovs-vswitchd.
        names: of the ports.
        options: of the variant.

    Raises:
        DeployError: one is none, or is in another mode.
    """
    found = parse(unixctl.command(control, "dpctl/show"))
    for name in names:
        mode = found.get(name)
        if mode is None or options.xdp_mode not in ("best-effort", mode):
            raise DeployError(
                f"port {name} is not in mode {options.xdp_mode}",
                where=f"xdp_mode: {options.xdp_mode}",
                observed=f"xdp-mode-in-use={mode}" if mode else "it is no AF_XDP socket",
                fix="xdp_mode: best-effort; the switch's log has the reason",
            )
