"""Rules of several tables, with connection tracking and tunnels, as OpenFlow 1.4 messages; and bundles of them.

Connection tracking and registers are Open vSwitch's extensions (ovs-fields(7), ovs-actions(7), `nicira-ext.h`).
"""

import struct
from dataclasses import dataclass

from nfvbed.dataplanes.ovs import openflow

_NICIRA_CLASS, _OPENFLOW_CLASS = 0x0001, 0x8000
_FIELDS: dict[str, tuple[int, int, int]] = {
    "in_port": (_OPENFLOW_CLASS, 0, 4),
    "eth_dst": (_OPENFLOW_CLASS, 3, 6),
    "eth_src": (_OPENFLOW_CLASS, 4, 6),
    "eth_type": (_OPENFLOW_CLASS, 5, 2),
    "ip_proto": (_OPENFLOW_CLASS, 10, 1),
    "ipv4_src": (_OPENFLOW_CLASS, 11, 4),
    "ipv4_dst": (_OPENFLOW_CLASS, 12, 4),
    "tcp_src": (_OPENFLOW_CLASS, 13, 2),
    "tcp_dst": (_OPENFLOW_CLASS, 14, 2),
    "udp_src": (_OPENFLOW_CLASS, 15, 2),
    "udp_dst": (_OPENFLOW_CLASS, 16, 2),
    "tunnel_id": (_OPENFLOW_CLASS, 38, 8),
    "reg0": (_NICIRA_CLASS, 0, 4),
    "ct_state": (_NICIRA_CLASS, 105, 4),
    "ct_mark": (_NICIRA_CLASS, 107, 4),
}
"""Field: OXM class, number, bytes."""

CT_NEW, CT_ESTABLISHED, CT_INVALID, CT_TRACKED = 0x01, 0x02, 0x10, 0x20
"""Bits of `ct_state`."""

_OXM_HEADER = struct.Struct("!HBB")
_APPLY_ACTIONS = struct.Struct("!HH4x")
_GOTO = struct.Struct("!HHB3x")
_OUTPUT = struct.Struct("!HHIH6x")
_CONNECTION_TRACKING = struct.Struct("!HHIHHIHB3xH")
_NICIRA = 0x00002320
_NXAST_CT = 35
_CT_COMMIT, _NO_TABLE = 1, 0xFF
_SET_FIELD, _EXPERIMENTER = 25, 0xFFFF
_INSTRUCTION_GOTO, _INSTRUCTION_APPLY = 1, 4

BUNDLE_CONTROL, BUNDLE_ADD = 33, 34
BUNDLE_OPEN, BUNDLE_COMMIT, BUNDLE_DISCARD = 0, 4, 6
_BUNDLE = struct.Struct("!IHH")
_ATOMIC_ORDERED = 0x0003


@dataclass(frozen=True)
class Field:
    """One field of a match, exact or with a mask."""

    name: str
    value: int
    mask: int | None = None


@dataclass(frozen=True)
class TableRule:
    """One rule of a table: what it matches, what it does, and the next table."""

    table: int
    priority: int
    match: tuple[Field, ...] = ()
    """Each field after those that it needs (`ipv4_src` after `eth_type`)."""
    actions: tuple[bytes, ...] = ()
    goto: int | None = None


def output(port: int) -> bytes:
    """Return the action that sends the frame out."""
    return _OUTPUT.pack(0, _OUTPUT.size, port, 0)


def set_field(name: str, value: int) -> bytes:
    """Return the action that writes a field of the frame, of its tunnel, or a register."""
    field = _oxm(Field(name, value))
    size = (4 + len(field) + 7) // 8 * 8
    return struct.pack("!HH", _SET_FIELD, size) + field.ljust(size - 4, b"\0")


def track(zone: int, table: int) -> bytes:
    """Return the action that looks the connection up and goes on in a table (`ct(table=...,zone=...)`)."""
    return _ct(0, zone, table, b"")


def commit(zone: int, mark: int) -> bytes:
    """Return the action that records the connection with a mark: `ct` with `commit`, and `set_field` of `ct_mark`."""
    return _ct(_CT_COMMIT, zone, _NO_TABLE, set_field("ct_mark", mark))


def _ct(flags: int, zone: int, table: int, nested: bytes) -> bytes:
    size = _CONNECTION_TRACKING.size + len(nested)
    head = _CONNECTION_TRACKING.pack(_EXPERIMENTER, size, _NICIRA, _NXAST_CT, flags, 0, zone, table, 0)
    return head + nested


def flow_mod(rule: TableRule) -> bytes:
    """Return the body of a FLOW_MOD that adds the rule (section 7.3.4.1)."""
    head = openflow.flow_mod_head(rule.table, rule.priority)
    fields = b"".join(_oxm(field) for field in rule.match)
    match = openflow.padded_match(fields)
    actions = b"".join(rule.actions)
    applied = _APPLY_ACTIONS.pack(_INSTRUCTION_APPLY, _APPLY_ACTIONS.size + len(actions)) + actions if actions else b""
    onward = b"" if rule.goto is None else _GOTO.pack(_INSTRUCTION_GOTO, _GOTO.size, rule.goto)
    return head + match + applied + onward


def bundle_control(bundle: int, kind: int) -> bytes:
    """Return the body of a BUNDLE_CONTROL: open one, or commit it (section 7.3.9)."""
    return _BUNDLE.pack(bundle, kind, _ATOMIC_ORDERED)


def bundle_add(bundle: int, xid: int, body: bytes) -> bytes:
    """Return the body of a BUNDLE_ADD_MESSAGE with a FLOW_MOD of the same transaction."""
    return struct.pack("!I2xH", bundle, _ATOMIC_ORDERED) + openflow.message(openflow.FLOW_MOD, xid, body)


def _oxm(field: Field) -> bytes:
    group, number, size = _FIELDS[field.name]
    value = field.value.to_bytes(size, "big")
    mask = b"" if field.mask is None else field.mask.to_bytes(size, "big")
    return _OXM_HEADER.pack(group, number << 1 | bool(mask), size + len(mask)) + value + mask
