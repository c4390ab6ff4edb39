"""What data planes on veth ports share: addresses, silence, offloads, counters and hops."""

import time

from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.host.network import links
from nfvbed.host.network.links import LinkCounters
from nfvbed.host.network.namespaces import inside
from nfvbed.patience import patient
from nfvbed.records import CounterSource, GeneratorPort, Hop, HopKind, PortKind
from nfvbed.spec.layout import End

_UP_WAIT_S = patient(5.0)

GENERATOR_LINKS = ("g0", "g1")
SWITCH_LINKS = ("s0", "s1")

MACS = {
    "g0": "02:4e:46:56:00:00",
    "g1": "02:4e:46:56:00:01",
    "s0": "02:4e:46:56:01:00",
    "s1": "02:4e:46:56:01:01",
}
"""Fixed, so that two deployments differ in nothing that is hashed; locally administered."""


def generator_ports(netns: str) -> tuple[GeneratorPort, GeneratorPort]:
    """Return the generator's two ports."""
    first, second = (
        GeneratorPort(engine="xdp", spec=name, kind=PortKind.VETH, netns=netns) for name in GENERATOR_LINKS
    )
    return first, second


def prepare(netns: str, names: tuple[str, ...], offloads: bool = True) -> None:
    """Silence links, set them up, and set their offloads.

    GRO is on whatever the offloads: a veth accepts frames redirected by XDP only with GRO or with an XDP program. GRO
    does not merge our UDP frames (that would take rx-udp-gro-forwarding).
    """
    features = {links.GRO: True} | ({} if offloads else dict.fromkeys(links.TRANSMIT_OFFLOADS, False))

    def work() -> None:
        links.silence_ipv6()
        links.silence_ipv6(names)
        links.set_up(names)
        # In this order: only a link that is up tells its peer, with its GRO, that frames may be redirected to it.
        for name in names:
            links.set_features(name, features)

    inside(netns, work)


def wait_until_up(netns: str, names: tuple[str, ...]) -> None:
    """Wait until links have a carrier (a bridge: a port that forwards).

    Raises:
        DeployError: they get none.
    """
    deadline = time.monotonic() + _UP_WAIT_S
    while down := [name for name, counted in read(netns, names).items() if not counted.up]:
        if time.monotonic() > deadline:
            raise DeployError("links do not come up", where=str(down), observed=f"down after {_UP_WAIT_S:g} s")
        time.sleep(0.01)


def read(netns: str, names: tuple[str, ...]) -> dict[str, LinkCounters]:
    """Read the counters of links.

    Raises:
        SwitchDiedError: a link or the whole namespace is gone.
    """
    try:
        found = inside(netns, links.all_counters)
    except OSError as failure:
        raise _gone(netns, str(failure)) from failure
    missing = [name for name in names if name not in found]
    if missing:
        raise _gone(netns, f"links {missing} are gone")
    return {name: found[name] for name in names}


def _gone(netns: str, observed: str) -> SwitchDiedError:
    return SwitchDiedError(
        "the links under test are gone", where=netns, observed=observed, fix="see who removed them; deploy again"
    )


def hop(name: str, counted: LinkCounters, kind: HopKind, end: End | None = None) -> Hop:
    """Return a link's counters as a hop."""
    return Hop(
        name=name,
        kind=kind,
        vnf=None if end is None else end.vnf,
        port=None if end is None else end.port,
        rx_packets=counted.rx_packets,
        tx_packets=counted.tx_packets,
        drops=counted.drops,
        counted_by=CounterSource.LINUX,
    )


def generator_hop(name: str, port: int, counted: LinkCounters) -> Hop:
    """Return the generator's link with this number as a hop."""
    return hop(f"generator port {port} ({name})", counted, HopKind.GENERATOR_PORT, End(None, port))
