"""The relay carries bytes both ways and ends a connection with either side."""

import socket
import subprocess
import sys
import time

import pytest


@pytest.fixture
def far():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)
        yield server


@pytest.fixture
def near(tmp_path, far):
    path = tmp_path / "s"
    argv = [
        sys.executable,
        "-m",
        "nfvbed.dataplanes.ovs.steering.relay",
        str(path),
        "127.0.0.1",
        str(far.getsockname()[1]),
    ]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 20
        while not path.is_socket() and time.monotonic() < deadline:
            time.sleep(0.01)
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(str(path))
            yield client
    finally:
        process.kill()
        process.communicate()


def test_bytes_go_both_ways(far, near):
    peer, _ = far.accept()
    with peer:
        near.sendall(b"there")
        assert peer.recv(10) == b"there"
        peer.sendall(b"back")
        assert near.recv(10) == b"back"


def test_end_is_passed_on(far, near):
    peer, _ = far.accept()
    peer.close()
    assert near.recv(10) == b""


def test_nobody_on_the_far_side(far, near, tmp_path):
    peer, _ = far.accept()
    peer.close()
    far.close()
    with socket.socket(socket.AF_UNIX) as second:
        second.settimeout(10)
        second.connect(str(tmp_path / "s"))
        assert second.recv(10) == b""
