"""TRex streams for the keys of a `start`: the frames that nfvgen sends, with another payload.

TRex tells its own frames by the IPv4 identification or the IPv6 flow label, which it writes; what it counts as received
is by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from nfvbed.traffic.trex.serving import RequestRefused

NS_PER_S = 1_000_000_000
FCS_BYTES = 4
GAP_BYTES = 20
"""On the wire beside a frame: preamble, start and gap."""
PORT = 9
"""UDP's, as nfvgen's plain frames have it."""
SOURCE_PORT = 49_152
SOURCE_PORTS = 16_384
"""By the flow's number, from the first on; flows beyond have them again."""
HOPS = 64
IPV4 = ("198.18.0.1", "198.19.0.1")
IPV6 = ("2001:2::1", "2001:2:0:1::1")
BURST_PPS = 100_000
"""Rate of trials with a number of frames and no load."""
LEARNING_PPS = 1_000
UNREPLIED, MIRRORED = "unreplied", "mirrored"
"""Sessions: mirrored frames of port 1 have the addresses and ports of port 0's the other way round, flow by flow."""
_ONLY: dict[str, tuple[Any, ...]] = {
    "then": (None,),
    "timeline_ns": (None,),
    "flow_address": ("source",),
    "flow_macs": ([],),
    "destination_mac_count": (1,),
    "sessions": (UNREPLIED, MIRRORED),
    "check": (False,),
    "stamp": (False,),
}
"""Keys with the values that TRex can do."""
_KNOWN = {
    *("duration_ns", "frames", "rate_pps", "directions", "frame_sizes", "flows", "stack", "macs", "destination_macs"),
    *("ipv4", "ipv6", "learning_frames", "drain_ns"),
    *_ONLY,
}
MAX_FLOWS = 65_536


@dataclass(frozen=True)
class Part:
    """The frames of one size in one direction: one stream."""

    id: int
    """By which TRex counts it."""
    tx: int
    rx: int
    size_bytes: int
    """FCS included."""
    due: int
    """Frames; at maximum load as many as the line takes."""
    rate_pps: float
    is_full: bool = False
    """Whether it is part of maximum load."""


def check(keys: dict[str, Any]) -> None:
    """Refuse keys that TRex does not support here.

    Raises:
        Refused: with the key.
    """
    for key in keys:
        if key not in _KNOWN:
            raise RequestRefused("bad-request", f"start knows no key {key}", key)
    for key, values in _ONLY.items():
        if key in keys and keys[key] not in values:
            raise RequestRefused("out-of-range", f"{key} cannot be {keys[key]!r} with TRex", key, values[0])
    stack = keys.get("stack") or {}
    for key in ("vxlan", "gtpu"):
        if stack.get(key) is not None:
            raise RequestRefused("out-of-range", f"TRex sends no {key} frames here", f"stack.{key}")
    if not 1 <= keys.get("flows", 1) <= MAX_FLOWS:
        raise RequestRefused("out-of-range", f"{keys['flows']} flows", "flows", MAX_FLOWS)


def parts(keys: dict[str, Any], line_bits_per_s: Sequence[int]) -> list[Part]:
    """Return the streams of a trial, direction by direction.

    Args:
        keys: keys of the `start` message.

    Raises:
        Refused: maximum load, and the speed of a port is not known.
    """
    sizes = keys.get("frame_sizes") or [[64, 1]]
    weights = [weight for _, weight in sizes]
    frames, is_full = keys.get("frames"), keys.get("rate_pps") is None and keys.get("frames") is None
    found: list[Part] = []
    for tx, rx in keys.get("directions") or [[0, 1], [1, 0]]:
        rate = _line_pps(sizes, line_bits_per_s[tx], tx) if is_full else keys.get("rate_pps") or BURST_PPS
        counts = _shared(round(rate * keys["duration_ns"] / NS_PER_S) if frames is None else frames, weights)
        for (size, weight), due in zip(sizes, counts, strict=True):
            found.append(Part(len(found) + 1, tx, rx, size, due, rate * weight / sum(weights), is_full))
    return [part for part in found if part.due]


def _line_pps(sizes: list[list[int]], bits_per_s: int, port: int) -> float:
    """Return the frames/s of a mix at line rate."""
    if not bits_per_s:
        raise RequestRefused("port", f"TRex does not know the speed of port {port}: is its link up?")
    weights = sum(weight for _, weight in sizes)
    return bits_per_s / (8 * sum((size + GAP_BYTES) * weight for size, weight in sizes) / weights)


