"""Which program carries a mobile core's user plane between S1-U and SGi."""

from typing import Literal

GatewayKind = Literal["nextepc", "xdp", "dpdk"]
"""`nextepc`: its serving and packet gateways, unmodified. `xdp`, `dpdk`: nfvbed's own, for kernel ports, and for
vhost-user and memif. Results through different ones are not of one scope."""
