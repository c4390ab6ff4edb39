"""The few OpenFlow 1.4 messages that nfvbed needs, as bytes: rules, barrier, counters of rules and ports.

Version 1.4 (ONF TS-012), because its port counters carry properties: in them Open vSwitch gives the present reasons of
its drops. The database shows the same numbers up to five seconds late.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from nfvbed.errors import DeployError

VERSION = 0x05
HEADER = struct.Struct("!BBHI")

HELLO, ERROR, ECHO_REQUEST, ECHO_REPLY = 0, 1, 2, 3
FEATURES_REQUEST, FEATURES_REPLY = 5, 6
FLOW_MOD, MULTIPART_REQUEST, MULTIPART_REPLY, BARRIER_REQUEST, BARRIER_REPLY = 14, 18, 19, 20, 21

PORT_NORMAL = 0xFFFFFFFA
PORT_ANY = 0xFFFFFFFF
GROUP_ANY = 0xFFFFFFFF
NO_BUFFER = 0xFFFFFFFF
ALL_TABLES = 0xFF
DEFAULT_PRIORITY = 0x8000

MULTIPART_FLOW, MULTIPART_AGGREGATE, MULTIPART_PORT_STATISTICS, MULTIPART_PORT_DESCRIPTION = 1, 2, 4, 13
MULTIPART_MORE = 0x0001

Match = frozenset[tuple[int, str]]
"""A rule's match: of each field its OXM header without the length (class, field, whether masked) and its bytes as hex.

A set, as a switch gives the fields back in its own order.
"""

_FLOW_MOD = struct.Struct("!QQBBHHHIIIHH")
_MULTIPART = struct.Struct("!HH4x")
_MATCH = struct.Struct("!HH")
_MATCH_OXM = 1
_OXM_HEADER = struct.Struct("!HBB")
_OXM_BASIC = 0x8000
_OXM_IN_PORT, _OXM_ETH_TYPE, _OXM_IP_PROTO, _OXM_IPV4_SRC, _OXM_UDP_SRC = 0, 5, 10, 11, 15
_WHOLE_PORT = 0xFFFF
_ETH_TYPES = {4: 0x0800, 6: 0x86DD}
_IP_PROTO_UDP = 17
_INSTRUCTION_APPLY = 4
_ACTION_OUTPUT, _ACTION_PUSH_VLAN = 0, 17
_DELETE = 3
_APPLY_ACTIONS = struct.Struct("!HH4x")
_OUTPUT = struct.Struct("!HHIH6x")
_PUSH_VLAN = struct.Struct("!HHH2x").pack(_ACTION_PUSH_VLAN, 8, 0x8100)
"""Puts an 802.1Q tag of VLAN 0 on a frame (section 7.2.4.6)."""
_FLOW_REQUEST = struct.Struct("!B3xII4xQQ")
_AGGREGATE = struct.Struct("!QQI4x")
_FLOW_ENTRY = struct.Struct("!HBxIIHHHHH2xQQQ")
_PORT_ENTRY = struct.Struct("!H2xIIIQQQQQQQQ")
_PORT_DESCRIPTION = struct.Struct("!IH2x6s2x16sII")
_LENGTH_OF_DESCRIPTION = 4
_LINK_DOWN = 1
_PROPERTY = struct.Struct("!HH")
_EXPERIMENTER = struct.Struct("!HHII2xH")
_PROPERTY_EXPERIMENTER = 0xFFFF
_CUSTOM_STATISTICS = (0x0000AA01, 2)
"""Experimenter and type of the property with Open vSwitch's own counters (`intel_port_custom_stats`)."""


@dataclass(frozen=True)
class UdpSource:
    """UDP over one version of IP, whose source port matches certain bits: `port & mask == value`.

    OpenFlow 1.4 itself has no mask for it; Open vSwitch takes one (ovs-fields(7), `udp_src`: bitwise maskable).
    """

    ip_version: int
    """4 or 6."""
    value: int
    mask: int


@dataclass(frozen=True)
class Rule:
    """One rule: frames that came in at a port (or all frames, or only some of UDP) go out at a port."""

    output: int
    in_port: int | None = None
    cookie: int = 0
    priority: int = DEFAULT_PRIORITY
    udp_source: UdpSource | None = None
    ipv4_source: int | None = None
    """Address that a frame must come from, as a number; with `udp_source` of version 4."""
    push_vlan: bool = False
    """Whether frames leave with one more VLAN tag."""

    @property
    def forwarding(self) -> "Forwarding":
        """What the rule does, without its cookie and other fields that only count or name it."""
        actions = (*((f"action:{_PUSH_VLAN.hex()}",) if self.push_vlan else ()), f"output:{self.output}")
        return Forwarding(0, self.priority, frozenset(_fields(self)), actions)


