"""The programs that carry a mobile core's user plane between S1-U and SGi."""

from typing import Final, Literal

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind
from nfvbed.spec.pcrf import MOST_ATTACHED, NEXTEPC, STAND_IN, PcrfKind, most_attached

GatewayKind = Literal["nextepc", "xdp", "dpdk"]
"""`nextepc`: its serving and packet gateways, unmodified. `xdp`, `dpdk`: nfvbed's own, for kernel ports, and for
vhost-user and memif. Results through different ones are not of one scope."""
GATEWAYS: Final[dict[str, GatewayKind]] = {"nextepc": "nextepc", "xdp-gateway": "xdp", "dpdk-gateway": "dpdk"}
"""By the way of forwarding that names them. They take packets out of GTP-U and put them in: between S1-U and SGi alone.
"""
SOCKETS: Final = (PortKind.VHOST_USER, PortKind.MEMIF)
"""Ports that DPDK's drivers open, where no kernel is."""


def refused_bearers(forwarding: str, bearers: int | None, pcrf: PcrfKind | None = None) -> tuple[str, str]:
    """Return why a VNF cannot have so many bearers, and what to do; empty where it can, or none are asked for."""
    if bearers is None:
        return "", ""
    gateway = GATEWAYS.get(forwarding)
    if gateway is None:
        return f"forwarding: {forwarding} has no bearers", "leave bearers out, or name VNF vepc in topology vepc"
    most = most_attached(pcrf)
    if gateway == "nextepc" and bearers > most:
        with_other = f" ({MOST_ATTACHED[STAND_IN]} with pcrf: stand-in)" if most == MOST_ATTACHED[NEXTEPC] else ""
        return (
            f"bearers: {bearers}; nextepc's gateways carry those of attached UEs alone, at most {most}",
            f"at most {most}{with_other}; or forwarding xdp-gateway or dpdk-gateway, whose tables are written to",
        )
    return "", ""


def refused_pcrf(forwarding: str, pcrf: PcrfKind | None) -> tuple[str, str]:
    """Return why a VNF cannot have a PCRF, and what to do; empty where it can, or none is asked for."""
    if pcrf is None or forwarding in GATEWAYS:
        return "", ""
    return f"pcrf: {pcrf}; forwarding {forwarding} has no PCRF", "leave pcrf out, or name VNF vepc in topology vepc"


def require_ports(forwarding: str, kind: PortKind) -> None:
    """Make sure that a gateway supports its kind of ports; VNFs that do something else pass.

    Raises:
        UnsupportedError: it is not.
    """
    gateway = GATEWAYS.get(forwarding)
    if gateway == "dpdk" and kind not in SOCKETS:
        raise UnsupportedError(
            "the DPDK gateway takes vhost-user and memif ports",
            where=forwarding,
            observed=f"ports of kind {kind}",
            fix="forwarding xdp-gateway, which is for kernel ports; or variant ovs-dpdk",
        )
    if gateway == "xdp" and kind is not PortKind.VETH:
        raise UnsupportedError(
            "the XDP gateway takes veth ports, whose driver runs XDP programs",
            where=forwarding,
            observed=f"ports of kind {kind}",
            fix="forwarding nextepc; or dpdk-gateway on vhost-user and memif; or variant linux-bridge",
        )
