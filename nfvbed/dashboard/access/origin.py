"""The origin of a request, as the browser says: the dashboard's own pages, a typed address, or another site.

Requests that change something have a page's `Origin`; besides, a form holds a random word of the browser's session,
which a page of another origin cannot read. Browsers say of every request from which site it is (`Sec-Fetch-Site`, W3C
Fetch Metadata); the older headers are asked where they do not.
"""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

OWN: Final = ("same-origin", "none", "")
"""Values of `Sec-Fetch-Site` where no other site asks: a page of this dashboard does, or the address was typed; empty:
a program, or an old browser."""


def from_own_page(headers: Headers) -> bool:
    """Return whether a browser says that a page of this server sends the request."""
    return _is_own(headers, "origin")


def from_elsewhere(headers: Headers) -> bool:
    """Return whether another site makes the browser ask; what costs something is not done for one."""
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] not in OWN
    return any(headers.get(name) and not _is_own(headers, name) for name in ("origin", "referer"))


def embedded_elsewhere(headers: Headers) -> bool:
    """Return whether a page of another site asks otherwise than by leading its reader here: as an image, a script."""
    if headers.get("sec-fetch-site", "") in OWN:
        return False
    return (headers.get("sec-fetch-mode", "navigate"), headers.get("sec-fetch-dest", "document")) != (
        "navigate",
        "document",
    )


def _is_own(headers: Headers, name: str) -> bool:
    try:
        said = urlsplit(headers.get(name, ""))
    except ValueError:
        return False
    host = headers.get("host", "").lower()
    return said.scheme in ("http", "https") and bool(host) and said.netloc.lower() == host
