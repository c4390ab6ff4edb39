"""The switch of a box: Open vSwitch with its datapath in user space, one bridge a physical network."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from nfvbed.cloud.box.layout import MANAGEMENT, BoxLayout, Cable
from nfvbed.cloud.box.machine import Machine

UNITS = ("ovsdb-server.service", "ovs-vswitchd.service", "docker-registry.service")
_UNTAGGED = 0
_ALL_VLANS = (1, 4094)
_OVS = ("ovs-vsctl", "--timeout=20")


@dataclass(frozen=True)
class PortState:
    """A port of the switch, as Open vSwitch has it."""

    name: str
    bridge: str
    tag: int | None
    """VLAN of an access port; None: a trunk."""
    trunks: str
    """VLANs of a trunk; empty: of an access port."""
    error: str
    """What is wrong with its device; empty: nothing."""


def configure(layout: BoxLayout, switch: Machine) -> None:
    """Make bridges and ports; what is there is set as the layout has it.

    Raises:
        DeployError: Open vSwitch refuses it.
    """
    switch.check(*_OVS, *bridge_words(layout))
    switch.check(*_OVS, *port_words([cable for _, cable in layout.cables]))


def forget_port(switch: Machine, cable: Cable) -> None:
    """Remove the port of a cable that is laid anew: Open vSwitch would keep a device that is gone."""
    if cable.bridge != MANAGEMENT:
        switch.check(*_OVS, "--if-exists", "del-port", cable.port)


def bridge_words(layout: BoxLayout) -> list[str]:
    """Return the arguments of ovs-vsctl that make the bridges."""
    words = list[str]()
    for bridge in layout.bridges:
        words += ["--", "--may-exist", "add-br", bridge, "--", "set", "Bridge", bridge, "datapath_type=netdev"]
    return words[1:]


def port_words(cables: Sequence[Cable]) -> list[str]:
    """Return the arguments of ovs-vsctl that make the ports; the bridge of management is the kernel's."""
    words = list[str]()
    for cable in cables:
        if cable.bridge == MANAGEMENT:
            continue
        words += ["--", "--may-exist", "add-port", cable.bridge, cable.port, "--", "set", "Port", cable.port]
        if cable.tag is not None:
            words += [f"tag={cable.tag}", "vlan_mode=access"]
        else:
            first, last = cable.trunks or _ALL_VLANS
            vlans = ",".join(map(str, (_UNTAGGED, *range(first, last + 1))))
            words += [f"trunks={vlans}", "vlan_mode=trunk"]
    return words[1:]


def ports(switch: Machine, layout: BoxLayout) -> tuple[PortState, ...]:
    """Return the ports that Open vSwitch has, without those of its bridges themselves.

    Raises:
        DeployError: it does not answer.
    """
    errors = {row["name"]: row["error"] for row in _table(switch, "Interface", "name,error")}
    bridges = {cable.port: cable.bridge for _, cable in layout.cables}
    found = list[PortState]()
    for row in _table(switch, "Port", "name,tag,trunks"):
        name, tag, error = str(row["name"]), row["tag"], errors.get(row["name"])
        if name in bridges:
            error = error if isinstance(error, str) else ""
            tag = tag if isinstance(tag, int) else None
            found.append(PortState(name, bridges[name], tag, _ranges(row["trunks"]), error))
    return tuple(found)


def _table(switch: Machine, table: str, columns: str) -> list[dict[str, object]]:
    text = switch.check(*_OVS, "--format=json", f"--columns={columns}", "list", table)
    document = json.loads(text)
    return [dict(zip(document["headings"], row, strict=True)) for row in document["data"]]


def _ranges(value: object) -> str:
    """Return the VLANs of a set as OVSDB writes it in JSON (RFC 7047, 5.1): one value, or ["set", [...]]."""
    if isinstance(value, int):
        numbers = [value]
    elif isinstance(value, list) and value[0] == "set":
        numbers = sorted(value[1])
    else:
        return ""
    parts = list[list[int]]()
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)
