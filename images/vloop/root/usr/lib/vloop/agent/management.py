"""The management port, beyond the two of the path: it gets an address by DHCP."""

from agent.ports import Port, wait_up
from agent.program import run, write
from agent.refusal import Refusal

_SCRIPT = "/usr/lib/vloop/lease"
_ASKED = "20"
"""How often an address is asked for."""
_APART_S = "3"


def manage(ports: list[Port]) -> None:
    """Have the kernel take the port's address, and answer on this port alone.

    Args:
        ports: those beyond the path's.

    Raises:
        Refusal: there is not one port, or nobody has an address for it.
    """
    if len(ports) != 1:
        raise Refusal("management needs one port beyond the two of the path", observed=f"{len(ports)}")
    name = ports[0].name
    write("/proc/sys/net/ipv4/conf/all/arp_ignore", "1")
    run("ip", "link", "set", name, "up")
    wait_up(name)
    try:
        # It ends with the lease: an address is the port's as long as there is the port.
        run("busybox", "udhcpc", "-i", name, "-s", _SCRIPT, "-t", _ASKED, "-T", _APART_S, "-n", "-q", "-f")
    except Refusal as refusal:
        raise Refusal(
            "the management port has got no address by DHCP", where=name, observed=refusal.document["observed"]
        ) from refusal
