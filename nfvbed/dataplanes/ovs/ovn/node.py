"""The node with OVN, declared: ovn-controller beside its Open vSwitch; on the controller both databases and ovn-northd.

Neutron's mechanism driver `ovn` is Neutron's own. Its server connects to both databases when it starts, and does not
come up without them, so it has the driver only where this node is started.
"""

from nfvbed.cloud.devcloud.services import libvirt, nova, openvswitch
from nfvbed.cloud.devcloud.services.computes import ComputeKind
from nfvbed.cloud.devcloud.services.openvswitch import BRIDGES, SwitchSetup
from nfvbed.cloud.devcloud.services.service import Folder, Mechanism, Process, Service
from nfvbed.cloud.devcloud.services.settings import LOOPBACK

HOST = "ovn"
AGENT = "ovn-controller"
"""Its program, by which Neutron lists it as an agent."""
NORTHD = "ovn-northd"
_NORTHBOUND_PORT, _SOUTHBOUND_PORT = 6641, 6642
NORTHBOUND = f"tcp:{LOOPBACK}:{_NORTHBOUND_PORT}"
SOUTHBOUND = f"tcp:{LOOPBACK}:{_SOUTHBOUND_PORT}"
PHYSICAL_NETWORKS = ("mgmt", "data0", "data1")
MAPPINGS = ",".join(f"{name}:{BRIDGES[name]}" for name in PHYSICAL_NETWORKS)
_RUN = "/run/ovn"


def _database(name: str, port: int) -> Process:
    """Return the server of a database, which makes it where it is not there.

    Each has a server of its own: Neutron's driver takes the schema of the southbound one for its northbound one's where
    it finds both at an address.
    """
    path, mark = f"/var/lib/ovn/ovn{name}_db.db", f"{_RUN}/ovn{name}_db"
    create = f"test -e {path} || /usr/bin/ovsdb-tool create {path} /usr/share/ovn/ovn-{name}.ovsschema || exit 1"
    serve = f"exec /usr/sbin/ovsdb-server {path} --remote=ptcp:{port}:{LOOPBACK}"
    words = f"{create}; {serve} --unixctl={mark}.ctl --pidfile={mark}.pid"
    return Process(f"ovn-{name}-database", ("/bin/sh", "-c", words))


CENTRAL = Service(
    "ovn-central",
    folders=(Folder(_RUN, "root:root", 0o755), Folder("/var/lib/ovn", "root:root", 0o755)),
    processes=(
        _database("nb", _NORTHBOUND_PORT),
        _database("sb", _SOUTHBOUND_PORT),
        Process(
            NORTHD,
            (
                "/usr/bin/ovn-northd",
                f"--ovnnb-db={NORTHBOUND}",
                f"--ovnsb-db={SOUTHBOUND}",
                f"--unixctl={_RUN}/{NORTHD}.ctl",
                f"--pidfile={_RUN}/{NORTHD}.pid",
            ),
        ),
    ),
)
_HOST_SERVICE = Service(
    "ovn-host",
    folders=(Folder(_RUN, "root:root", 0o755),),
    processes=(
        Process(AGENT, (f"/usr/bin/{AGENT}", "unix:/run/openvswitch/db.sock", f"--pidfile={_RUN}/{AGENT}.pid")),
    ),
)
KIND = ComputeKind(
    HOST,
    AGENT,
    (openvswitch.SERVICE, _HOST_SERVICE, libvirt.SERVICE, nova.COMPUTE),
    Mechanism(
        "ovn",
        settings=(
            ("ovn_nb_connection", NORTHBOUND),
            ("ovn_sb_connection", SOUTHBOUND),
            # What was made before the driver was there is written into the databases when the server starts.
            ("neutron_sync_mode", "repair"),
            ("ovn_metadata_enabled", "false"),
            ("vhost_sock_dir", "/run/openvswitch"),
        ),
        service_plugins=("ovn-router",),
        forks=True,
        services=(CENTRAL,),
        on_demand=True,
    ),
    switch=SwitchSetup(
        dpdk=True,
        learning=True,
        external_ids=(
            ("system-id", HOST),
            ("hostname", HOST),
            ("ovn-remote", SOUTHBOUND),
            # One chassis has no tunnels, and none is registered without an address for them.
            ("ovn-encap-type", "geneve"),
            ("ovn-encap-ip", LOOPBACK),
            ("ovn-bridge-datapath-type", "netdev"),
            ("ovn-bridge-mappings", MAPPINGS),
        ),
    ),
    ports=(_SOUTHBOUND_PORT,),
)
