"""Asks nfvbed's dashboard over its JSON API: bounded in time and size, and every failure says what to do."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import stat
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from nfvbed_horizon.address import Address
from nfvbed_horizon.trouble import Trouble

MOST_BYTES = 4 << 20
"""Of an answer."""
_CHUNK = 65536
_START = "Start it where the results are: nfvbed dashboard. Then load this page again."
_NOT_IT = "Make sure that NFVBED_URL leads to an nfvbed dashboard, of the same version as this panel."


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket; the host is named all the same, as the dashboard checks it."""

    def __init__(self, host: str, path: str, timeout_s: float) -> None:
        super().__init__(host, timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Asking:
    """Asks one dashboard for what one page shows.

    Args:
        address: the dashboard's.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._deadline = time.monotonic() + address.timeout_s

    def get(self, path: str) -> dict[str, Any]:
        """Return the answer to a GET.

        Args:
            path: begins with `/api/`.

        Raises:
            Trouble: there is none, or it is no answer of nfvbed's.
        """
        url = self._address.url
        headers = {"Host": urlsplit(url).netloc, "Accept": "application/json", **self._authorization()}
        try:
            connection = self._connection()
            try:
                connection.request("GET", path, headers=headers)
                answer = connection.getresponse()
                status, body = answer.status, self._body(answer)
            finally:
                connection.close()
        except ssl.SSLError as failure:
            fix = "Name the certificate of the dashboard's signer in NFVBED_CA_FILE; the host must be in it."
            raise Trouble(f"nfvbed's dashboard at {url} is not trusted", _said(failure), fix) from failure
        except TimeoutError as failure:
            raise self._too_late() from failure
        except OSError as failure:
            raise Trouble(f"nfvbed's dashboard at {url} does not answer", _said(failure), _START) from failure
        except http.client.HTTPException as failure:
            said = f"{type(failure).__name__} in place of an answer"
            raise Trouble(f"nfvbed's dashboard at {url} does not answer", said, f"{_START} {_NOT_IT}") from failure
        return self._read(status, body)

    def _connection(self) -> http.client.HTTPConnection:
        parts, left_s = urlsplit(self._address.url), self._left_s()
        host = parts.hostname or ""
        if self._address.socket:
            return _UnixConnection(host, self._address.socket, left_s)
        if self._address.is_tls:
            context = _context(self._address.ca_file)
            return http.client.HTTPSConnection(host, parts.port, timeout=left_s, context=context)
        return http.client.HTTPConnection(host, parts.port, timeout=left_s)

    def _body(self, answer: http.client.HTTPResponse) -> bytes:
        """Read an answer to its end, within the time that is left."""
        parts, total = [], 0
        while part := answer.read1(_CHUNK):
            parts.append(part)
            total += len(part)
            if total > MOST_BYTES:
                raise Trouble("The answer of nfvbed's dashboard is too long", f"over {MOST_BYTES} bytes", _NOT_IT)
            self._left_s()
        return b"".join(parts)

    def _read(self, status: int, body: bytes) -> dict[str, Any]:
        """Return what an answer holds.

        Raises:
            Trouble: it is a refusal, or not JSON.
        """
        if status == http.HTTPStatus.UNAUTHORIZED:
            fix = "Write the dashboard's token into a file that Horizon can read, and name it in NFVBED_TOKEN_FILE."
            raise Trouble("nfvbed's dashboard asks for a token, or for another one", f"status {status}", fix)
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if status != http.HTTPStatus.OK and isinstance(found, dict) and isinstance(found.get("what"), str):
            observed = ", ".join(str(found[key]) for key in ("where", "observed") if found.get(key))
            fix = str(found.get("fix") or _NOT_IT)
            raise Trouble(f"nfvbed's dashboard answers: {found['what']}", observed or f"status {status}", fix)
        if status != http.HTTPStatus.OK or not isinstance(found, dict):
            observed = f"status {status}, {len(body)} bytes"
            raise Trouble(f"What answers at {self._address.url} is no nfvbed dashboard", observed, _NOT_IT)
        return found

    def _authorization(self) -> dict[str, str]:
        path = self._address.token_file
        return {"Authorization": f"Bearer {_token(Path(path))}"} if path else {}

    def _left_s(self) -> float:
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            raise self._too_late()
        return left_s

    def _too_late(self) -> Trouble:
        return Trouble(
            f"nfvbed's dashboard at {self._address.url} does not answer in time",
            f"nothing complete within {self._address.timeout_s:g} s",
            "Load this page again: a dashboard that has just begun compares runs first. NFVBED_TIMEOUT_S is the time.",
        )


def _context(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except OSError as failure:
        fix = "Name a PEM file that Horizon can read in NFVBED_CA_FILE."
        raise Trouble("The certificates for nfvbed's dashboard cannot be read", _said(failure), fix) from failure


def _token(path: Path) -> str:
    """Read the token.

    Raises:
        Trouble: it cannot be read, or all users could; without a word of it.
    """
    fix = "Write it with owner root, the group of Horizon's server and mode 0640, and name it in NFVBED_TOKEN_FILE."
    try:
        mode, text = stat.S_IMODE(path.stat().st_mode), path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as failure:
        observed = failure.strerror if isinstance(failure, OSError) else "not ASCII"
        raise Trouble("The token for nfvbed's dashboard cannot be read", str(observed), fix) from failure
    if mode & 0o007:
        raise Trouble("Others may read the token for nfvbed's dashboard", f"mode {mode:o}", fix)
    if not text or not text.isprintable() or " " in text:
        raise Trouble("The token for nfvbed's dashboard is not one word", f"{len(text)} characters", fix)
    return text


def _said(failure: OSError) -> str:
    return failure.strerror or str(failure) or type(failure).__name__
