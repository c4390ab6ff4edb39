"""A real server under strangers: connections that send nothing, half a request or too little, and many pages that
follow what runs. Who works meanwhile does not notice."""

import http.client
import os
import select
import shutil
import socket
import sqlite3
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from nfvbed.dashboard.access.connections import Connection, Connections, Limits, client_at, limits_of_files
from nfvbed.dashboard.live import MOST as STREAMS
from nfvbed.dashboard.live import OF_CLIENT, OF_OPERATORS
from nfvbed.store import Store
from tests.another_user import NOBODY
from tests.dashboard_server import serving

IDLE = 1000
TOKEN = "0123456789abcdef0123456789abcdef"
PATIENCE_S = 60
HEAD = b"GET /api/runs HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module", name="running")
def _running(tmp_path_factory: pytest.TempPathFactory, stored: Path) -> Iterator[Path]:
    """A store whose newest run has not ended, and to which a process writes."""
    path = tmp_path_factory.mktemp("strangers") / "nfvbed.sqlite"
    shutil.copy(stored, path)
    with sqlite3.connect(path) as database:
        database.execute("DROP TRIGGER run_no_update")
        database.execute("UPDATE run SET status = NULL, ended_at = NULL")
    with Store.open(path):
        yield path


@pytest.fixture(scope="module", name="port")
def _port(running: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(running, tmp_path_factory.mktemp("project")) as (port, _):
        yield port


@contextmanager
def as_user(number: int) -> Iterator[None]:
    """Open connections as another user of this machine; as the one that we are where we are not root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(number)
    try:
        yield
    finally:
        os.seteuid(0)


def page(port: int, path: str = "/", headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    """Ask as a browser that has no connection yet."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def opened(port: int, number: int, send: bytes = b"") -> list[socket.socket]:
    found = []
    for _ in range(number):
        one = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        found.append(one)
        if send:
            one.sendall(send)
    return found


def is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(65536) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def ends(connection: socket.socket) -> bytes:
    """Return what comes until the server ends a connection."""
    connection.settimeout(PATIENCE_S)
    found = b""
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionError:
        pass
    return found


def until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.dashboard
@pytest.mark.parametrize("sent", [b"", HEAD], ids=["nothing", "half-a-head"])
@pytest.mark.parametrize("user", [0, NOBODY], ids=["same-user", "another-user"])
def test_a_thousand_idle_connections_deny_nobody(port: int, user: int, sent: bytes):
    working = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    working.request("GET", "/api/runs")
    assert working.getresponse().read()
    idle: list[socket.socket] = []
    with as_user(user):
        for _ in range(IDLE):
            try:
                idle += opened(port, 1, sent)
            except ConnectionError:
                continue  # it was ended for the next one before it had sent anything
    try:
        working.request("GET", "/runs")
        assert working.getresponse().read(), "a browser's own connection stays for its next request"
        assert [page(port, path)[0] for path in ("/", "/runs", "/api/runs", "/audit", "/start")] == [200] * 5
        assert until(lambda: sum(map(is_open, idle)) <= Limits().of_client)
    finally:
        for one in (*idle, working):
            one.close()


@pytest.mark.dashboard
def test_what_does_not_arrive_or_is_not_taken_in_time_is_ended(running: Path):
    with serving(running, limits={"request_s": 3, "idle_s": 1}) as (port, _), ExitStack() as all_:
        body = b"POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 100\r\n\r\ntok"
        halves = [one for sent in (b"", b"G", HEAD, body) for one in opened(port, 1, sent)]
        for one in halves:
            all_.callback(one.close)
        assert [ends(one).partition(b"\r\n")[0] for one in halves[:3]] == [b""] * 3
        ends(halves[3])
        (trickling,) = opened(port, 1)
        all_.callback(trickling.close)
        trickling.settimeout(0.05)
        sent = 0
        with pytest.raises(ConnectionError):
            for _ in range(PATIENCE_S * 20):
                trickling.sendall(b"x")
                sent += 1
                try:
                    assert trickling.recv(10) == b"", "a letter now and then is no request"
                    raise ConnectionResetError
                except TimeoutError:
                    continue
        assert sent > 1
        kept = opened(port, 1, HEAD + b"\r\n")[0]
        all_.callback(kept.close)
        assert ends(kept).startswith(b"HTTP/1.1 200")
        assert page(port)[0] == 200


@pytest.mark.dashboard
def test_a_tls_handshake_that_does_not_come_is_ended(running: Path, tmp_path: Path):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "pem"
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    text = certificate.public_bytes(serialization.Encoding.PEM)
    pem.write_bytes(text + key.private_bytes(serialization.Encoding.PEM, *plain))
    with serving(running, limits={"request_s": 3}, tls=str(pem)) as (port, _), ExitStack() as all_:
        idle = opened(port, 100)
        for one in idle:
            all_.callback(one.close)
        trusting = ssl.create_default_context(cadata=text.decode())
        browser = http.client.HTTPSConnection("localhost", port, timeout=PATIENCE_S, context=trusting)
        all_.callback(browser.close)
        browser.request("GET", "/runs")
        assert browser.getresponse().status == 200
        assert all(ends(one) == b"" for one in idle)


@pytest.mark.dashboard
def test_a_reader_that_takes_nothing_is_ended(running: Path):
    with serving(running, limits={"answer_s": 0.5}) as (port, _), socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", port))
        asked = b"GET /static/dashboard.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50
        slow.settimeout(0.2)
        with pytest.raises((TimeoutError, ConnectionError)):
            while True:
                slow.sendall(asked)
        ended = select.poll()
        ended.register(slow, 0)  # To read would be to take something.
        assert until(lambda: bool(ended.poll(0)))
        assert page(port)[0] == 200


def followed(port: int, path: str) -> tuple[int, socket.socket]:
    """Begin to follow what runs; return the status, and the connection."""
    one = opened(port, 1, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())[0]
    head = b""
    while b"\r\n\r\n" not in head:
        data = one.recv(65536)
        assert data, "the connection was ended"
        head += data
    return int(head.split()[1]), one


@pytest.mark.dashboard
def test_sixty_pages_that_follow_a_run_leave_places_for_operators(port: int, running: Path):
    with Store.open(running, read_only=True, migrated=False) as store:
        path = f"/runs/{store.runs()[0].id}/events"
    with ExitStack() as all_:

        def asked(user: int, number: int) -> list[int]:
            with as_user(user):
                found = [followed(port, path) for _ in range(number)]
            for _, one in found:
                all_.callback(one.close)
            return [status for status, _ in found]

        assert sorted(asked(NOBODY, 60)) == [200] * OF_CLIENT + [503] * (60 - OF_CLIENT)
        if os.geteuid() == 0:  # else there is no other user to be
            others = [status for user in range(20001, 20031) for status in asked(user, 2)]
            assert others.count(200) == STREAMS - OF_OPERATORS - OF_CLIENT
            assert asked(0, OF_OPERATORS) == [200] * OF_OPERATORS
        assert page(port)[0] == 200 and page(port, "/start")[0] == 200
    assert until(lambda: page(port, "/api/runs")[0] == 200)

    def follows_again() -> bool:
        status, one = followed(port, path)
        one.close()
        return status == 200

    assert until(follows_again), "places come back when readers go away"


@pytest.mark.dashboard
def test_sixty_that_ask_at_the_same_moment_do_not_get_more(port: int, running: Path):
    with Store.open(running, read_only=True, migrated=False) as store:
        path = f"/runs/{store.runs()[0].id}/events"
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n".encode()
    with as_user(NOBODY):
        waiting = opened(port, 60, request)
    try:
        for one in waiting:
            one.sendall(b"\r\n")
        statuses = [int(one.recv(65536).split()[1]) for one in waiting]
        assert sorted(statuses) == [200] * OF_CLIENT + [503] * (60 - OF_CLIENT)
    finally:
        for one in waiting:
            one.close()


@pytest.mark.dashboard
def test_events_end_when_their_reader_signs_out(running: Path, tmp_path: Path):
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    with Store.open(running, read_only=True, migrated=False) as store:
        path = f"/runs/{store.runs()[0].id}/events"
    with serving(running, tmp_path / "project", token_file=str(token)) as (port, _):
        browser = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        origin = {"origin": f"http://127.0.0.1:{port}", "content-type": "application/x-www-form-urlencoded"}
        browser.request("POST", "/login", urlencode({"token": TOKEN}), origin)
        answer = browser.getresponse()
        answer.read()
        cookie = {"cookie": answer.headers["set-cookie"].partition(";")[0]}
        follows = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        follows.request("GET", path, headers=cookie)
        events = follows.getresponse()
        assert events.status == 200 and events.readline().startswith(b"event: part")
        browser.request("POST", "/logout", "", origin | cookie)
        assert browser.getresponse().status == 303
        events.read()
        assert page(port, "/", cookie)[0] == 303
        for one in (browser, follows):
            one.close()


@pytest.mark.parametrize(
    ("address", "user", "client"),
    [
        ("127.0.0.1", 5, "user 5"),
        ("::1", None, "user unknown"),
        ("::ffff:127.0.0.1", 7, "user 7"),
        ("::ffff:192.0.2.1", None, "192.0.2.1"),
        ("192.0.2.1", None, "192.0.2.1"),
        ("2001:db8::1:2:3:4", None, "2001:db8::/64"),
        ("fe80::1%eth0", None, "fe80::/64"),
        ("testclient", None, "testclient"),
    ],
)
def test_who_a_client_is(address: str, user: int | None, client: str):
    assert client_at(address, user) == client


def test_there_are_fewer_connections_than_files(monkeypatch: pytest.MonkeyPatch):
    raised = []
    monkeypatch.setattr("resource.getrlimit", lambda _: (256, 300))
    monkeypatch.setattr("resource.setrlimit", lambda _, limits: raised.append(limits))
    assert limits_of_files(Limits()).connections == 150 and raised == [(300, 300)]
    monkeypatch.setattr("resource.getrlimit", lambda _: (20000, 20000))
    assert limits_of_files(Limits()) == Limits()


@contextmanager
def taking(connections: Connections) -> Iterator[Callable[[], tuple[bool, Connection]]]:
    """Yield what opens a connection, and has it taken."""
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as all_:

        def take() -> tuple[bool, Connection]:
            all_.enter_context(socket.create_connection(server.getsockname()))
            plain, address = server.accept()
            taken = all_.enter_context(Connection(fileno=plain.detach()))
            return connections.take(taken, address), taken

        yield take


@pytest.mark.dashboard
@pytest.mark.parametrize("behind_proxy", [False, True])
def test_the_connection_that_has_waited_longest_goes_and_none_that_is_answered(behind_proxy: bool):
    limits = Limits(connections=3, of_client=2) if behind_proxy else Limits(connections=9, of_client=3)
    found = Connections(limits, behind_proxy=behind_proxy)
    dropped: list[int] = []
    with taking(found) as take:
        kept = []
        for number in range(3):
            is_taken, connection = take()
            connection.abort = lambda number=number: dropped.append(number)
            kept.append(connection)
            assert is_taken
        assert {connection.client for connection in kept} == {"" if behind_proxy else f"user {os.geteuid()}"}
        kept[0].has_asked = kept[1].is_busy = True
        for expected in ([2], [2, 0]):  # first one that has never asked, then one that has
            is_taken, connection = take()
            connection.is_busy = True
            assert is_taken and dropped == expected and len(found) == 3
        assert not take()[0] and dropped == [2, 0]
        kept[1].close()
        assert len(found) == 2 and take()[0]


@pytest.mark.dashboard
def test_where_all_are_taken_the_greediest_client_loses_one(monkeypatch: pytest.MonkeyPatch):
    users = iter([1, 1, 1, 2, 3, 3])
    monkeypatch.setattr("nfvbed.dashboard.access.peers.user_between", lambda *_: next(users))
    found = Connections(Limits(connections=5, of_client=4))
    with taking(found) as take:
        taken = [take()[1] for _ in range(6)]
        assert [one.client for one in taken if found.holds(one)] == ["user 1", "user 1", "user 2", "user 3", "user 3"]
