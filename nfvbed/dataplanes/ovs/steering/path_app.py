"""The OpenFlow controller's application (os-ken): gives the switch that connects the rules of one path.

It runs in a process of its own (`controller_process.py`). A switch that comes back gets the rules again; rules that it
still has keep their counters.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, DEAD_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_4

from nfvbed.dataplanes.ovs.openflow import Rule, UdpSource
from nfvbed.dataplanes.ovs.steering.path import path_rules
from nfvbed.dataplanes.ovs.steering.path_file import read_path
from nfvbed.errors import ConfigurationError
from nfvbed.patience import patient

PATIENCE_S = patient(3.0)
_ETH_TYPES = {4: 0x0800, 6: 0x86DD}
_IP_PROTO_UDP = 17
_BUNDLE = 1


class PathApp(OSKenApp):
    """One path for one switch."""

    OFP_VERSIONS = [ofproto_v1_4.OFP_VERSION]

    path_file: Path
    """Set on the class before os-ken makes its one instance."""
    current: "PathApp"
    """That instance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rules = path_rules(read_path(self.path_file))
        self._lock = threading.Condition()
        self._datapath: Any = None
        self._barrier: int | None = None
        self._coming: tuple[Rule, ...] | None = None
        """Of a bundle that is open."""
        self._in_force = False
        self._error = ""
        self._counters: dict[int, dict[str, int]] | None = None
        type(self).current = self

    def status(self) -> dict[str, object]:
        """Return whether a switch is connected and how many rules it has confirmed."""
        with self._lock:
            datapath = self._datapath
            return {
                "connected": datapath is not None,
                "datapath_id": f"{datapath.id:016x}" if datapath is not None else None,
                "rules": len(self._rules) if self._in_force else 0,
                "error": self._error,
            }

    def change(self) -> dict[str, object]:
        """Read the path's file again, and give the switch its rules in the place of all others, in one bundle."""
        try:
            rules = path_rules(read_path(self.path_file))
        except ConfigurationError as failure:
            return {"error": str(failure)}
        with self._lock:
            datapath = self._datapath
            if datapath is None:
                return {"error": "no switch is connected"}
            self._coming, self._in_force, self._error = rules, False, ""
            self._send(bundle(datapath, [remove_all(datapath), *(flow_mod(datapath, rule) for rule in rules)]))
        return {"error": ""}

    def _send(self, messages: Sequence[Any]) -> None:
        """Send messages and a barrier behind them, whose answer is waited for."""
        barrier = self._datapath.ofproto_parser.OFPBarrierRequest(self._datapath)
        self._datapath.set_xid(barrier)
        self._barrier = barrier.xid
        for message in (*messages, barrier):
            self._datapath.send_msg(message)

    def counters(self) -> dict[str, object]:
        """Ask the switch what the rules have matched, in the order of the path."""
        with self._lock:
            datapath = self._datapath
            if datapath is None:
                return {"error": "no switch is connected"}
            self._counters = None
            datapath.send_msg(datapath.ofproto_parser.OFPFlowStatsRequest(datapath))
            if not self._lock.wait_for(lambda: self._counters is not None, PATIENCE_S):
                return {"error": f"the switch gave no counters within {PATIENCE_S:g} s"}
            found: dict[int, dict[str, int]] = self._counters or {}
        hops = [
            {"cookie": rule.cookie, "in_port": rule.in_port, "output": rule.output, **found[rule.cookie]}
            for rule in self._rules
            if rule.cookie in found
        ]
        return {"hops": hops}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def on_switch(self, event: Any) -> None:
        """Send the rules and a barrier behind them to a switch that has connected."""
        with self._lock:
            self._datapath, self._coming, self._in_force, self._error = event.msg.datapath, None, False, ""
            self._send([flow_mod(self._datapath, rule) for rule in self._rules])

    @set_ev_cls(ofp_event.EventOFPBarrierReply, [CONFIG_DISPATCHER, MAIN_DISPATCHER])
    def on_barrier(self, event: Any) -> None:
        """Note that the rules are in force; of a bundle that none of its messages was refused, and commit it then.

        A commit would put the others into force.
        """
        with self._lock:
            if event.msg.xid != self._barrier:
                return
            coming, self._coming = self._coming, None
            if coming is None:
                self._in_force = not self._error
            elif self._error:
                self._datapath.send_msg(end_of_bundle(self._datapath, commit=False))
            else:
                self._rules = coming
                self._send([end_of_bundle(self._datapath, commit=True)])

    @set_ev_cls(ofp_event.EventOFPErrorMsg, [CONFIG_DISPATCHER, MAIN_DISPATCHER])
    def on_error(self, event: Any) -> None:
        """Keep the first error, by its numbers."""
        with self._lock:
            self._in_force = False
            self._error = self._error or f"OpenFlow error type {event.msg.type} code {event.msg.code}"

    @set_ev_cls(ofp_event.EventOFPStateChange, DEAD_DISPATCHER)
    def on_end(self, event: Any) -> None:
        """Note that the switch is gone."""
        with self._lock:
            if event.datapath is self._datapath:
                self._datapath, self._in_force = None, False

    @set_ev_cls(ofp_event.EventOFPFlowStatsReply, MAIN_DISPATCHER)
    def on_counters(self, event: Any) -> None:
        """Keep the counters that were asked for; a path's rules fit into one reply."""
        with self._lock:
            self._counters = {
                entry.cookie: {"packets": entry.packet_count, "octets": entry.byte_count} for entry in event.msg.body
            }
            self._lock.notify_all()


