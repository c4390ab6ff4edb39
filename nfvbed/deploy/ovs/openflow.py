"""The few OpenFlow 1.4 messages that nfvbed needs, as bytes: rules, barrier, counters of rules and ports.

Version 1.4 (ONF TS-012) because its port counters carry properties, in which Open vSwitch gives the reasons of its
drops as they are now; the database shows the same numbers up to five seconds late.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from nfvbed.errors import DeployError

VERSION = 0x05
HEADER = struct.Struct("!BBHI")

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY = 0, 1, 2, 3
FLOW_MOD, MULTIPART_REQUEST, MULTIPART_REPLY, BARRIER_REQUEST, BARRIER_REPLY = 14, 18, 19, 20, 21

PORT_NORMAL = 0xFFFFFFFA
PORT_ANY = 0xFFFFFFFF
GROUP_ANY = 0xFFFFFFFF
NO_BUFFER = 0xFFFFFFFF
ALL_TABLES = 0xFF
DEFAULT_PRIORITY = 0x8000

MULTIPART_FLOW, MULTIPART_PORT_STATISTICS = 1, 4
MULTIPART_MORE = 0x0001

_FLOW_MOD = struct.Struct("!QQBBHHHIIIHH")
_MULTIPART = struct.Struct("!HH4x")
_MATCH = struct.Struct("!HH")
_MATCH_OXM = 1
_OXM_IN_PORT = struct.Struct("!II")
_OXM_IN_PORT_HEADER = 0x80000004
_APPLY_ACTIONS = struct.Struct("!HH4x")
_OUTPUT = struct.Struct("!HHIH6x")
_FLOW_REQUEST = struct.Struct("!B3xII4xQQ")
_FLOW_ENTRY = struct.Struct("!HBxIIHHHHH2xQQQ")
_PORT_ENTRY = struct.Struct("!H2xIIIQQQQQQQQ")
_PROPERTY = struct.Struct("!HH")
_EXPERIMENTER = struct.Struct("!HHII2xH")
_PROPERTY_EXPERIMENTER = 0xFFFF
_CUSTOM_STATISTICS = (0x0000AA01, 2)
"""Experimenter and type of the property with Open vSwitch's own counters (`intel_port_custom_stats`)."""


@dataclass(frozen=True)
class Rule:
    """One rule: frames that came in at a port, or all frames, go out at a port."""

    output: int
    in_port: int | None = None
    cookie: int = 0
    priority: int = DEFAULT_PRIORITY


@dataclass(frozen=True)
class RuleCounters:
    """Frames and bytes (without FCS) that a rule has matched."""

    cookie: int
    packets: int
    octets: int


@dataclass(frozen=True)
class PortCounters:
    """One port's counters, seen from the switch: rx came in. None where the port does not count that."""

    port: int
    rx_packets: int | None
    tx_packets: int | None
    rx_dropped: int | None
    tx_dropped: int | None
    rx_errors: int | None
    tx_errors: int | None
    reasons: dict[str, int] = field(default_factory=dict)
    """Open vSwitch's own counters by name (`ovs_tx_failure_drops`, ...)."""


@dataclass(frozen=True)
class Message:
    """One message as it came."""

    type: int
    xid: int
    body: bytes


def message(kind: int, xid: int, body: bytes = b"") -> bytes:
    """Put the header before a body."""
    return HEADER.pack(VERSION, kind, HEADER.size + len(body), xid) + body


def add_rule(rule: Rule) -> bytes:
    """Give the body of a FLOW_MOD that adds a rule to table 0 (section 7.3.4.1)."""
    action = _OUTPUT.pack(0, _OUTPUT.size, rule.output, 0)
    instruction = _APPLY_ACTIONS.pack(4, _APPLY_ACTIONS.size + len(action)) + action
    head = _FLOW_MOD.pack(rule.cookie, 0, 0, 0, 0, 0, rule.priority, NO_BUFFER, PORT_ANY, GROUP_ANY, 0, 0)
    return head + _match(rule.in_port) + instruction


