"""A forwarder is ready when it answers, not when its socket's file is there."""

import socket

from nfvbed.vnfs.process.forwarder import _listens


def test_socket_that_is_bound_does_not_listen_yet(tmp_path):
    path = str(tmp_path / "x.sock")
    assert not _listens(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
        assert not _listens(path)
        server.listen()
        assert _listens(path)
    assert not _listens(path), "whoever listened has gone"
