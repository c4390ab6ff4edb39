"""Containers that are not healthy: found on a machine with a double of its engine, and told in a stage's error.

Lines of `docker ps` have the form of Docker 26.1 (`{{.Names}}`, `{{.State}}`, `{{.Status}}`, separated by tabs).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.remote.connection import CommandResult
from nfvbed.host.remote.failures import ConnectionLost
from nfvbed.sites.kolla.executor import containerlogs, containers
from nfvbed.sites.kolla.executor.containers import FailingContainer, FailingContainers, ask_all
from nfvbed.sites.kolla.executor.events import PlaybookRun, TaskFailure
from nfvbed.sites.kolla.executor.failures import stage_failed
from nfvbed.sites.kolla.executor.scrub import HIDDEN, Scrubber
from tests.unit.sites.kolla.executor.test_story import SECRET, Silent, failed, stats

SITE = open_project().load_site("rack")
LISTED = (
    "haproxy\trestarting\tRestarting (1) 3 seconds ago\n"
    "keystone\trunning\tUp 4 minutes (healthy)\n"
    "nova_compute\trunning\tUp 4 minutes (unhealthy)\n"
    "mariadb\trunning\tUp 3 seconds (health: starting)\n"
    "bootstrap_nova\texited\tExited (0) 5 minutes ago\n"
    "kolla_toolbox\texited\tExited (137) 1 minute ago\n"
    "cron\trunning\tUp 4 minutes\n"
)
ENGINE = """#!/bin/sh
[ "$1" = ps ] && { [ "$4" = label=kolla_version ] || exit 9; cat "$LISTED"; exit; }
[ "$1" = logs ] && echo "last line of $4" && echo "[ALERT] Not enough file descriptors" >&2
"""
STATUS = """\
× docker.service - Docker Application Container Engine
     Loaded: loaded (/usr/lib/systemd/system/docker.service; enabled; preset: enabled)
     Active: failed (Result: signal) since Fri 2026-11-27 10:05:21 UTC; 11s ago
   Duration: 1.677s
TriggeredBy: ○ docker.socket
    Process: 92 ExecStart=/usr/sbin/dockerd -H fd:// (code=killed, signal=KILL)
   Main PID: 92 (code=killed, signal=KILL)
        CPU: 181ms