@dataclass(frozen=True)
class Forwarding:
    """What a rule does: equal for two rules that forward alike, whatever wrote them and whatever their cookies are."""

    table: int
    priority: int
    match: Match
    actions: tuple[str, ...]
    """`output:<port>`; anything else as the hex of its instruction or action."""


@dataclass(frozen=True)
class InstalledRule:
    """A rule as the switch has it."""

    forwarding: Forwarding
    cookie: int
    packets: int
    octets: int


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
    """Return a message: the header, then the body."""
    return HEADER.pack(VERSION, kind, HEADER.size + len(body), xid) + body


def add_rule(rule: Rule) -> bytes:
    """Return the body of a FLOW_MOD that adds a rule to table 0 (section 7.3.4.1)."""
    actions = (_PUSH_VLAN if rule.push_vlan else b"") + _OUTPUT.pack(0, _OUTPUT.size, rule.output, 0)
    instruction = _APPLY_ACTIONS.pack(4, _APPLY_ACTIONS.size + len(actions)) + actions
    head = _FLOW_MOD.pack(rule.cookie, 0, 0, 0, 0, 0, rule.priority, NO_BUFFER, PORT_ANY, GROUP_ANY, 0, 0)
    return head + _match(_fields(rule)) + instruction


def flow_mod_head(table: int, priority: int, cookie: int = 0) -> bytes:
    """Return the part of a FLOW_MOD before the match, for adding a rule to a table."""
    return _FLOW_MOD.pack(cookie, 0, table, 0, 0, 0, priority, NO_BUFFER, PORT_ANY, GROUP_ANY, 0, 0)


