"""How Horizon's panel asks the dashboard, and what it says where that fails."""

import json
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed_horizon import asking
from nfvbed_horizon.address import Address, address_of
from nfvbed_horizon.asking import Asking
from nfvbed_horizon.looking import look
from nfvbed_horizon.trouble import Trouble
from tests.unit.horizon_plugin.served import Tcp, Tls, Unix, served

TOKEN = "0123456789abcdef0123"
ANSWER = {"/api/deployments": (200, b'{"deployments": [], "not_readable": []}')}
EMPTY = json.dumps({"newest": [], "runs": 0, "changes": [], "decided": {}, "not_compared": []}).encode()
ON_LOOPBACK = partial(Tcp, ("127.0.0.1", 0))


def url_of(server):
    """Return the address of a server on loopback."""
    return f"http://127.0.0.1:{server.server_address[1]}"


def refused(**settings):
    """Return what the page shows where the settings are wrong."""
    with pytest.raises(Trouble) as caught:
        address_of(SimpleNamespace(**settings))
    return caught.value


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "No nfvbed dashboard is named"),
        ({"NFVBED_URL": "http://192.0.2.1:8080"}, "without TLS over a network"),
        ({"NFVBED_URL": "http://bench.example"}, "without TLS over a network"),
        ({"NFVBED_URL": "ftp://127.0.0.1"}, "not the address"),
        ({"NFVBED_URL": "https://user:secret@bench.example"}, "not the address"),
        ({"NFVBED_URL": "https://bench.example/nfvbed"}, "not the address"),
        ({"NFVBED_URL": "https://bench.example:x"}, "not the address"),
        ({"NFVBED_URL": "javascript:alert(1)"}, "not the address"),
        ({"NFVBED_URL": 8080}, "not a text"),
        ({"NFVBED_URL": "https://b", "NFVBED_SITES": "devcloud"}, "not a list of texts"),
        ({"NFVBED_URL": "https://b", "NFVBED_SOCKET": "/run/x"}, "without TLS"),
        ({"NFVBED_URL": "https://b", "NFVBED_TIMEOUT_S": 300}, "NFVBED_TIMEOUT_S"),
        ({"NFVBED_URL": "https://b", "NFVBED_TIMEOUT_S": 0}, "NFVBED_TIMEOUT_S"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_with_what_to_write(settings, said):
    trouble = refused(**settings)
    assert said in trouble.what and trouble.fix
    assert "secret" not in f"{trouble.what} {trouble.observed} {trouble.fix}"


def test_settings_are_read():
    names = {"NFVBED_URL": "http://127.0.0.1:8080/", "NFVBED_SITES": ["devcloud"], "NFVBED_SOCKET": "/run/x"}
    assert address_of(SimpleNamespace(**names)) == Address(
        "http://127.0.0.1:8080", socket="/run/x", sites=("devcloud",), timeout_s=5.0
    )
    assert address_of(SimpleNamespace(NFVBED_URL="https://[::1]:1")).is_tls
    assert address_of(SimpleNamespace(NFVBED_URL="http://[::1]:1")).url == "http://[::1]:1"


def test_an_answer_is_read_over_loopback_and_over_a_unix_socket(tmp_path):
    with served(ON_LOOPBACK, ANSWER) as live:
        found = Asking(Address(url_of(live))).get("/api/deployments")
    assert found == {"deployments": [], "not_readable": []}
    path = str(tmp_path / "s")
    with served(partial(Unix, path), ANSWER) as live:
        found = Asking(Address("http://127.0.0.1:8080", socket=path)).get("/api/deployments")
        ((_, headers),) = live.asked
    assert found == {"deployments": [], "not_readable": []}
    assert headers["Host"] == "127.0.0.1:8080"


@pytest.fixture(name="pair")
def _pair(tmp_path):
    """A certificate for 127.0.0.1 that is signed by itself alone, and its key."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    argv += ["-keyout", str(key), "-out", str(certificate), "-days", "2"]
    argv += ["-subj", "/CN=bench.example", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(argv, check=True, capture_output=True)
    return certificate, key


def test_a_certificate_is_checked_against_the_named_one_and_against_the_host(pair):
    with served(partial(Tls, ("127.0.0.1", 0), pair=pair), ANSWER) as live:
        port = live.server_address[1]
        trusted = {"ca_file": str(pair[0])}
        assert Asking(Address(f"https://127.0.0.1:{port}", **trusted)).get("/api/deployments")
        for address in (Address(f"https://127.0.0.1:{port}"), Address(f"https://localhost:{port}", **trusted)):
            with pytest.raises(Trouble, match="not trusted") as caught:
                Asking(address).get("/api/deployments")
            assert "NFVBED_CA_FILE" in caught.value.fix
        with pytest.raises(Trouble, match="certificates .* cannot be read"):
            Asking(Address(f"https://127.0.0.1:{port}", ca_file=str(pair[1].with_name("none")))).get("/api/overview")


def test_the_token_is_sent_and_in_no_message(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o640)
    with served(ON_LOOPBACK, {"/api/deployments": (401, b"{}")}) as live, pytest.raises(Trouble) as caught:
        Asking(Address(url_of(live), token_file=str(path))).get("/api/deployments")
    ((_, headers),) = live.asked
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert "token" in caught.value.what and "NFVBED_TOKEN_FILE" in caught.value.fix
    path.chmod(0o644)
    with pytest.raises(Trouble, match="Others may read") as caught:
        Asking(Address("http://127.0.0.1:1", token_file=str(path))).get("/api/deployments")
    assert TOKEN not in f"{caught.value.what} {caught.value.observed} {caught.value.fix}"


@pytest.mark.parametrize(
    ("text", "said"), [(None, "cannot be read"), ("", "not one word"), ("a b", "not one word"), ("é", "cannot be read")]
)
def test_a_token_that_cannot_be_used_is_refused(tmp_path, text, said):
    path = tmp_path / "token"
    if text is not None:
        path.write_text(text)
        path.chmod(0o600)
    with pytest.raises(Trouble, match=said):
        Asking(Address("http://127.0.0.1:1", token_file=str(path))).get("/api/deployments")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b"<html>", "no nfvbed dashboard"),
        (200, b"[]", "no nfvbed dashboard"),
        (200, b"[" * 100_000, "no nfvbed dashboard"),
        (303, b"", "no nfvbed dashboard"),
        (500, b'{"what": 5}', "no nfvbed dashboard"),
        (503, b'{"what": "the store is locked", "where": "a", "observed": "b", "fix": "wait"}', "the store is locked"),
    ],
)
def test_what_is_no_answer_is_reported(status, body, said):
    with served(ON_LOOPBACK, {"/api/overview": (status, body)}) as live, pytest.raises(Trouble, match=said) as caught:
        Asking(Address(url_of(live))).get("/api/overview")
    assert caught.value.fix


def test_an_answer_without_end_is_not_kept(monkeypatch):
    monkeypatch.setattr(asking, "MOST_BYTES", 100)
    with served(ON_LOOPBACK, {"/api/overview": (200, b"x" * 101)}) as live, pytest.raises(Trouble, match="too long"):
        Asking(Address(url_of(live))).get("/api/overview")


def test_nobody_there_is_reported(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    for address in (Address(f"http://127.0.0.1:{port}"), Address("http://127.0.0.1:1", socket=str(tmp_path / "none"))):
        with pytest.raises(Trouble, match="does not answer") as caught:
            Asking(address).get("/api/overview")
        assert "nfvbed dashboard" in caught.value.fix


def test_a_dashboard_that_says_nothing_is_waited_for_once_in_the_time_of_the_page():
    with socket.create_server(("127.0.0.1", 0)) as mute:
        settings = SimpleNamespace(NFVBED_URL=f"http://127.0.0.1:{mute.getsockname()[1]}", NFVBED_TIMEOUT_S=0.2)
        found = look(settings)
        mute.setblocking(False)
        mute.accept()[0].close()
        with pytest.raises(BlockingIOError):
            mute.accept()  # the second question had no time left, and was not asked
    (trouble,) = found.troubles
    assert "in time" in trouble.what and found.runs is None and found.deployments is None


def test_a_page_without_settings_says_what_to_set():
    found = look(SimpleNamespace())
    assert found.url == "" and "NFVBED_URL" in found.troubles[0].observed


def test_a_part_that_fails_leaves_the_other():
    with served(ON_LOOPBACK, {"/api/overview": (200, EMPTY)}) as live:
        found = look(SimpleNamespace(NFVBED_URL=url_of(live)))
    assert found.runs is not None and found.runs.rows == () and found.deployments is None
    assert len(found.troubles) == 1


def test_what_the_panel_needs_is_in_its_own_folder_and_the_standard_library(tmp_path):
    """Horizon's Python has neither nfvbed nor its libraries; Django and Horizon are in two modules alone."""
    plugin = Path(asking.__file__).parents[1]
    foreign = 'name.partition(".")[0] in ("nfvbed", "django", "horizon", "pydantic")'
    source = f"import nfvbed_horizon.looking, sys; print([name for name in sys.modules if {foreign}])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", source],
        env={**os.environ, "PYTHONPATH": str(plugin)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