"""
"""Status as systemd 257 shows it in a box, where its own lines are in no journal."""
FAILED = TaskFailure("controller", "Apply role loadbalancer", "loadbalancer", "Wait for haproxy", "Timeout")


def on_machine(tmp_path, *roles, **programs):
    """Run the script as on a machine with these programs alone, and return what it prints."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "listed").write_text(LISTED)
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    run = ["/usr/bin/env", "-i", f"PATH={folder}:/usr/bin:/bin", f"LISTED={tmp_path / 'listed'}"]
    script = Path(containerlogs.__file__).read_bytes()
    done = subprocess.run([*run, sys.executable, "-", *roles], input=script, capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(os.getuid() != 0, reason="the script asks with sudo otherwise")
def test_what_is_not_healthy_is_found_with_its_last_lines(tmp_path):
    found = on_machine(tmp_path, docker=ENGINE, journalctl="#!/bin/sh\necho unit $2 failed\n")
    assert found["engine"] == "docker"
    by_name = {one["name"]: one for one in found["containers"]}
    assert list(by_name) == ["haproxy", "nova_compute", "mariadb", "kolla_toolbox"]
    assert by_name["haproxy"]["said"] == ["last line of haproxy", "[ALERT] Not enough file descriptors"]
    assert by_name["haproxy"]["journal"] == ["unit kolla-haproxy-container.service failed"]


@pytest.mark.skipif(os.getuid() != 0, reason="the script asks with sudo otherwise")
def test_an_engine_that_does_not_answer_is_told(tmp_path, monkeypatch):
    said = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
    last = 'time="2026-11-27T10:05:20Z" level=info msg="API listen on /run/docker.sock"'
    dead = f"#!/bin/sh\necho '{said}' >&2; exit 1\n"
    journal = f"#!/bin/sh\n[ $2 = docker.service ] && echo '{last}'\n"
    systemctl = f"#!/bin/sh\n[ $5 = docker.service ] && cat <<'END'\n{STATUS}END\nexit 3\n"
    found = on_machine(tmp_path, docker=dead, journalctl=journal, systemctl=systemctl)
    assert (found["containers"], found["refused"]) == ([], said)
    HostDouble.answers = {host.address: answer() for host in SITE.hosts.values()}
    HostDouble.answers[SITE.hosts["compute1"].address] = json.dumps(found)
    monkeypatch.setattr(containers, "SshHost", HostDouble)
    assert ask_all(SITE, (FAILED,), Scrubber()).shown() == (
        f"docker of compute1 does not answer: {said}",
        f"  docker.service: {last}",
        "  docker.service: Active: failed (Result: signal) since Fri 2026-11-27 10:05:21 UTC; 11s ago",
        "  docker.service: Main PID: 92 (code=killed, signal=KILL)",
    )


@pytest.mark.skipif(os.getuid() != 0, reason="the script asks with sudo otherwise")
def test_healthy_ones_of_the_role_that_failed_come_after_those_that_are_not(tmp_path):
    found = on_machine(tmp_path, "keystone", docker=ENGINE, journalctl="#!/bin/sh\n")
    assert [one["name"] for one in found["containers"]][-2:] == ["kolla_toolbox", "keystone"]


@pytest.mark.parametrize(
    ("role", "own"),
    [
        ("mariadb", {"mariadb", "mariadb_clustercheck"}),
        ("nova-cell", {"nova_compute", "nova_libvirt"}),
        ("ovs-dpdk", {"ovsdpdk_db"}),
        ("service-ks-register", set()),
        ("keystone", {"keystone", "keystone_fernet"}),
    ],
)
def test_the_containers_of_a_role(role, own):
    every = ("mariadb", "mariadb_clustercheck", "nova_compute", "nova_libvirt", "ovsdpdk_db", "keystone")
    assert {name for name in (*every, "keystone_fernet") if containerlogs.is_of(name, [role])} == own


def test_the_last_lines_of_a_service_s_own_file(tmp_path, monkeypatch):
    monkeypatch.setattr(containerlogs, "LOGS", tmp_path)
    monkeypatch.setattr(containerlogs.os, "getuid", lambda: 0)
    (tmp_path / "nova").mkdir()
    (tmp_path / "nova" / "nova-compute.log").write_text("".join(f"line {number}\n" for number in range(40)))
    assert containerlogs.last_of_file("nova_compute")[-1] == "line 39"
    assert len(containerlogs.last_of_file("nova_compute")) == containerlogs.LINES
    assert containerlogs.last_of_file("keystone") == []


class HostDouble:
    """A machine over SSH, by its address."""

    answers: dict[str, str] = {}
    roles: dict[str, list[str]] = {}

    def __init__(self, way, _folder):
        self.address = way.address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, argv, *, data, timeout_s):
        """Answer, or be gone."""
        assert argv[:2] == ["python3", "-"] and b"kolla_version" in data and timeout_s
        self.roles[self.address] = argv[2:]
        if self.address not in self.answers:
            raise ConnectionLost("10.10.0.x does not answer", where="ssh", observed="", fix="")
        return CommandResult(0, self.answers[self.address].encode(), "")


def container(name, state="restarting", status="Restarting (1) 2 seconds ago", **more):
    return {"name": name, "state": state, "status": status, "unit": f"kolla-{name}-container.service", **more}


def answer(*found):
    return json.dumps({"engine": "docker", "containers": found})


