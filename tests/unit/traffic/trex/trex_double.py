"""Stands for TRex's module `trex.stl.api`: a double whose two ports are joined, with one frame in a hundred lost.

It is copied into a folder that looks like TRex's; nothing is sent. What it counts is what its streams say.
"""

import time


class TRexError(Exception):
    """As TRex's."""


class Layer:
    """Stands for a header of Scapy's: layers are joined with `/`."""

    sizes = {"Ether": 14, "Dot1Q": 4, "IP": 20, "IPv6": 40, "UDP": 8}

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


class Keys:
    """Whatever is given by name."""

    def __init__(self, **keys):
        self.__dict__.update(keys)


class STLPktBuilder(Keys):
    """Frame and its changes."""


class STLTXCont(Keys):
    """Sends until it is stopped."""


class STLTXSingleBurst(Keys):
    """Sends so many."""


class STLFlowStats(Keys):
    """How a stream is counted."""


class STLStream(Keys):
    """What is sent."""

    flow_stats = None


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

    def fix_chksum_hw(self, **keys):
        """Keep it."""
        self.asked.append(("checksum", keys))


LINE_RATE_PPS = 1_000_000
LOST_OF = 100


class STLClient:
    """Counts what its streams would send."""

    def __init__(self, server):
        self.server = server
        self.streams = {0: [], 1: []}
        self.by_id = {}
        self.arrived = {0: 0, 1: 0}
        self.ends_at = 0.0

    def connect(self):
        """Answer at once."""

    def acquire(self, ports, force):
        """Allow it."""

    def get_server_version(self):
        """A version that is none of TRex's."""
        return {"version": "double"}

    def get_port_attr(self, port):
        """Two NICs."""
        return {
            "src_mac": f"02:00:00:00:00:0{port}",
            "pci_addr": f"0000:3b:00.{port}",
            "driver": "double",
            "speed": 10,
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
        self.by_id, self.arrived = {}, {0: 0, 1: 0}

    def start(self, ports, mult="1", force=False, duration=None):
        """Count all frames that will be sent."""
        for port in ports:
            for stream in self.streams[port]:
                pps = LINE_RATE_PPS if mult == "100%" else stream.mode.pps
                frames = stream.mode.total_pkts if isinstance(stream.mode, STLTXSingleBurst) else round(pps * duration)
                came = frames - frames // LOST_OF
                self.arrived[1 - port] += came
                if stream.flow_stats is not None:
                    counted = {"tx_pkts": {port: frames}, "rx_pkts": {1 - port: came}}
                    self.by_id[stream.flow_stats.pg_id] = counted
        self.ends_at = time.monotonic() + (duration or 0.01)

    def stop(self, ports):
        """End it now."""
        self.ends_at = 0.0

    def wait_on_traffic(self, ports, timeout, rx_delay_ms):
        """Wait until it ends."""
        while time.monotonic() < self.ends_at:
            time.sleep(0.005)

    def get_pgid_stats(self, ids):
        """Counts by stream."""
        return {"flow_stats": {name: self.by_id[name] for name in ids}}

    def get_stats(self, ports):
        """Counts by port: seven frames are nobody's."""
        return {0: {"ipackets": self.arrived[0]}, 1: {"ipackets": self.arrived[1] + 7}, "global": {"queue_full": 0}}
