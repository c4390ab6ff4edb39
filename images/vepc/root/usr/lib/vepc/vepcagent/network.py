"""NICs, addresses, namespaces and routes of a guest, by `ip`."""

import time
from pathlib import Path

from agent import ethtool
from agent.program import run, write
from agent.refusal import Refusal

from vepcagent.given import Given

_NET = Path("/sys/class/net")
_APPEAR_S = 60.0
_SYSCTL = "/proc/sys/net/ipv4"
_ROUTING = ("ip_forward=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0", "conf.all.send_redirects=0")


def devices(given: Given) -> dict[str, str]:
    """Return the NICs by their links, in the order of their PCI addresses, which is that of the cloud's ports.

    They leave no checksum out: not every data plane completes it, or tells the receiver (AF_XDP on a tap does neither),
    and what comes without is dropped in silence. GTP-U is UDP, so bearers would carry nothing, while S1AP (SCTP) works.

    Raises:
        Refusal: there are fewer than the user data names, or one goes on to leave checksums out.
    """
    deadline = time.monotonic() + _APPEAR_S
    while len(found := _cards()) < len(given.nics):
        if time.monotonic() > deadline:
            raise Refusal(f"the guest has {len(found)} NICs", observed=f"the user data names {', '.join(given.nics)}")
        time.sleep(0.5)
    for name in found:
        ethtool.switch(name, "tx", False)
    return dict(zip(given.nics, found, strict=False))


def _cards() -> list[str]:
    places = {str((one / "device").resolve()): one.name for one in _NET.iterdir() if (one / "device").exists()}
    return [places[place] for place in sorted(places)]


def allow_routing() -> None:
    """Let the guest's kernel pass packets on that come by any way."""
    for setting in _ROUTING:
        name, _, value = setting.partition("=")
        write(f"{_SYSCTL}/{name.replace('.', '/')}", value)


def ip(words: str) -> None:
    """Run `ip` with these words.

    Raises:
        Refusal: the kernel refuses.
    """
    run("ip", *words.split())


def address(device: str, where: str) -> None:
    """Give a device an address, and set it up."""
    ip(f"addr add {where} dev {device}")
    ip(f"link set {device} up")


def namespace(name: str) -> None:
    """Make a namespace in which packets are passed on."""
    ip(f"netns add {name}")
    ip(f"-n {name} link set lo up")
    for setting in _ROUTING:
        run("ip", "netns", "exec", name, "/bin/busybox", "sysctl", "-q", "-w", f"net.ipv4.{setting}")
