"""Stands for TRex's module `trex.stl.api`: a double whose two ports are joined, with one frame in a hundred lost.

It is copied into a folder that looks like TRex's; nothing is sent. What it counts is what its streams say, as TRex 3.08
was seen to do it: bursts end by themselves, and where it cannot keep its pace it takes longer, until it is stopped.
"""

import time


class TRexError(Exception):
    """As TRex's."""


class Layer:
    """Stands for a header of Scapy's: layers are joined with `/`."""

    sizes = {"Ether": 14, "Dot1Q": 4, "IP": 20, "IPv6": 40, "UDP": 8, "ARP": 28}

    def __init__(self, **fields):
        self.layers = [(type(self).__name__, fields)]
        self.size = self.sizes.get(type(self).__name__, 0)

    def __truediv__(self, other):
        made = Layer()
        payload = other if isinstance(other, str) else ""
        made.layers = self.layers + ([("payload", len(payload))] if isinstance(other, str) else other.layers)
        made.size = self.size + (len(payload) if isinstance(other, str) else other.size)
        return made

    def __len__(self):
        return self.size


class Ether(Layer):
    """Header."""


class Dot1Q(Layer):
    """Header."""


class IP(Layer):
    """Header."""


class IPv6(Layer):
    """Header."""


class UDP(Layer):
    """Header."""


class ARP(Layer):
    """Header."""


class Keys:
    """Whatever is given by name."""

    def __init__(self, **keys):
        self.__dict__.update(keys)


class STLPktBuilder(Keys):
    """Frame and its changes."""


class STLTXSingleBurst(Keys):
    """Sends so many."""


class STLFlowStats(Keys):
    """How a stream is counted."""


class STLStream(Keys):
    """What is sent."""

    flow_stats = None


class STLVmWrMaskFlowVar(Keys):
    """Writes bits of a variable."""


class CTRexVmInsFixHwCs:
    """Constants."""

    L4_TYPE_UDP = 11


class STLVM:
    """Changes of a frame; kept as they were asked for."""

    def __init__(self):
        self.asked = []

    def var(self, **keys):
        """Keep it."""
        self.asked.append(("var", keys))

    def write(self, **keys):
        """Keep it."""
        self.asked.append(("write", keys))

    def add_cmd(self, command):
        """Keep it."""
        self.asked.append(("command", vars(command)))

    def fix_chksum_hw(self, **keys):
        """Keep it."""
        self.asked.append(("checksum", keys))


FASTEST_PPS = 1_000_000
"""Less than the line would take."""
LOST_OF = 100
MISSED = 3
"""Frames that the second port drops on arrival: they are among the lost ones."""
FOREIGN = 7


class STLClient:
    """Counts what its streams would send."""

    def __init__(self, server, sync_port, async_port):
        self.streams = {0: [], 1: []}
        self.began = {}
        self.sent = {}

    def connect(self):
        """Answer at once."""

    def acquire(self, ports, force):
        """Allow it."""

    def get_server_version(self):
        """A version that is none of TRex's."""
        return {"version": "double", "mode": "STL"}

    def get_port_attr(self, port):
        """Two NICs."""
        return {
            "src_mac": f"02:00:00:00:00:0{port}",
            "pci_addr": f"0000:3b:00.{port}",
            "driver": "double",
            "speed": 10.0,
            "link": "UP",
        }

    def set_port_attr(self, ports, promiscuous):
        """Allow it."""

    def reset(self, ports):
        """Forget all streams."""
        self.remove_all_streams(ports)

    def remove_all_streams(self, ports):
        """Forget them."""
        for port in ports:
            self.streams[port] = []

    def add_streams(self, stream, ports):
        """Keep it."""
        for port in ports:
            self.streams[port].append(stream)

    def clear_stats(self, ports):
        """Count from nothing."""
        self.sent = {}

    def start(self, ports, mult="1", force=False):
        """Begin to send."""
        for port in ports:
            self.began[port] = time.monotonic()

    def get_active_ports(self):
        """Return those whose bursts have not ended."""
        now = time.monotonic()
        return [
            port
            for port, began in self.began.items()
            if any(self._due(port, one, now - began) < one.mode.total_pkts for one in self.streams[port])
        ]

    def stop(self, ports, rx_delay_ms):
        """End it now; one that has ended is let be."""
        now = time.monotonic()
        for port in ports:
            for stream in self.streams[port]:
                if stream.flow_stats is not None and port in self.began:
                    self.sent[stream.flow_stats.pg_id] = (port, self._due(port, stream, now - self.began[port]))
        self.began = {}
        time.sleep(rx_delay_ms / 1000)

    def wait_on_traffic(self, ports, timeout, rx_delay_ms):
        """Wait until it ends."""
        while self.get_active_ports():
            time.sleep(0.001)
        self.stop(ports, rx_delay_ms)

    def _due(self, port, stream, seconds):
        """Return how many frames of a stream are sent after a time."""
        asked = sum(one.mode.pps for one in self.streams[port])
        pace = min(1.0, FASTEST_PPS / asked)
        return min(stream.mode.total_pkts, int(stream.mode.pps * pace * seconds) + 1)

    def get_pgid_stats(self, ids):
        """Counts by stream, with zeros for ports that they are not of."""
        counted = {"global": {"rx_err": {0: 0, 1: 0}, "tx_err": {0: 0, 1: 0}}}
        for name in ids:
            port, out = self.sent[name]
            back = out - out // LOST_OF
            counted[name] = {
                "tx_pkts": {port: out, 1 - port: 0, "total": out},
                "rx_pkts": {port: 0, 1 - port: back, "total": back},
            }
        return {"flow_stats": counted, "latency": {}, "ver_id": {}}

    def get_stats(self, ports):
        """Counts by port: some frames belong to no stream."""
        found = {"global": {"queue_full": 0}, 0: {"ipackets": 0, "ierrors": 0}}
        found[1] = {"ipackets": FOREIGN, "ierrors": MISSED}
        for port, out in self.sent.values():
            found[1 - port]["ipackets"] += out - out // LOST_OF
        return found