def flow_request() -> bytes:
    """Give the body of a MULTIPART_REQUEST for the counters of all rules."""
    entry = _FLOW_REQUEST.pack(ALL_TABLES, PORT_ANY, GROUP_ANY, 0, 0) + _match(None)
    return _MULTIPART.pack(MULTIPART_FLOW, 0) + entry


def port_request() -> bytes:
    """Give the body of a MULTIPART_REQUEST for the counters of all ports."""
    return _MULTIPART.pack(MULTIPART_PORT_STATISTICS, 0) + struct.pack("!I4x", PORT_ANY)


def more_follows(body: bytes) -> bool:
    """Say whether a multipart reply is continued in another one."""
    flags: int = _MULTIPART.unpack_from(body)[1]
    return bool(flags & MULTIPART_MORE)


def parse_rules(body: bytes) -> list[RuleCounters]:
    """Read one multipart reply with rules."""
    return [
        RuleCounters(cookie=values[9], packets=values[10], octets=values[11])
        for values in (_FLOW_ENTRY.unpack_from(entry) for entry in _entries(body, _FLOW_ENTRY.size))
    ]


def parse_ports(body: bytes) -> list[PortCounters]:
    """Read one multipart reply with ports."""
    return [_port(entry) for entry in _entries(body, _PORT_ENTRY.size)]


def error_text(body: bytes) -> str:
    """Describe an ERROR message by its numbers (section 7.5.4)."""
    kind, code = struct.unpack_from("!HH", body)
    return f"OpenFlow error type {kind} code {code}"


def _match(in_port: int | None) -> bytes:
    """Encode a match, padded to eight bytes; its length field does not count the padding."""
    fields = b"" if in_port is None else _OXM_IN_PORT.pack(_OXM_IN_PORT_HEADER, in_port)
    length = _MATCH.size + len(fields)
    return (_MATCH.pack(_MATCH_OXM, length) + fields).ljust((length + 7) // 8 * 8, b"\0")


def _entries(body: bytes, smallest: int) -> Iterator[bytes]:
    """Cut a multipart reply into its entries, each of which begins with its length."""
    offset = _MULTIPART.size
    while offset < len(body):
        length = int.from_bytes(body[offset : offset + 2], "big")
        if length < smallest or offset + length > len(body):
            observed = f"an entry of {length} bytes at {offset} of {len(body)}"
            raise DeployError("an OpenFlow reply is damaged", observed=observed)
        yield body[offset : offset + length]
        offset += length


def _port(entry: bytes) -> PortCounters:
    values = _PORT_ENTRY.unpack_from(entry)
    counts = [None if value == 2**64 - 1 else value for value in values[4:]]
    return PortCounters(
        port=values[1],
        rx_packets=counts[0],
        tx_packets=counts[1],
        rx_dropped=counts[4],
        tx_dropped=counts[5],
        rx_errors=counts[6],
        tx_errors=counts[7],
        reasons=_custom_statistics(entry[_PORT_ENTRY.size :]),
    )


def _custom_statistics(properties: bytes) -> dict[str, int]:
    """Find Open vSwitch's own counters among a port's properties."""
    offset = 0
    while offset + _PROPERTY.size <= len(properties):
        kind, length = _PROPERTY.unpack_from(properties, offset)
        if length < _PROPERTY.size:
            break
        if kind == _PROPERTY_EXPERIMENTER and length >= _EXPERIMENTER.size:
            _, _, experimenter, subtype, count = _EXPERIMENTER.unpack_from(properties, offset)
            if (experimenter, subtype) == _CUSTOM_STATISTICS:
                return _named_values(properties[offset + _EXPERIMENTER.size : offset + length], count)
        offset += (length + 7) // 8 * 8
    return {}


def _named_values(data: bytes, count: int) -> dict[str, int]:
    """Read (length u8, name, value u64) tuples that follow each other without padding."""
    values: dict[str, int] = {}
    offset = 0
    for _ in range(count):
        start = offset + 1
        end = start + data[offset]
        values[data[start:end].decode("ascii")] = int.from_bytes(data[end : end + 8], "big")
        offset = end + 8
    return values
