"""Roles for agents of Neutron's on an emulated machine: podman runs real ones, in an image that starts as Kolla's.

There is no Neutron server: an agent starts, takes its settings and its devices, and asks for RabbitMQ, which nobody
answers. That it would be alive in Neutron is not shown.
"""

import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.kolla.guests import IGB, ROOT, Guest, Played

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(3600)]
"""An emulated machine takes minutes to unpack the image, and a second for each task."""
ARCHIVE = ROOT / ".nfvbed" / "kolla-agents" / "image.tar"
IMAGE = "kolla/neutron-openvswitch-agent:tried"
KOLLAS = "neutron_openvswitch_agent"
NO_SERVER = "Connection failed: .*ECONNREFUSED"
"""Message of oslo.messaging: the agent has its settings and its devices, and asks for the server."""
LOAD_S, WAIT_S = 1800, 900
# As Kolla's template has it, with a server that is not there.
NEUTRON_CONF = """[DEFAULT]
log_dir = /var/log/kolla/neutron
transport_url = rabbit://openstack:secret@127.0.0.1:5672//

[agent]
root_helper = sudo neutron-rootwrap /etc/neutron/rootwrap.conf

[oslo_concurrency]
lock_path = /var/lib/neutron/tmp

[privsep]
helper_command = sudo neutron-rootwrap /etc/neutron/rootwrap.conf privsep-helper
"""
ENGINE = {"kolla_container_engine": "podman"}


@pytest.fixture(name="machine", scope="module")
def _machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """Start a machine whose podman has the image; loading it takes as long as a test."""
    assert ARCHIVE.is_file(), f"{ARCHIVE} is not there: run setup/kolla-agents"
    with Guest(tmp_path_factory.mktemp("agents"), (2048, 1024), ARCHIVE.parent) as guest:
        guest.run("mount", "-t", "9p", "-o", "version=9p2000.L,msize=524288,ro", "shared", "/mnt")
        guest.run("podman", "load", "--input", f"/mnt/{ARCHIVE.name}", timeout_s=LOAD_S)
        yield guest


@pytest.fixture(name="guest")
def _guest(machine: Guest) -> Iterator[Guest]:
    """Yield the machine, and take Kolla's agent away after the test."""
    yield machine
    machine.run("podman", "rm", "--force", "--ignore", KOLLAS)
    machine.run("rm", "-rf", "/etc/kolla")


def play(guest: Guest, playbook: str, variables: dict[str, Any]) -> Played:
    """Run a playbook, which must succeed."""
    played = guest.play(playbook, variables)
    assert played.status == 0, played.output
    return played


def refused(guest: Guest, variables: dict[str, Any]) -> str:
    """Tune a machine that cannot be tuned so, and return what is said."""
    played = guest.play("tune.yml", variables)
    assert played.status != 0 and played.counts["failed"] == 1, played.output
    return " ".join(played.output.split())


def converged(guest: Guest, variables: dict[str, Any]) -> None:
    """Tune the machine twice; the second time nothing changes."""
    assert play(guest, "tune.yml", variables).counts["changed"] > 0
    again = play(guest, "tune.yml", variables)
    assert again.counts["changed"] == 0, again.output


def as_kolla_leaves_it(guest: Guest) -> None:
    """Make the container and the settings of Kolla's agent; the container is not started."""
    guest.run("podman", "create", "--name", KOLLAS, "--network", "host", IMAGE)
    guest.run("mkdir", "-p", "/etc/kolla/neutron-openvswitch-agent")
    guest.run("sh", "-c", f"cat > /etc/kolla/neutron-openvswitch-agent/neutron.conf <<'END'\n{NEUTRON_CONF}END")


def log_with(guest: Guest, kind: str, wanted: str) -> str:
    """Wait until the agent's own log has a line, and return the log."""
    name = f"/var/lib/containers/storage/volumes/kolla_logs/_data/neutron/{kind}.log"
    deadline = time.monotonic() + WAIT_S
    while not re.search(wanted, found := guest.run("cat", name, check=False)):
        assert time.monotonic() < deadline, f"{wanted}\n{found}{journal(guest, '*')}"
        time.sleep(2)
    return found


