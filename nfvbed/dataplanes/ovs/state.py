"""What is recorded of a running Open vSwitch."""

from nfvbed.records.state import Cores, State


class OvsState(State):
    """The bridge, and the paths of its instance's sockets."""

    database: str
    """Socket of ovsdb-server."""
    unixctl: str
    """Control socket of ovs-vswitchd."""
    openflow: str
    """Management socket of the bridge."""
    netns: str
    """Path of the network namespace that the switch runs in."""
    bridge: str
    steering: str
    """Kind of the writer of its rules; `normal`: one rule, a learning switch; `push-vlan`: rules that put a tag on."""
    control_cores: Cores
    daemon_cores: Cores
    """Where ovs-vswitchd's own threads may run."""
    programs: str | None = None
    """Folder of its programs; None: of a deployment by an nfvbed that knew the default one alone."""