def padded_match(fields: bytes) -> bytes:
    """Return a match of encoded fields, padded to eight bytes; its length field does not count the padding."""
    length = _MATCH.size + len(fields)
    return (_MATCH.pack(_MATCH_OXM, length) + fields).ljust((length + 7) // 8 * 8, b"\0")


def delete_all_rules() -> bytes:
    """Return the body of a FLOW_MOD that deletes every rule of every table."""
    head = _FLOW_MOD.pack(0, 0, ALL_TABLES, _DELETE, 0, 0, 0, NO_BUFFER, PORT_ANY, GROUP_ANY, 0, 0)
    return head + _match([])


def flow_request() -> bytes:
    """Return the body of a MULTIPART_REQUEST for the counters of all rules."""
    entry = _FLOW_REQUEST.pack(ALL_TABLES, PORT_ANY, GROUP_ANY, 0, 0) + _match([])
    return _MULTIPART.pack(MULTIPART_FLOW, 0) + entry


def aggregate_request() -> bytes:
    """Return the body of a MULTIPART_REQUEST for the number of all rules."""
    entry = _FLOW_REQUEST.pack(ALL_TABLES, PORT_ANY, GROUP_ANY, 0, 0) + _match([])
    return _MULTIPART.pack(MULTIPART_AGGREGATE, 0) + entry


def parse_rule_count(body: bytes) -> int:
    """Read the number of rules out of the reply."""
    count: int = _AGGREGATE.unpack_from(body, _MULTIPART.size)[2]
    return count


def port_request() -> bytes:
    """Return the body of a MULTIPART_REQUEST for the counters of all ports."""
    return _MULTIPART.pack(MULTIPART_PORT_STATISTICS, 0) + struct.pack("!I4x", PORT_ANY)


def description_request() -> bytes:
    """Return the body of a MULTIPART_REQUEST for the description of all ports."""
    return _MULTIPART.pack(MULTIPART_PORT_DESCRIPTION, 0)


def more_follows(body: bytes) -> bool:
    """Return whether a multipart reply goes on in another message."""
    flags: int = _MULTIPART.unpack_from(body)[1]
    return bool(flags & MULTIPART_MORE)


def parse_rules(body: bytes) -> list[RuleCounters]:
    """Parse one multipart reply with rules."""
    return [
        RuleCounters(cookie=values[9], packets=values[10], octets=values[11])
        for values in (_FLOW_ENTRY.unpack_from(entry) for entry in _entries(body, _FLOW_ENTRY.size))
    ]


def parse_installed(body: bytes) -> list[InstalledRule]:
    """Parse one multipart reply with rules: all that they match and do.

    Raises:
        DeployError: the reply is damaged.
    """
    return [_installed(entry) for entry in _entries(body, _FLOW_ENTRY.size + _MATCH.size)]


def parse_ports(body: bytes) -> list[PortCounters]:
    """Parse one multipart reply with ports."""
    return [_port(entry) for entry in _entries(body, _PORT_ENTRY.size)]


def parse_links(body: bytes) -> dict[int, bool]:
    """Parse which ports have a link, by number, out of one multipart reply with descriptions (section 7.2.1).

    Raises:
        DeployError: the reply is damaged.
    """
    links = {}
    for entry in _entries(body, _PORT_DESCRIPTION.size, _LENGTH_OF_DESCRIPTION):
        number, _, _, _, _, state = _PORT_DESCRIPTION.unpack_from(entry)
        links[number] = not state & _LINK_DOWN
    return links


def error_text(body: bytes) -> str:
    """Describe an ERROR message by its numbers (section 7.5.4)."""
    kind, code = struct.unpack_from("!HH", body)
    return f"OpenFlow error type {kind} code {code}"


def _fields(rule: Rule) -> list[tuple[int, str]]:
    """Return the fields that a rule matches, each after the fields that it requires."""
    fields = []
    if rule.in_port is not None:
        fields.append((_oxm(_OXM_IN_PORT), struct.pack("!I", rule.in_port).hex()))
    if (source := rule.udp_source) is not None:
        fields.append((_oxm(_OXM_ETH_TYPE), struct.pack("!H", _ETH_TYPES[source.ip_version]).hex()))
        fields.append((_oxm(_OXM_IP_PROTO), struct.pack("!B", _IP_PROTO_UDP).hex()))
        if source.mask == _WHOLE_PORT:
            # As the switch gives it back: an exact match has no mask.
            fields.append((_oxm(_OXM_UDP_SRC), struct.pack("!H", source.value).hex()))
        else:
            fields.append((_oxm(_OXM_UDP_SRC, masked=True), struct.pack("!HH", source.value, source.mask).hex()))
    if rule.ipv4_source is not None:
        fields.append((_oxm(_OXM_IPV4_SRC), struct.pack("!I", rule.ipv4_source).hex()))
    return fields


def _oxm(field: int, *, masked: bool = False) -> int:
    return _OXM_BASIC << 8 | field << 1 | masked


def _match(fields: list[tuple[int, str]]) -> bytes:
    """Encode a match."""
    data = b"".join(
        _OXM_HEADER.pack(kind >> 8, kind & 0xFF, len(value) // 2) + bytes.fromhex(value) for kind, value in fields
    )
    return padded_match(data)


def _installed(entry: bytes) -> InstalledRule:
    values = _FLOW_ENTRY.unpack_from(entry)
    start = _FLOW_ENTRY.size
    length = _MATCH.unpack_from(entry, start)[1]
    match = frozenset(_parse_match(entry[start + _MATCH.size : start + length]))
    actions = tuple(_actions(entry[start + (length + 7) // 8 * 8 :]))
    return InstalledRule(Forwarding(values[1], values[4], match, actions), values[9], values[10], values[11])


def _parse_match(data: bytes) -> Iterator[tuple[int, str]]:
    offset = 0
    while offset < len(data):
        group, field_bits, length = _OXM_HEADER.unpack_from(data, offset)
        offset += _OXM_HEADER.size
        yield group << 8 | field_bits, data[offset : offset + length].hex()
        offset += length


def _actions(data: bytes) -> Iterator[str]:
    """Yield the names of instructions; of `apply actions` those of each action."""
    for kind, instruction in _chunks(data):
        if kind != _INSTRUCTION_APPLY:
            yield f"instruction:{instruction.hex()}"
            continue
        for action, body in _chunks(instruction[_APPLY_ACTIONS.size :]):
            yield f"output:{_OUTPUT.unpack_from(body)[2]}" if action == _ACTION_OUTPUT else f"action:{body.hex()}"


def _chunks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield instructions or actions one by one: each begins with its type and its length, which counts both."""
    offset = 0
    while offset < len(data):
        kind, length = _PROPERTY.unpack_from(data, offset)
        if length < 8 or offset + length > len(data):
            raise DeployError(
                "an OpenFlow reply is damaged", observed=f"a part of {length} bytes at {offset} of {len(data)}"
            )
        yield kind, data[offset : offset + length]
        offset += length


def _entries(body: bytes, smallest: int, at: int = 0) -> Iterator[bytes]:
    """Yield the entries of a multipart reply, each of which has its length `at` bytes from its start."""
    offset = _MULTIPART.size
    while offset < len(body):
        length = int.from_bytes(body[offset + at : offset + at + 2], "big")
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
    """Return Open vSwitch's own counters, found among a port's properties."""
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
    """Parse (length u8, name, value u64) tuples that follow each other without padding."""
    values: dict[str, int] = {}
    offset = 0
    for _ in range(count):
        start = offset + 1
        end = start + data[offset]
        values[data[start:end].decode("ascii")] = int.from_bytes(data[end : end + 8], "big")
        offset = end + 8
    return values