def test_all_machines_are_asked_and_the_named_container_comes_first(monkeypatch):
    starting = container("aa", "running", "Up 1 second (health: starting)")
    lines = [f"password={SECRET}", "[ALERT] Not enough file descriptors"]
    shared = TaskFailure("compute1", "Apply role nova", "service-check-containers", "Check containers for nova", "no")
    HostDouble.answers = {
        SITE.hosts["controller"].address: answer(starting, container("mariadb"), container("haproxy", said=lines)),
        SITE.hosts["compute1"].address: answer(container("nova_compute", "exited", "Exited (1) 3 seconds ago")),
    }
    monkeypatch.setattr(containers, "SshHost", HostDouble)
    found = ask_all(SITE, (FAILED, shared), Scrubber([SECRET]))
    named = [(machine, one.name) for machine, one in found.of_machines]
    assert named[0] == ("controller", "haproxy") and named[-1] == ("controller", "aa")
    assert found.not_asked == ("containers of compute2 are not known: 10.10.0.x does not answer",)
    assert found.of_machines[0][1].said == (f"password={HIDDEN}", lines[1])
    assert SECRET not in "\n".join(containers.whole(found))
    of_roles = {host: HostDouble.roles[SITE.hosts[host].address] for host in ("controller", "compute1")}
    assert of_roles == {"controller": ["loadbalancer"], "compute1": ["nova", "service-check-containers"]}


def test_a_machine_that_could_not_be_reached_is_not_asked(monkeypatch):
    HostDouble.answers = {host.address: answer() for host in SITE.hosts.values()}
    monkeypatch.setattr(containers, "SshHost", HostDouble)
    dead = TaskFailure("compute2", "", "", "", "gone", unreachable=True)
    del HostDouble.answers[SITE.hosts["compute2"].address]
    assert ask_all(SITE, (dead,), Scrubber()) == FailingContainers()


def test_an_error_has_machine_container_task_and_the_container_s_own_last_lines():
    story = PlaybookRun(Scrubber(), Silent())
    story.take(failed("controller", "Timeout when waiting for 10.10.0.10:61313"))
    story.take(stats(failures=["controller"]))
    one = FailingContainer.model_validate(
        container("haproxy", said=["cannot raise FD limit"], journal=["Main process exited", "cannot raise FD limit"])
    )
    found = FailingContainers((("controller", one),), ("containers of compute2 are not known: gone",))
    error = stage_failed("deploy on site rack", story, SITE, "/logs/deploy.log", found)
    assert error.where == "controller, role nova-cell, task 'Wait'"
    assert error.observed.splitlines() == [
        "Timeout when waiting for 10.10.0.10:61313",
        "container haproxy on controller: Restarting (1) 2 seconds ago",
        "  cannot raise FD limit",
        "  kolla-haproxy-container.service: Main process exited",
        "containers of compute2 are not known: gone",
    ]
    assert error.fix.startswith("correct what container haproxy on controller says;")


def error_with(one, said="Container exited with non-zero return code 1"):
    """Return the error of a task that says nothing of its reason, where one container is there."""
    story = PlaybookRun(Scrubber(), Silent())
    story.take(failed("controller", said))
    story.take(stats(failures=["controller"]))
    found = FailingContainers((("compute1", FailingContainer.model_validate(one)),))
    return stage_failed("deploy on site rack", story, SITE, "/logs/deploy.log", found)


def test_what_a_container_says_of_a_disk_or_a_password_is_the_next_step():
    full = container("bootstrap_keystone", "exited", "Exited (1) now", said=["mkdir: No space left on device"])
    assert error_with(full).fix.startswith("make room on compute1")
    refused = container("nova_conductor", file=["Access denied for user 'nova'@'controller'"])
    assert "a service on compute1 has another password" in error_with(refused).fix


def test_a_healthy_container_s_old_lines_are_shown_and_are_no_cause():
    well = container("mariadb", "running", "Up 3 minutes (healthy)", file=["Access denied for user 'x'@'controller'"])
    error = error_with(well)
    assert "container mariadb on compute1: Up 3 minutes (healthy)" in error.observed
    assert "its file: Access denied" in error.observed
    assert error.fix.startswith("correct on controller what the task says")
