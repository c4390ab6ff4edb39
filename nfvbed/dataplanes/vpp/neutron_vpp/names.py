"""What the driver, the agent and the starter of VPP share: names, and the file for the agent."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

AGENT_TYPE = "VPP agent"
BINARY = "nfvbed-vpp-agent"
FOLDER = Path("/run/nfvbed")
"""Folder of a node, for sockets of guests and of VPP."""
SETTINGS = FOLDER / "vpp-agent.json"
API = FOLDER / "vpp" / "api.sock"
NETWORK_TYPES = ("flat", "vlan", "local")
_ID = 11
"""Characters of a port's id in the name of its socket, as in names of devices."""


@dataclass(frozen=True)
class Uplink:
    """VPP's interface that leads to a physical network."""

    kind: str
    """`device`: a network device, opened with a packet socket; `vhost-user`: client of a socket; `memif`: served;
    `interface`: one that VPP has made when it started, as those of NICs."""
    address: str
    """The device or the interface; of sockets the name in the folder of sockets."""
    ring_size: int = 1024
    """Descriptors of a memif."""


@dataclass(frozen=True)
class AgentSettings:
    """The agent's settings; it reads the file whenever it has connected to a VPP."""

    folder: str
    """Where sockets are, as VPP sees it."""
    uplinks: Mapping[str, Uplink] = field(default_factory=dict)
    """By physical network."""
    forwarding: str = "bridge-domain"
    """`l2-cross-connect`: a network with two interfaces joins them, one with more is a domain that learns."""
    mac_table_size: int | None = None
    """Addresses that a domain may learn; None: VPP's default."""

    def text(self) -> str:
        """Return the file's content."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def parse(cls, text: str) -> "AgentSettings":
        """Parse the file's content.

        Raises:
            ValueError: it is no such file.
        """
        try:
            found = json.loads(text)
            uplinks = {name: Uplink(**one) for name, one in found.pop("uplinks").items()}
            return cls(uplinks=uplinks, **found)
        except (KeyError, TypeError, AttributeError) as failure:
            raise ValueError(f"not the settings of the agent: {failure}") from failure


def socket_name(port: str) -> str:
    """Return the name of the socket of a Neutron port; its guest serves the socket."""
    return f"vhu{port[:_ID]}"
