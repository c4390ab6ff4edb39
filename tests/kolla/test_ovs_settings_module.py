"""The module that sets Open vSwitch's database, and the program for ports of instances, on a real ovsdb-server."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nfvbed.dataplanes.ovs.binaries import locate
from tests.functional.xdp_driver import Namespace
from tests.kolla.genconfig import ENVIRONMENT, ROOT

LIBRARY = ROOT / "deploy/roles/nfvbed_ovs/library"
TAPS = ROOT / "deploy/roles/nfvbed_afxdp/files/nfvbed-afxdp-taps"
TIMEOUT_S = 60
MASKS = {"other_config:pmd-cpu-mask": "0x4", "other_config:dpdk-lcore-mask": "0x2"}


class Server:
    """A database server of the test's own, and nothing that switches."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vsctl = [str(locate(ROOT).root / "usr/bin/ovs-vsctl"), f"--db=unix:{folder}/db", "--no-wait"]
        self.journal = folder / "state" / "journal.json"

    def run(self, *words: str) -> str:
        """Run ovs-vsctl."""
        done = subprocess.run([*self.vsctl, *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        return done.stdout.strip()

    def module(self, *more: str, **parameters: Any) -> dict[str, Any]:
        """Have Ansible run the module, and return what it gives back."""
        parameters = {"vsctl": self.vsctl, "journal": str(self.journal)} | parameters
        argv = [str(ENVIRONMENT / "bin/ansible"), "localhost", "-c", "local", "-m", "nfvbed_ovs_settings"]
        done = subprocess.run(
            [*argv, "-M", str(LIBRARY), "-a", json.dumps(parameters), *more],
            env={
                "PATH": f"{ENVIRONMENT / 'bin'}:{os.environ['PATH']}",
                "HOME": str(self.folder),
                "LANG": "C.UTF-8",
                "ANSIBLE_NOCOLOR": "1",
                "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            },
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert "=>" in done.stdout, done.stdout + done.stderr
        return json.loads(done.stdout.partition("=>")[2])


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Server]:
    binaries = locate(ROOT)
    made = [binaries.ovsdb_tool, "create", tmp_path / "conf.db", binaries.schema]
    subprocess.run(made, check=True, timeout=TIMEOUT_S)
    argv = [binaries.ovsdb_server, tmp_path / "conf.db", f"--remote=punix:{tmp_path}/db", "-vfile:off", "-vsyslog:off"]
    environment = os.environ | {"OVS_RUNDIR": str(tmp_path)}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + TIMEOUT_S
        while not (tmp_path / "db").exists():
            assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.05)
        server = Server(tmp_path)
        server.run("init")
        yield server
    finally:
        process.kill()
        process.wait()


def test_only_what_differs_is_set_and_what_was_there_comes_back(server):
    server.run("set", "Open_vSwitch", ".", "other_config:pmd-cpu-mask=0x2", "other_config:emc-insert-inv-prob=7")
    wanted = {"table": "Open_vSwitch", "record": ".", "values": MASKS}
    wanted["restart_for"] = ["other_config:dpdk-lcore-mask"]
    tried = server.module("--check", **wanted)
    assert tried["changed"] and server.run("get", "Open_vSwitch", ".", "other_config:pmd-cpu-mask") == '"0x2"'

    first = server.module(**wanted)
    assert first["changed"] and first["restart"]
    assert first["changes"] == {
        "other_config:pmd-cpu-mask": {"before": "0x2", "after": "0x4"},
        "other_config:dpdk-lcore-mask": {"before": None, "after": "0x2"},
    }
    second = server.module(**wanted)
    assert not second["changed"] and second["restart"], "nobody has restarted the switch since"
    assert server.module(state="settled")["changed"]
    third = server.module(**wanted)
    assert not third["changed"] and not third["restart"]

    server.module(**(wanted | {"values": {"other_config:pmd-cpu-mask": "0x8"}}))
    assert server.run("get", "Open_vSwitch", ".", "other_config:pmd-cpu-mask") == '"0x8"'
    back = server.module(state="restored", restart_for=wanted["restart_for"])
    assert back["changed"] and back["restart"]
    assert server.run("get", "Open_vSwitch", ".", "other_config") == '{emc-insert-inv-prob="7", pmd-cpu-mask="0x2"}'
    assert not server.journal.exists()
    assert not server.module(state="restored")["changed"]


def test_columns_of_an_interface_are_texts_numbers_and_maps(server):
    server.run("add-br", "br0", "--", "add-port", "br0", "p0", "--", "set", "Interface", "p0", "type=internal")
    values = {"type": "dpdk", "mtu_request": 9000, "options:dpdk-devargs": "class=eth,mac=52:54:00:00:00:01"}
    wanted = {"table": "Interface", "record": "p0", "values": values | {"other_config:pmd-rxq-affinity": "0:2,1:3"}}
    assert server.module(**wanted)["changed"]
    assert not server.module(**wanted)["changed"]
    assert server.run("get", "Interface", "p0", "mtu_request") == "9000"
    assert server.run("get", "Interface", "p0", "options:dpdk-devargs") == '"class=eth,mac=52:54:00:00:00:01"'
    gone = server.module(**(wanted | {"values": {"other_config:pmd-rxq-affinity": None}}))
    assert gone["changes"] == {"other_config:pmd-rxq-affinity": {"before": "0:2,1:3", "after": None}}

    server.module(state="restored")
    assert server.run("get", "Interface", "p0", "type") == "internal"
    assert server.run("get", "Interface", "p0", "mtu_request") == "[]"
    assert server.run("get", "Interface", "p0", "options") == "{}"


def test_what_cannot_be_set_is_said_and_nothing_is_kept(server):
    missing = server.module(table="Interface", record="p7", values={"type": "dpdk"})
    assert "Open vSwitch has no p7 in its table Interface" in missing["msg"]
    assert not server.journal.exists()
    server.journal.parent.mkdir(exist_ok=True)
    server.journal.write_text("{")
    assert "is damaged" in server.module(table="Open_vSwitch", record=".", values=MASKS)["msg"]


def test_ports_of_instances_become_afxdp_sockets_and_others_do_not(server, tmp_path):
    server.run("add-br", "br0")
    for name, marks in (("tap1", ["external_ids:iface-id=x"]), ("tap2", []), ("eth0", ["external_ids:iface-id=y"])):
        server.run("add-port", "br0", name, "--", "set", "Interface", name, "external_ids:a=b", *marks)
    options = {"n_rxq": "1", "xdp-mode": "best-effort"}
    settings = {"vsctl": server.vsctl, "prefix": "tap", "type": "afxdp", "options": options, "interval_s": 1}
    file = tmp_path / "taps.json"
    file.write_text(json.dumps(settings))

    def once() -> str:
        return space.run(sys.executable, "-I", str(TAPS), str(file), "--once")

    space = Namespace()
    try:
        for name in ("tap1", "tap2", "eth0"):
            space.run("ip", "tuntap", "add", "dev", name, "mode", "tap")
        assert once() == "opened with AF_XDP: tap1\n"
        assert once() == "set up: tap1\n", "the switch puts back the flags of a time when it was down"
        assert once() == ""
        up = space.run("ip", "-oneline", "link", "show", "up")
    finally:
        space.close()
    assert "tap1" in up and "tap2" not in up and "eth0" not in up
    assert server.run("get", "Interface", "tap1", "type") == "afxdp"
    assert server.run("get", "Interface", "tap1", "options") == '{n_rxq="1", xdp-mode=best-effort}'
    assert {server.run("get", "Interface", name, "type") for name in ("tap2", "eth0")} == {'""'}