def _shared(frames: int, weights: list[int]) -> list[int]:
    """Return the number of frames of each weight, which add up to all of them."""
    ends = [round(frames * sum(weights[: number + 1]) / sum(weights)) for number in range(len(weights))]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def stream(stl: Any, part: Part, keys: dict[str, Any], own_macs: tuple[str, str]) -> Any:
    """Return a part as a stream of TRex's.

    Args:
        stl: TRex's module `trex.stl.api`.
        keys: keys of the `start` message.
        own_macs: addresses of the generator's ports.
    """
    frame = _headers(stl, part, keys, own_macs)
    room = part.size_bytes - FCS_BYTES - len(frame)
    if room < 0:
        least = len(frame) + FCS_BYTES
        raise RequestRefused("out-of-range", f"frames of {part.size_bytes} bytes are too small", "frame_sizes", least)
    flows = keys.get("flows", 1)
    packet = stl.STLPktBuilder(pkt=frame / ("x" * room), vm=_flows(stl, part, keys) if flows > 1 else [])
    # A stream without an end sends a frame more than are due in a time, as often as not.
    mode = stl.STLTXSingleBurst(pps=part.rate_pps, total_pkts=part.due)
    return stl.STLStream(packet=packet, mode=mode, flow_stats=stl.STLFlowStats(pg_id=part.id))


def learning(stl: Any, keys: dict[str, Any], port: int, mac: str) -> Any:
    """Return the broadcasts of one port that teach a learning switch its address: gratuitous ARP."""
    stack = keys.get("stack") or {}
    address = (keys.get("ipv4") or IPV4)[port]
    frame = stl.Ether(src=mac, dst="ff:ff:ff:ff:ff:ff")
    if stack.get("vlan") is not None:
        frame = frame / stl.Dot1Q(vlan=stack["vlan"])
    frame = frame / stl.ARP(op=1, hwsrc=mac, psrc=address, hwdst="00:00:00:00:00:00", pdst=address)
    frame = frame / ("\0" * max(0, 64 - FCS_BYTES - len(frame)))
    mode = stl.STLTXSingleBurst(pps=LEARNING_PPS, total_pkts=keys["learning_frames"])
    return stl.STLStream(packet=stl.STLPktBuilder(pkt=frame), mode=mode)


def macs_of(keys: dict[str, Any], own: tuple[str, str]) -> tuple[str, str]:
    """Return the source addresses of both ports."""
    first, second = keys.get("macs") or own
    return first, second


def _headers(stl: Any, part: Part, keys: dict[str, Any], own: tuple[str, str]) -> Any:
    stack, macs = keys.get("stack") or {}, macs_of(keys, own)
    given = keys.get("destination_macs")
    frame = stl.Ether(src=macs[part.tx], dst=given[part.tx] if given else macs[part.rx])
    if stack.get("vlan") is not None:
        frame = frame / stl.Dot1Q(vlan=stack["vlan"])
    ends = {"src": _ends(keys)[part.tx], "dst": _ends(keys)[part.rx]}
    six = stack.get("ip", 4) == 6
    header = stl.IPv6(**ends, hlim=HOPS) if six else stl.IP(**ends, ttl=HOPS, flags="DF")
    ports = (PORT, SOURCE_PORT) if _replies(part, keys) else (SOURCE_PORT, PORT)
    return frame / header / stl.UDP(sport=ports[0], dport=ports[1])


def _replies(part: Part, keys: dict[str, Any]) -> bool:
    """Return whether a part's frames answer those of the other direction."""
    return part.tx == 1 and bool(keys.get("sessions") == MIRRORED)


def _ends(keys: dict[str, Any]) -> tuple[str, str]:
    """Return the ports' addresses."""
    six = (keys.get("stack") or {}).get("ip", 4) == 6
    first, second = (keys.get("ipv6") or IPV6) if six else (keys.get("ipv4") or IPV4)
    return first, second


def _flows(stl: Any, part: Part, keys: dict[str, Any]) -> Any:
    """Return the change that adds the flow's number to the source address's last 16 bits, and 14 of it to the port.

    In replies it is the destination's address and port.
    """
    replies = _replies(part, keys)
    side, port = ("dst", "UDP.dport") if replies else ("src", "UDP.sport")
    six = (keys.get("stack") or {}).get("ip", 4) == 6
    first = int(ip_address(_ends(keys)[part.rx if replies else part.tx])) & 0xFFFF
    last = first + int(keys["flows"]) - 1
    if last > 0xFFFF:
        raise RequestRefused(
            "out-of-range", f"flow numbers leave 16 bits of the address: {last}", "flows", 0x10000 - first
        )
    machine = stl.STLVM()
    machine.var(name="flow", min_value=first, max_value=last, size=2, op="inc", step=1)
    machine.write(fv_name="flow", pkt_offset=f"IPv6.{side}" if six else f"IP.{side}", offset_fixup=14 if six else 2)
    machine.add_cmd(
        stl.STLVmWrMaskFlowVar(
            fv_name="flow", pkt_offset=port, pkt_cast_size=2, mask=SOURCE_PORTS - 1, add_value=-first
        )
    )
    layers = ("IPv6", "UDP") if six else ("IP", "UDP")
    machine.fix_chksum_hw(l3_offset=layers[0], l4_offset=layers[1], l4_type=stl.CTRexVmInsFixHwCs.L4_TYPE_UDP)
    return machine
