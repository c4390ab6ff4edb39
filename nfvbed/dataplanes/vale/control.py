"""vale-ctl(4): attaches ports to switches, detaches and lists them. nfvbed neither ships nor builds netmap."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from nfvbed.errors import DeployError, PrerequisiteError, UnsupportedError
from nfvbed.host.network.namespaces import inside

TOOL_VARIABLE = "NFVBED_VALE_CTL"
INSTALL = (
    "build netmap for this kernel (github.com/luigirizzo/netmap: cd LINUX; ./configure --enable-vale && make && make"
    " install), sign it where secure boot is on, and modprobe netmap (CONFIG_MODULES)"
)
DEVICE = Path("/dev/netmap")
_MOST_SWITCHES = Path("/sys/module/netmap/parameters/max_bridges")
_DEFAULT_SWITCHES = 8
"""What vale(4) says where the module does not."""
_TIMEOUT_S = 10.0
_PORT = re.compile(r"^(vale\w+:\S+) bridge_idx \d+ port_idx \d+$")


def locate() -> Path:
    """Find vale-ctl: only $NFVBED_VALE_CTL if it is set, else on the PATH; and netmap itself.

    Raises:
        UnsupportedError: the kernel has no netmap.
        PrerequisiteError: there is no vale-ctl.
    """
    if not DEVICE.exists():
        raise UnsupportedError("the kernel has no netmap", where=str(DEVICE), observed="no such device", fix=INSTALL)
    named = os.environ.get(TOOL_VARIABLE)
    path = named or shutil.which("vale-ctl")
    if path is None or not os.access(path, os.X_OK):
        observed = f"{TOOL_VARIABLE}={named} is no program" if named else "not on PATH"
        raise PrerequisiteError("netmap's vale-ctl is not there", where=TOOL_VARIABLE, observed=observed, fix=INSTALL)
    return Path(path)


def most_switches() -> int:
    """Return how many switches can exist at a time."""
    try:
        return int(_MOST_SWITCHES.read_text())
    except (OSError, ValueError):
        return _DEFAULT_SWITCHES


class ValeControl:
    """Calls vale-ctl in a network namespace: netmap looks an interface up by name in the caller's namespace.

    Args:
        netns: path of the ports' network namespace.
        tool: the program; None: it is looked for.
    """

    def __init__(self, netns: str, tool: Path | None = None) -> None:
        self._netns = netns
        self._tool = tool or locate()

    def attach(self, port: str) -> None:
        """Attach an interface (`valenfv0:s0`), which leaves the kernel's stack.

        Raises:
            DeployError: netmap refuses.
        """
        self._change("-a", port)

    def detach(self, port: str) -> None:
        """Detach an interface.

        Raises:
            DeployError: netmap refuses.
        """
        self._change("-d", port)

    def ports(self) -> tuple[str, ...]:
        """Return the ports of all switches.

        The tool's exit status for a list is always 1, so its standard error shows a failure.

        Raises:
            DeployError: netmap does not answer.
        """
        done = self._run(())
        if done.stderr:
            raise DeployError("netmap does not tell its ports", where=str(self._tool), observed=done.stderr.strip())
        return tuple(found[1] for found in map(_PORT.match, done.stdout.splitlines()) if found)

    def _change(self, option: str, port: str) -> None:
        done = self._run((option, port))
        if done.returncode:
            observed = done.stderr.strip() or f"exit status {done.returncode}"
            raise DeployError(f"vale-ctl {option} {port} failed", where=self._netns, observed=observed, fix=INSTALL)

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        def call() -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [str(self._tool), *arguments], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
            )

        try:
            return inside(self._netns, call)
        except subprocess.TimeoutExpired as failure:
            raise DeployError("vale-ctl does not end", where=self._netns, observed=str(failure)) from failure
