"""Rules of a large installation's other ports, networks and addresses, which carry no traffic.

They lie in the path's tables, above its rules, and match many fields, so that the path's frames must be compared with
them. The switch's cache entry (the megaflow) must then distinguish every field that one of them matches. Pure and
without chance: the same number gives the same rules.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nfvbed.dataplanes.ovs.overlay.hostplan import TUNNEL_PORT
from nfvbed.dataplanes.ovs.overlay.pipeline import DEFAULT, Table
from nfvbed.dataplanes.ovs.tablerules import Field, TableRule

ADDRESSES = 0xAC100000
"""172.16.0.0/12: the addresses of these tenants. Frames of a path that have some may meet a rule that drops them."""
_SPAN = 1 << 20
_MACS = 0x024E47000000
_ABSENT_PORT = 2000
"""OpenFlow number of the first port that is not there."""
_NETWORK = 0x10000
_FIRST_SERVICE = 20_000
"""UDP and TCP port of the first service; the generator's frames go to another one."""
_STEP = 7919
"""A prime: destinations are not sources in the same order."""
_SHADES = 50
"""Priorities in turn."""
_IPV4, _TCP, _UDP = Field("eth_type", 0x0800), Field("ip_proto", 6), Field("ip_proto", 17)


@dataclass(frozen=True)
class Shape:
    """Rules of one table that match the same fields with the same masks."""

    table: Table
    most: int
    """So many different ones are there."""
    match: Callable[[int], tuple[Field, ...]]
    goto: Table | None = None
    """None: what matches is dropped."""


def _source(number: int, bits: int = 32) -> Field:
    return _address("ipv4_src", number, bits)


def _destination(number: int, bits: int = 32) -> Field:
    return _address("ipv4_dst", number, bits)


def _address(name: str, number: int, bits: int) -> Field:
    mask = None if bits == 32 else (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF
    return Field(name, ADDRESSES | (number << (32 - bits)) % _SPAN, mask)


def _service(name: str, number: int) -> Field:
    return Field(name, _FIRST_SERVICE + number % 20_000)


def _firewall(table: Table) -> tuple[Shape, ...]:
    """Return the firewall's shapes: from exact connections to whole networks and single services."""
    return (
        Shape(
            table,
            _SPAN,
            lambda n: (_IPV4, _TCP, _source(n), _destination(n * _STEP % _SPAN), _service("tcp_dst", n)),
        ),
        Shape(
            table,
            _SPAN,
            lambda n: (_IPV4, _UDP, _source(n), _destination(n * _STEP % _SPAN), _service("udp_dst", n)),
        ),
        Shape(table, _SPAN, lambda n: (_IPV4, _source(n), _destination(n * _STEP % _SPAN))),
        Shape(table, _SPAN, lambda n: (_IPV4, _TCP, _destination(n), _service("tcp_dst", n))),
        Shape(table, 4096, lambda n: (_IPV4, _source(n, 24), _destination(n * _STEP % 4096, 24))),
        Shape(table, 4096, lambda n: (_IPV4, _UDP, _destination(n, 24), _service("udp_dst", n))),
        Shape(table, 16, lambda n: (_IPV4, _source(n, 16))),
        Shape(table, 1000, lambda n: (_IPV4, _TCP, _service("tcp_dst", n))),
        Shape(table, 1000, lambda n: (_IPV4, _UDP, _service("udp_dst", n))),
    )


SHAPES: tuple[Shape, ...] = (
    Shape(
        Table.ORIGIN,
        _SPAN,
        lambda n: (Field("in_port", TUNNEL_PORT), Field("tunnel_id", _NETWORK + n)),
        Table.TRACK_IN,
    ),
    Shape(Table.ORIGIN, 4000, lambda n: (Field("in_port", _ABSENT_PORT + n),), Table.PORT_GUARD),
    Shape(
        Table.PORT_GUARD,
        _SPAN,
        lambda n: (Field("in_port", _ABSENT_PORT + n % 4000), Field("eth_src", _MACS + n), _IPV4, _source(n)),
        Table.TRACK_OUT,
    ),
    Shape(Table.PORT_GUARD, _SPAN, lambda n: (Field("eth_src", _MACS + n),)),
    *_firewall(Table.FIREWALL_OUT),
    Shape(Table.ROUTE, _SPAN, lambda n: (Field("eth_dst", _MACS + n),)),
    Shape(Table.ROUTE, _SPAN, lambda n: (_IPV4, _destination(n))),
    Shape(Table.ROUTE, 4096, lambda n: (_IPV4, _destination(n, 24))),
    *_firewall(Table.FIREWALL_IN),
    Shape(Table.DELIVER, _SPAN, lambda n: (Field("reg0", _ABSENT_PORT + n),)),
)


def tenant_rules(count: int) -> Iterator[TableRule]:
    """Return as many rules as are asked for, from all shapes in turn, no two alike."""
    return itertools.islice(_all(), count)


def _all() -> Iterator[TableRule]:
    number = 0
    while True:
        for shape in SHAPES:
            if number < shape.most:
                yield TableRule(shape.table, DEFAULT + 100 + number % _SHADES, shape.match(number), goto=shape.goto)
        number += 1
