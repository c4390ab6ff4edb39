"""The schema that a database's server tells: also from one that has a socket before it listens."""

import json
import socket
import threading
import time

import pytest

from nfvbed.dataplanes.ovs.schema import schema_of
from nfvbed.errors import DeployError

DATABASE = "Open_vSwitch"


@pytest.fixture(name="listener")
def _listener(tmp_path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "db.sock"))
        yield bound


def serve(listener, answer, after_s=0.0):
    def answer_once():
        time.sleep(after_s)
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            request = json.loads(connection.recv(65536))
            assert request["method"] == "get_schema" and request["params"] == [DATABASE]
            connection.sendall(json.dumps({"id": request["id"], **answer}).encode())
            connection.recv(1)

    thread = threading.Thread(target=answer_once, daemon=True)
    thread.start()
    return thread


def test_it_is_waited_for_until_the_server_listens(tmp_path, listener):
    thread = serve(listener, {"result": {"version": "8.8.0"}, "error": None}, after_s=0.2)
    assert schema_of(tmp_path / "db.sock", DATABASE, lambda: None, 10) == {"version": "8.8.0"}
    thread.join(10)


def test_a_server_without_such_a_database_is_named(tmp_path, listener):
    serve(listener, {"result": None, "error": {"error": "unknown database"}})
    with pytest.raises(DeployError) as caught:
        schema_of(tmp_path / "db.sock", DATABASE, lambda: None, 10)
    assert "unknown database" in caught.value.observed


def test_one_that_never_listens_ends_in_time_and_a_dead_one_at_once(tmp_path, listener):
    with pytest.raises(DeployError, match="no database answers"):
        schema_of(tmp_path / "db.sock", DATABASE, lambda: None, 0.05)

    def dead():
        raise DeployError("ovsdb-server has ended")

    with pytest.raises(DeployError, match="has ended"):
        schema_of(tmp_path / "db.sock", DATABASE, dead, 60)