def journal(guest: Guest, kind: str) -> str:
    """Return what the container said."""
    return guest.run("journalctl", "--no-pager", "-n", "60", "-u", f"nfvbed-{kind}-agent.service", check=False)


def container(guest: Guest, kind: str) -> dict[str, Any]:
    """Return what the engine says of the agent's container."""
    found = json.loads(guest.run("podman", "inspect", f"nfvbed_{kind}_agent"))[0]
    assert isinstance(found, dict)
    return found


def device_of(guest: Guest) -> str:
    """Return the name of igb's device."""
    return guest.run("ls", f"/sys/bus/pci/devices/{IGB}/net").strip()


def taken_back(guest: Guest, kind: str, variables: dict[str, Any]) -> None:
    """Undo the role; Kolla's own container and settings stay."""
    play(guest, "undo-tune.yml", variables)
    assert guest.run("podman", "ps", "--all", "--format", "{{.Names}}").split() == [KOLLAS]
    assert not guest.has(f"/etc/kolla/nfvbed-{kind}-agent")
    assert not guest.has(f"/etc/systemd/system/nfvbed-{kind}-agent.service")
    assert guest.has("/etc/kolla/neutron-openvswitch-agent/neutron.conf")
    assert play(guest, "undo-tune.yml", variables).counts["changed"] == 0


def test_macvtap_agent(guest):
    device = device_of(guest)
    variables: dict[str, Any] = {**ENGINE, "nfvbed_roles": ["nfvbed_macvtap_agent"]}
    variables["nfvbed_macvtap_agent_mappings"] = f"data:{device}"
    assert "not there" in refused(guest, variables | {"nfvbed_macvtap_agent_mappings": "data:eth9"})
    assert f"compute1 has no container {KOLLAS}" in refused(guest, variables)
    as_kolla_leaves_it(guest)

    converged(guest, variables)

    assert container(guest, "macvtap")["State"]["Status"] == "running"
    settings = guest.run("podman", "exec", "nfvbed_macvtap_agent", "cat", "/etc/neutron/macvtap_agent.ini")
    assert f"physical_interface_mappings = data:{device}" in settings
    found = log_with(guest, "neutron-macvtap-agent", NO_SERVER)
    assert f"Interface mappings: {{'data': '{device}'}}" in found, found
    # Neutron's choice: of all NICs of the machine, the first that has an address.
    addresses = guest.run("sh", "-c", "cat /sys/class/net/*/address").replace(":", "").split()
    known = re.search(r"RPC agent_id: macvtap(\w+)", found)
    assert known and known[1] in addresses, found

    guest.restart()
    log_with(guest, "neutron-macvtap-agent", r"(?s)(Interface mappings.*){2}")
    assert play(guest, "tune.yml", variables).counts["changed"] == 0
    taken_back(guest, "macvtap", variables)


def test_sriov_agent(guest):
    device = device_of(guest)
    variables: dict[str, Any] = {**ENGINE, "nfvbed_roles": ["nfvbed_sriov_agent"]}
    variables["nfvbed_sriov_agent_mappings"] = f"vf:{device}"
    as_kolla_leaves_it(guest)
    assert f"{device} of compute1 has no virtual functions" in refused(guest, variables)
    play(guest, "prepare.yml", {"nfvbed_sriov_functions": [{"pci": IGB, "functions": 2}]})

    converged(guest, variables)

    assert container(guest, "sriov")["State"]["Status"] == "running"
    found = log_with(guest, "neutron-sriov-nic-agent", NO_SERVER)
    assert f"Physical Devices mappings: {{'vf': ['{device}']}}" in found, found

    guest.restart()
    log_with(guest, "neutron-sriov-nic-agent", r"(?s)(Physical Devices mappings.*){2}")
    assert play(guest, "tune.yml", variables).counts["changed"] == 0
    taken_back(guest, "sriov", variables)
