"""How this machine reaches its cloud: the relay on the loopback, and `clouds.yaml`."""

import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from nfvbed.errors import DeployError
from nfvbed.host.entries import ProcessEntry
from nfvbed.host.ledger import Ledger
from nfvbed.host.processes import is_alive
from nfvbed.host.spawn import spawn
from nfvbed.sites.openstack.nodes.node import Node
from nfvbed.sites.openstack.services.settings import LOOPBACK, PORTS, REGION
from nfvbed.sites.openstack.waiting import wait_until

NAME = "nfvbed-devcloud"
"""In `clouds.yaml`."""
RELAY = "relay"
_CHECKOUT = Path(__file__).resolve().parents[3]
_READY = "ready"


def relay_runs(entries: Sequence[object]) -> bool:
    """Whether one of a ledger's entries is a relay that runs."""
    return any(isinstance(e, ProcessEntry) and e.name == RELAY and is_alive(e.pid, e.start_time) for e in entries)


def start_relay(node: Node, ledger: Ledger) -> None:
    """Start the relay into a node.

    Raises:
        DeployError: it does not listen, as when a port is in use.
    """
    log = node.places.logs / "relay.log"
    log.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "nfvbed.sites.openstack.nodes.relay"]
    argv += [str(node.first_process), *map(str, PORTS.values())]
    process = spawn(RELAY, argv, log, ledger, {"PYTHONPATH": str(_CHECKOUT)})

    def missing() -> str:
        if not process.alive():
            raise DeployError(
                "the relay of the APIs ended",
                where=str(log),
                observed=process.log_tail(1),
                fix=f"free its ports on {LOOPBACK}: {', '.join(map(str, PORTS.values()))}",
            )
        return "" if _READY in log.read_text(errors="replace") else "it does not listen yet"

    wait_until("the relay listens", missing, 15.0)


def clouds_yaml(password: str) -> str:
    """Return `clouds.yaml` of the administrator."""
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
