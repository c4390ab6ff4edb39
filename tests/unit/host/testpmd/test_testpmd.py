"""testpmd's command line, and DPDK's telemetry socket."""

import json
import socket
import threading
from pathlib import Path

import pytest

from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.testpmd import command, telemetry

OPTIONS = command.TestpmdOptions(
    vdevs=("net_vhost0,iface=a", "net_vhost1,iface=b"),
    main_core=1,
    forwarding_core=0,
    hugepages=Path("/run/x/hugepages-0"),
    memory_mib=256,
    file_prefix="nfvbed-x-io",
)


def test_command_line(monkeypatch):
    monkeypatch.setattr(command, "program", lambda: "testpmd")
    argv = command.argv(OPTIONS)
    eal, application = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    assert eal[eal.index("--lcores") + 1] == "0@1,1@0"
    assert [eal[i + 1] for i, word in enumerate(eal) if word == "--vdev"] == list(OPTIONS.vdevs)
    assert "--auto-start" in application
    assert "-i" not in application


def test_testpmd_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PrerequisiteError, match="dpdk-testpmd"):
        command.program()


def serve(path, answers):
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(str(path))
    listening.listen(1)

    def run():
        with listening, listening.accept()[0] as client:
            client.send(json.dumps({"version": "DPDK 22.11.11", "pid": 1, "max_output_len": 16384}).encode())
            client.send(json.dumps(answers[client.recv(1024).decode()]).encode())

    threading.Thread(target=run, daemon=True).start()


def test_telemetry(tmp_path):
    path = tmp_path / "t"
    serve(path, {"/ethdev/stats,0": {"/ethdev/stats": {"ipackets": 5}}})
    assert telemetry.ask(path, "/ethdev/stats,0") == {"ipackets": 5}


def test_telemetry_knows_no_such_thing(tmp_path):
    path = tmp_path / "t"
    serve(path, {"/ethdev/stats,9": {"/ethdev/stats": None}})
    with pytest.raises(DeployError, match="does not know"):
        telemetry.ask(path, "/ethdev/stats,9")


def test_telemetry_of_nobody(tmp_path):
    with pytest.raises(DeployError, match="does not answer"):
        telemetry.ask(tmp_path / "t", "/info")
