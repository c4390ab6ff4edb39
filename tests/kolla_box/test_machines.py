"""The machines of a box: started, reached, restarted, cabled, killed half-way, and gone without a trace."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from nfvbed.cloud.box.box import find_box
from nfvbed.cloud.box.machine import Machine
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.ledger.processes import is_alive, start_time
from tests.kolla_box.boxrack import CHECKOUT, made, waited

START = ("rack", "start", "--no-images")
"""Images take minutes, and are of what is deployed."""
MACHINES = ("controller", "compute1", "compute2", "generator")
pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2700)]


@pytest.fixture(name="rack", scope="module")
def _rack(tmp_path_factory):
    with made(tmp_path_factory.mktemp("box"), registry=False) as rack:
        rack.nfvbed(*START, timeout_s=2400)
        yield rack


def ssh(rack, machine, *words):
    """Run a command over SSH, as Ansible would: from the network of the box, with its key and its host keys."""
    spec = open_project(rack.root).load_site("box")
    way = spec.reached(machine)
    space = find_box(spec, rack.root).require_space()
    argv = ["nsenter", f"--net={space}", "ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]
    argv += ["-o", f"UserKnownHostsFile={way.known_hosts}", "-i", str(way.key), f"{way.user}@{way.address}", *words]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_each_machine_has_systemd_sshd_and_an_engine_of_its_own(rack):
    ids = set()
    for name in MACHINES:
        assert ssh(rack, name, "hostname", "-s") == name
        assert ssh(rack, name, "cat", "/proc/1/comm") == "systemd"
        assert json.loads(ssh(rack, name, "docker info --format '{{json .}}'"))["Driver"] == "overlay2"
        ids.add(ssh(rack, name, "cat", "/proc/sys/kernel/random/boot_id"))
    assert len(ids) == len(MACHINES)
    found = rack.status()
    assert found["up"] and {one["systemd"] for one in found["machines"]} == {"running"}
    assert found["problems"] == [] and not [port for port in found["ports"] if port["error"]]


def test_a_module_that_is_asked_for_is_there(rack):
    assert ssh(rack, "compute1", "python3 -c 'open(\"/proc/modules\")'; modprobe openvswitch; echo $?") == "0"


def heard(listening):
    """Return what was heard by a moment after all was sent."""
    time.sleep(1.0)
    os.killpg(listening.pid, signal.SIGTERM)
    return listening.communicate(timeout=30)[0]


def test_frames_between_machines_have_the_vlan_of_the_access_port(rack):
    computes = [rack.listen(name, "dp0", "-c", "1", "ether proto 0x88b5 or vlan") for name in ("compute1", "compute2")]
    rack.send("generator", "dp0", "ffffffffffff")
    for listening in computes:
        assert re.search(r"vlan 200\b", listening.communicate(timeout=90)[0])
    near, far = (rack.listen("generator", name, "-c", "1", "ether proto 0x88b5 or vlan") for name in ("dp1", "dp0"))
    rack.send("compute1", "dp0", "ffffffffffff", tag=201)
    got = near.communicate(timeout=90)[0]
    assert "0x88b5" in got and "vlan" not in got
    assert "0x88b5" not in heard(far)


def test_networks_and_vlans_that_are_not_of_a_port_do_not_pass(rack):
    away = rack.listen("controller", "ex0", "-c", "1", "ether proto 0x88b5 or vlan")
    beside = rack.listen("compute2", "dp0", "-c", "1", "ether proto 0x88b5 or vlan")
    rack.send("compute1", "dp0", "ffffffffffff", tag=300)
    for listening in (away, beside):
        assert "0x88b5" not in heard(listening)


def test_a_restart_keeps_cables_and_starts_everything_again(rack):
    before = ssh(rack, "compute1", "cat /proc/sys/kernel/random/boot_id; ip -brief link show dp0").splitlines()
    ssh(
        rack,
        "compute1",
        "mkdir -p /etc/default/grub.d; echo 'GRUB_CMDLINE_LINUX=isolcpus=1' > "
        "/etc/default/grub.d/isolated.cfg; update-grub",
    )
    # As systemd does for a container engine, whose containers have limits; a machine starts in the same control group.
    rack.on("compute1", "sh", "-c", "echo +hugetlb >/sys/fs/cgroup/cgroup.subtree_control")
    rack.on("compute1", "systemctl", "reboot")
    waited("the machine starts again", lambda: starts(rack, "compute1") == 2)
    waited("systemd has started everything", lambda: systemd(rack, "compute1") == "running")
    after = ssh(rack, "compute1", "cat /proc/sys/kernel/random/boot_id; ip -brief link show dp0").splitlines()
    assert after[0] != before[0] and after[1] == before[1]
    assert ssh(rack, "compute1", "cat /sys/devices/system/cpu/isolated; docker ps -q; hostname -s") == "1\ncompute1"
    listening = rack.listen("compute1", "dp0", "-c", "1", "ether proto 0x88b5 or vlan")
    rack.send("generator", "dp0", "ffffffffffff")
    assert "vlan 200" in listening.communicate(timeout=90)[0]


def starts(rack, name):
    return next(one["starts"] for one in rack.look()["machines"] if one["name"] == name)


def systemd(rack, name):
    return next(one["systemd"] for one in rack.look()["machines"] if one["name"] == name)


def test_a_machine_that_is_off_is_started_with_its_cables(rack):
    rack.on("compute2", "systemctl", "poweroff")
    waited("the machine is off", lambda: systemd(rack, "compute2") == "off")
    assert "machine compute2 of site box does not run" in rack.refused("rack", "shell", "compute2", "true")
    rack.nfvbed(*START)
    assert ssh(rack, "compute2", "hostname", "-s") == "compute2"
    listening = rack.listen("compute2", "dp0", "-c", "1", "ether proto 0x88b5 or vlan")
    rack.send("generator", "dp1", "ffffffffffff")
    assert "vlan 201" in listening.communicate(timeout=90)[0]


def test_a_shell_is_in_the_machine_s_own_root(rack):
    assert rack.on("compute1", "sh", "-c", "pwd; hostname").split() == ["/", "compute1"]


def test_logs_are_of_units_and_of_nothing_else(rack):
    assert "Server listening" in rack.nfvbed("rack", "logs", "controller", "ssh")
    assert "has no container and no journal of mariadb" in rack.refused("rack", "logs", "controller", "mariadb")


def test_what_a_killed_start_left_is_gone_with_a_stop(rack):
    rack.nfvbed("rack", "stop")
    assert rack.traces() == []
    for after in ("controller", "generator"):
        argv = [sys.executable, "-m", "nfvbed", *START]
        starting = subprocess.Popen(
            argv, env=rack.environment, cwd=CHECKOUT, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        waited("a machine is started", rack.places.machine(after).state.exists)
        starting.send_signal(signal.SIGKILL)
        starting.wait()
        assert rack.traces() != []
        rack.nfvbed("rack", "stop")
        assert rack.traces() == [], after
    rack.nfvbed(*START)
    assert ssh(rack, "controller", "hostname", "-s") == "controller"


def test_a_keeper_that_is_killed_takes_its_machine_along(rack):
    box = find_box(open_project(rack.root).load_site("box"), rack.root)
    machine = box.machine("generator")
    pid = machine.boot().pid
    began = start_time(pid)
    os.kill(machine._keeper.pid, signal.SIGKILL)
    waited("its first process has ended", lambda: not is_alive(pid, began))
    assert Machine.find(rack.places.machine("generator"), box._open_ledger().entries) is None
