"""Where nfvbed's dashboard is, as Horizon's settings say it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from nfvbed_horizon.trouble import Trouble

TIMEOUT_S = 5.0
"""For all that one page asks, together."""
_LONGEST_S = 30.0
_SETTINGS = "Horizon's settings (local_settings.d, docs/howto/dashboard.md)"


@dataclass(frozen=True)
class Address:
    """A dashboard, and how it is asked."""

    url: str
    """Begins every link, and names the host; without a slash at its end."""
    socket: str = ""
    """Unix socket by which it is reached; empty: by the host and port of the URL."""
    ca_file: str = ""
    """Certificates that its own is checked with; empty: the system's."""
    token_file: str = ""
    """File with the token that it asks for; empty: none."""
    timeout_s: float = TIMEOUT_S
    sites: tuple[str, ...] = ()
    """nfvbed's sites (names in deploy/sites) that are this Horizon's cloud: their instances and stacks are linked."""

    @property
    def is_tls(self) -> bool:
        """Whether it is asked over TLS."""
        return self.url.startswith("https:")


def address_of(settings: object) -> Address:
    """Return the dashboard that Horizon's settings name.

    Args:
        settings: Django's, with the attributes `NFVBED_*`.

    Raises:
        Trouble: none is named, or it would be asked without TLS over a network.
    """
    url = _text(settings, "NFVBED_URL").rstrip("/")
    if not url:
        raise Trouble("No nfvbed dashboard is named", "NFVBED_URL is not set", f"Set it in {_SETTINGS}.")
    address = Address(
        url=url,
        socket=_text(settings, "NFVBED_SOCKET"),
        ca_file=_text(settings, "NFVBED_CA_FILE"),
        token_file=_text(settings, "NFVBED_TOKEN_FILE"),
        timeout_s=_seconds(getattr(settings, "NFVBED_TIMEOUT_S", TIMEOUT_S)),
        sites=_texts(settings, "NFVBED_SITES"),
    )
    _check(address)
    return address


def _text(settings: object, name: str) -> str:
    value = getattr(settings, name, "") or ""
    if not isinstance(value, str):
        raise Trouble(f"{name} is not a text", repr(value), f"Correct it in {_SETTINGS}.")
    return value


def _texts(settings: object, name: str) -> tuple[str, ...]:
    value = getattr(settings, name, ()) or ()
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise Trouble(f"{name} is not a list of texts", repr(value), f"Correct it in {_SETTINGS}.")


def _seconds(value: object) -> float:
    if isinstance(value, (int, float)) and 0 < value <= _LONGEST_S:
        return float(value)
    fix = f"Set it to at most {_LONGEST_S:g} seconds in {_SETTINGS}: the page waits for the dashboard."
    raise Trouble("NFVBED_TIMEOUT_S is not a time that a page waits", repr(value), fix)


def _check(address: Address) -> None:
    """Refuse what is no address, and what could be read or forged on the way.

    Raises:
        Trouble: with what to write in its place.
    """
    try:
        parts = urlsplit(address.url)
        # A port that is no number is noticed when it is read.
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.path or parts.query or parts.fragment:
        fix = f"Write it as https://HOST:PORT in {_SETTINGS}."
        raise Trouble("NFVBED_URL is not the address of a dashboard", "not http(s)://HOST:PORT", fix)
    if address.socket and address.is_tls:
        fix = "Serve the dashboard on loopback and write http:// in NFVBED_URL; or leave NFVBED_SOCKET out."
        raise Trouble("A Unix socket is asked without TLS", f"NFVBED_URL is {address.url}", fix)
    if parts.scheme == "http" and not address.socket and not _is_loopback(parts.hostname or ""):
        fix = "Serve the dashboard over TLS (nfvbed dashboard --tls-cert) and write https://, or use a Unix socket."
        raise Trouble("The dashboard is not asked without TLS over a network", f"NFVBED_URL is {address.url}", fix)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
