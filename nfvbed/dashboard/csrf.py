"""Requests that change something come from this dashboard's own pages.

A browser has a random cookie; a form holds the cookie's signature together with that of who is signed in, under a key
that this process alone knows. A page of another origin can have the one sent, and cannot read the other. Besides, a
browser says by `Origin` which page sends a request.
"""

import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

COOKIE: Final = "nfvbed-browser"
LENGTH: Final = 32
"""Characters of the cookie."""


class Signer:
    """Signs cookies; its key lives as long as the server."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def signature(self, browser: str, session: str) -> str:
        """Return what a form must hold, of the browser's cookie and of who is signed in."""
        return hmac.new(self._key, f"{browser}\n{session}".encode(), hashlib.sha256).hexdigest()


def new_cookie() -> str:
    """Return the value of a cookie for a browser that has none."""
    return secrets.token_hex(LENGTH // 2)


def cookie_of(headers: Headers, name: str) -> str:
    """Return a cookie's value; empty where there is none."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def from_own_page(headers: Headers) -> bool:
    """Return whether a browser says that a page of this server sends the request."""
    origin = urlsplit(headers.get("origin", ""))
    host = headers.get("host", "").lower()
    return origin.scheme in ("http", "https") and bool(host) and origin.netloc.lower() == host