def flow_mod(datapath: Any, rule: Rule) -> Any:
    """Return os-ken's message that adds a rule."""
    parser = datapath.ofproto_parser
    actions = [parser.OFPActionOutput(rule.output, 0)]
    return parser.OFPFlowMod(
        datapath,
        cookie=rule.cookie,
        priority=rule.priority,
        match=parser.OFPMatch(in_port=rule.in_port, **_share(rule.udp_source)),
        instructions=[parser.OFPInstructionActions(datapath.ofproto.OFPIT_APPLY_ACTIONS, actions)],
    )


def remove_all(datapath: Any) -> Any:
    """Return os-ken's message that removes every rule of every table."""
    protocol = datapath.ofproto
    return datapath.ofproto_parser.OFPFlowMod(
        datapath,
        table_id=protocol.OFPTT_ALL,
        command=protocol.OFPFC_DELETE,
        out_port=protocol.OFPP_ANY,
        out_group=protocol.OFPG_ANY,
    )


def bundle(datapath: Any, messages: Sequence[Any]) -> list[Any]:
    """Return os-ken's messages that open a bundle and put others into it, to take effect at once (section 7.3.9)."""
    parser, protocol = datapath.ofproto_parser, datapath.ofproto
    opened = parser.OFPBundleCtrlMsg(datapath, _BUNDLE, protocol.OFPBCT_OPEN_REQUEST, _flags(protocol), [])
    return [opened, *(parser.OFPBundleAddMsg(datapath, _BUNDLE, _flags(protocol), m, []) for m in messages)]


def end_of_bundle(datapath: Any, *, commit: bool) -> Any:
    """Return os-ken's message that puts a bundle into force, or discards it."""
    protocol = datapath.ofproto
    kind = protocol.OFPBCT_COMMIT_REQUEST if commit else protocol.OFPBCT_DISCARD_REQUEST
    return datapath.ofproto_parser.OFPBundleCtrlMsg(datapath, _BUNDLE, kind, _flags(protocol), [])


def _flags(protocol: Any) -> int:
    flags: int = protocol.OFPBF_ATOMIC | protocol.OFPBF_ORDERED
    return flags


def _share(source: UdpSource | None) -> dict[str, Any]:
    if source is None:
        return {}
    udp = (source.value, source.mask)
    return {"eth_type": _ETH_TYPES[source.ip_version], "ip_proto": _IP_PROTO_UDP, "udp_src": udp}
