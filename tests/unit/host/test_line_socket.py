"""A program is ready when it answers, not when its socket's file is there; and its answer is a document."""

import socket
import threading

import pytest

from nfvbed.host import linesocket


def answering(path, text):
    """Answer one question; give what was asked when it has been."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen()
    asked = []

    def work():
        with server, server.accept()[0] as connection:
            asked.append(connection.recv(100))
            connection.sendall(text)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, asked


def test_socket_that_is_bound_does_not_listen_yet(tmp_path):
    path = tmp_path / "x.sock"
    assert not linesocket.listens(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        assert not linesocket.listens(path)
        server.listen()
        assert linesocket.listens(path)
    assert not linesocket.listens(path), "whoever listened has gone"


def test_a_line_is_answered_with_a_document(tmp_path):
    thread, asked = answering(tmp_path / "x.sock", b'{"ports": [1, 2]}\n')
    assert linesocket.ask(tmp_path / "x.sock", "counters", 5.0) == {"ports": [1, 2]}
    thread.join()
    assert asked == [b"counters\n"]


@pytest.mark.parametrize("text", [b"", b"{", b"no document"])
def test_what_is_no_document_is_told(tmp_path, text):
    thread, _ = answering(tmp_path / "x.sock", text)
    with pytest.raises(ValueError, match="Expecting"):
        linesocket.ask(tmp_path / "x.sock", "counters", 5.0)
    thread.join()


def test_nobody_listens(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        linesocket.ask(tmp_path / "x.sock", "counters", 5.0)
