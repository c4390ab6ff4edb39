"""How this machine reaches its cloud: the relay on the loopback, and `clouds.yaml`."""

import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.nodes.relay import HERE
from nfvbed.cloud.devcloud.services.settings import DASHBOARD_PORT, LOOPBACK, MESSAGES_PORT, PORTS, REGION
from nfvbed.cloud.devcloud.waiting import wait_until
from nfvbed.errors import DeployError
from nfvbed.host.ledger.entries import ProcessEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.processes import is_alive
from nfvbed.host.ledger.spawn import spawn

NAME = "nfvbed-devcloud"
"""In `clouds.yaml`."""
RELAY = "relay"
COMPUTE_PORTS = (*(PORTS[name] for name in ("keystone", "glance", "placement", "nova", "neutron")), MESSAGES_PORT)
"""What Nova's compute service and Neutron's agents ask: APIs, and RabbitMQ."""
DASHBOARD = "dashboard"
"""Name of the relay by which Horizon reaches nfvbed's dashboard; no compute node has it."""
DASHBOARD_SOCKET = "dashboard.socket"
"""In the folder that controller and machine share."""
HORIZON_UID = 33
"""User www-data, which Horizon runs as: the same in every Debian. A node has no users of its own."""
_CHECKOUT = Path(__file__).resolve().parents[3]
_READY = "ready"


def relay_runs(entries: Sequence[object], node: str = "") -> bool:
    """Return whether one of a ledger's entries is a relay that runs: this machine's, or that of a compute node."""
    name = _relay_name(node)
    return any(isinstance(e, ProcessEntry) and e.name == name and is_alive(e.pid, e.start_time) for e in entries)


def start_relay(controller: Node, ledger: Ledger) -> None:
    """Start the relay from this machine's loopback to the controller.

    Raises:
        DeployError: it does not listen, as when a port is in use.
    """
    _start(_relay_name(""), (HERE, controller), tuple(PORTS.values()), ledger)


def start_relay_from(node: Node, controller: Node, ledger: Ledger, more: tuple[int, ...] = ()) -> None:
    """Start the relay from a compute node's loopback to the controller: no link joins the two.

    Args:
        more: ports beside those of APIs and messages.

    Raises:
        DeployError: it does not listen.
    """
    _start(_relay_name(node.name), (node, controller), (*COMPUTE_PORTS, *more), ledger)


def start_relay_to_dashboard(controller: Node, ledger: Ledger) -> None:
    """Start the relay from a socket of the controller, only Horizon's, to nfvbed's dashboard on this machine.

    The dashboard need not run: Horizon's panel says so then.

    Raises:
        DeployError: it does not listen.
    """
    words = [str(controller.first_process), str(controller.places.exchange / DASHBOARD_SOCKET), str(HORIZON_UID)]
    argv = [sys.executable, "-m", "nfvbed.cloud.devcloud.nodes.socket_relay", *words, str(DASHBOARD_PORT)]
    fix = "nfvbed devcloud stop, then start"
    _run(_relay_name(DASHBOARD), argv, controller.places.logs / "relay-dashboard.log", (ledger, fix))


def _start(name: str, ends: tuple[Node | str, Node], ports: tuple[int, ...], ledger: Ledger) -> None:
    near, far = ends
    log = (far if isinstance(near, str) else near).places.logs / "relay.log"
    argv = [sys.executable, "-m", "nfvbed.cloud.devcloud.nodes.relay"]
    argv += [near if isinstance(near, str) else str(near.first_process), str(far.first_process), *map(str, ports)]
    _run(name, argv, log, (ledger, f"free its ports on {LOOPBACK}: {', '.join(map(str, ports))}"))


def _run(name: str, argv: list[str], log: Path, kept: tuple[Ledger, str]) -> None:
    """Start a relay and wait until it listens.

    Args:
        log: the file for its output.
        kept: ledger that undoes it, and advice where it ends.
    """
    ledger, fix = kept
    log.unlink(missing_ok=True)
    process = spawn(name, argv, log, ledger, {"PYTHONPATH": str(_CHECKOUT)})

    def missing() -> str:
        if not process.alive():
            raise DeployError(
                f"{name}, which joins the controller and this machine, ended",
                where=str(log),
                observed=process.log_tail(1),
                fix=fix,
            )
        return "" if _READY in log.read_text(errors="replace") else "it does not listen yet"

    wait_until("the relay listens", missing, 15.0)


def _relay_name(node: str) -> str:
    return f"{RELAY}-{node}" if node else RELAY


def clouds_yaml(password: str) -> str:
    """Return the administrator's `clouds.yaml`."""
    auth = {
        "auth_url": f"http://{LOOPBACK}:{PORTS['keystone']}/v3",
        "username": "admin",
        "password": password,
        "project_name": "admin",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }
    document = {"clouds": {NAME: {"auth": auth, "region_name": REGION, "identity_api_version": 3}}}
    text: str = yaml.safe_dump(document, sort_keys=False)
    return text
