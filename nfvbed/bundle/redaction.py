"""What a run says of whose it is: names, addresses and serials, found and, where asked for, replaced.

Names are known by the keys that they are under, and by those that the user adds; addresses, URLs and UUIDs by their
form. Each value has one replacement, of its own form, so that what was equal stays equal and what was different stays
different. A name that is also one of nfvbed's words (a host called `vm`) is replaced only where a key says that it is a
host's: elsewhere it could be the word.
"""

import ipaddress
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from nfvbed.store.canonical import content_hash
from nfvbed.store.transfer import RunDocument


class IdentifierKind(StrEnum):
    """What is looked for."""

    HOST = "host names"
    PROJECT = "names of projects and clouds"
    USER = "user names"
    SERIAL = "serial numbers"
    ADDRESS = "IP addresses"
    MAC = "MAC addresses"
    UUID = "UUIDs (but the run's)"
    WORD = "words that you named"


_KEYS: Final = {
    **dict.fromkeys(
        ("host", "hosts", "hostname", "host_name", "fqdn", "nodename", "compute", "compute_host", "address",
         "hypervisor_hostname", "controller", "availability_zone"),
        IdentifierKind.HOST,
    ),
    **dict.fromkeys(
        ("project", "project_name", "project_id", "tenant", "tenant_name", "tenant_id", "cloud", "domain",
         "project_domain_name", "user_domain_name"),
        IdentifierKind.PROJECT,
    ),
    **dict.fromkeys(("user", "username", "user_name", "owner", "login"), IdentifierKind.USER),
    **dict.fromkeys(
        ("serial", "serial_number", "serialno", "product_serial", "board_serial", "chassis_serial", "asset_tag",
         "machine_id"),
        IdentifierKind.SERIAL,
    ),
}  # fmt: skip
"""By the key of a text, or of a list of them."""
_PSEUDONYM: Final = {
    IdentifierKind.HOST: "host-{}",
    IdentifierKind.PROJECT: "project-{}",
    IdentifierKind.USER: "user-{}",
    IdentifierKind.SERIAL: "serial-{}",
    IdentifierKind.WORD: "word-{}",
}
_LEFT: Final = ("latency_hdr", "host_hash", "plan_hash", "doctor_hash", "config_hash", "rig_hash")
"""Keys whose values name no person and no machine: histograms, hashes."""
_SHORTEST: Final = 3
"""Letters of a name that is looked for in texts."""
_MAC: Final = re.compile(r"(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\w:])")
_IPV4: Final = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w|\.\d)")
_IPV6: Final = re.compile(r"(?<![\w:.])[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F:.]*(?![\w:])")
_UUID: Final = re.compile(r"(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])", re.IGNORECASE)
_URL_HOST: Final = re.compile(r"(?<=://)(?:[^/\s@]*@)?(\[[^\]\s]+\]|[^/:\s?#\[\]]+)")
_HOME: Final = re.compile(r"(?<=/home/)[^/\s:]+")
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_PCI: Final = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_VERSIONS: Final = re.compile(r"version|kernel|release")
"""In a key: what is under it are versions, which may look like addresses."""
_OF_NOBODY: Final = frozenset(
    ("", "auto", "any", "none", "unknown", "default", "Default", "admin", "root", "localhost", "service", "not known")
)
"""Values under such keys that name no person and no machine."""
_RESERVED: Final = tuple(
    ipaddress.ip_network(text)
    for text in ("0.0.0.0/8", "127.0.0.0/8", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
                 "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128", "2001:db8::/32", "2001:2::/48", "ff00::/8")
)  # fmt: skip
"""Networks of loopback, documentation (RFC 5737, RFC 3849), benchmarks (RFC 2544, RFC 5180), groups: no machine's."""
_BY_NOBODY: Final = ("ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "00:00:5e:00:53:")
"""MAC addresses, or beginnings of them, that are no device's: all, none, documentation (RFC 7042)."""


@dataclass
class Identifiers:
    """What was found in a document, by sort; each value once, in its order."""

    values: dict[IdentifierKind, list[str]] = field(default_factory=lambda: {sort: [] for sort in IdentifierKind})
    ambiguous: list[str] = field(default_factory=list)
    """Names that are words of nfvbed's too, or too short to be told from others."""

    def add(self, sort: IdentifierKind, value: str) -> None:
        """Note a value, once."""
        if value not in self.values[sort]:
            self.values[sort].append(value)

    @property
    def count(self) -> int:
        """The number of different values that were found."""
        return sum(map(len, self.values.values()))


def find(document: RunDocument, words: Collection[str] = (), hosts: Collection[str] = ()) -> Identifiers:
    """Return the names, addresses and serials of a run.

    Args:
        words: further names to look for, which the user gives.
        hosts: names of machines that took part in the run, such as the one that this process is on.
    """
    found, plain = Identifiers(), _plain(document)
    for word in words:
        found.add(IdentifierKind.WORD, word)
    own = _own_words(document)
    for key, text in _texts(plain):
        _look(found, key, text, document.run.id)
    for host in hosts:
        if host not in own and _occurs(host, plain):
            _add_host(found, host)
    for sort in _PSEUDONYM:
        if sort is not IdentifierKind.WORD:
            found.ambiguous += [name for name in found.values[sort] if name in own or len(name) < _SHORTEST]
    return found


def redact(document: RunDocument, found: Identifiers) -> RunDocument:
    """Return the run without them, and without what people noted on it; descriptions have hashes of their own again.

    Raises:
        ValueError: what is left is no run any more.
    """
    replace = _Replacement(found)
    plain = _plain(document)
    blobs = {digest: {**blob, "value": replace.within(blob["value"])} for digest, blob in plain.pop("blobs").items()}
    renamed = {digest: content_hash(blob["value"]) for digest, blob in blobs.items()}
    left = replace.within(plain) | {"annotations": (), "acknowledgements": ()}
    left["blobs"] = {renamed[digest]: blob for digest, blob in blobs.items()}
    _rename(left["run"], renamed)
    for cell in left["cells"]:
        _rename(cell, renamed)
    return RunDocument.model_validate(left)


def _rename(row: dict[str, Any], renamed: Mapping[str, str]) -> None:
    row |= {key: renamed.get(value, value) for key, value in row.items() if key.endswith("_hash")}


def _plain(document: RunDocument) -> dict[str, Any]:
    return document.model_dump(mode="json")


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a document with the key that it is under; keys too, under none."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in _LEFT:
                yield "", name
                yield from _texts(item, _below(key, name))
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)


def _below(key: str, name: str) -> str:
    """Return the key that a value counts as under: versions have the names of programs as keys."""
    return key if _VERSIONS.search(key) else name


def _look(found: Identifiers, key: str, text: str, run: str) -> None:
    sort = _KEYS.get(key)
    if sort is IdentifierKind.HOST:
        _add_host(found, text)
    elif sort is not None and text not in _OF_NOBODY and not _is_uuid(text):
        found.add(sort, text)
    for host in _URL_HOST.findall(text):
        _add_host(found, host)
    for user in _HOME.findall(text):
        found.add(IdentifierKind.USER, user)
    for mac in _MAC.findall(text):
        if not mac.lower().startswith(_BY_NOBODY):
            found.add(IdentifierKind.MAC, mac.lower())
    if not _VERSIONS.search(key):
        for address in _addresses(text):
            found.add(IdentifierKind.ADDRESS, address)
    for uuid in _UUID.findall(text):
        if uuid.lower() != run:
            found.add(IdentifierKind.UUID, uuid.lower())


def _occurs(name: str, plain: dict[str, Any]) -> bool:
    pattern = _one_of((name,))
    return pattern is not None and any(pattern.search(text) for _, text in _texts(plain))


def _add_host(found: Identifiers, text: str) -> None:
    """Note a host's name, and the first part of a longer one; what is an address of some kind has its own sort."""
    if text in _OF_NOBODY or _PCI.fullmatch(text) or _MAC.fullmatch(text) or _address(text) or _is_uuid(text):
        return
    if not _NAME.fullmatch(text):
        return
    found.add(IdentifierKind.HOST, text)
    first = text.partition(".")[0]
    if first != text and len(first) >= _SHORTEST:
        found.add(IdentifierKind.HOST, first)


def _is_uuid(text: str) -> bool:
    return bool(_UUID.fullmatch(text))


def _addresses(text: str) -> Iterator[str]:
    for token in (*_IPV4.findall(text), *_IPV6.findall(text)):
        address = _address(token)
        if address is not None and not any(address in net for net in _RESERVED if net.version == address.version):
            yield token


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None


def _own_words(document: RunDocument) -> set[str]:
    """Return the words of a run that are nfvbed's, or of what is measured, on any machine."""
    words = {value for cell in document.cells for value in _values(cell.model_dump(mode="json"))}
    words |= {document.run.experiment, document.run.site}
    for blob in document.blobs.values():
        words |= {blob.kind, *_keys(blob.value)}
        words |= {value for key, value in _texts(blob.value) if key in ("kind", "name", "variant", "label", "topology")}
    return words


def _values(row: Mapping[str, Any]) -> Iterator[str]:
    return (value for value in row.values() if isinstance(value, str))


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)


class _Replacement:
    """Replaces what was found, each value by one of its own form."""

    def __init__(self, found: Identifiers) -> None:
        self._at_keys = {
            (sort, value): _PSEUDONYM[sort].format(number)
            for sort in _PSEUDONYM
            for number, value in enumerate(found.values[sort], 1)
        }
        names = {value: word for (_, value), word in self._at_keys.items() if value not in found.ambiguous}
        self._names = _one_of(names)
        self._by_name = names
        self._by_address = {
            text: _other_address(text, number) for number, text in enumerate(found.values[IdentifierKind.ADDRESS], 1)
        }
        self._by_mac = {
            text: f"02:00:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
            for number, text in enumerate(found.values[IdentifierKind.MAC], 1)
        }
        self._by_uuid = {
            text: f"00000000-0000-4000-8000-{number:012x}"
            for number, text in enumerate(found.values[IdentifierKind.UUID], 1)
        }

    def within(self, value: Any, key: str = "") -> Any:
        """Return a value of a document without what is replaced, keys too."""
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, dict):
            return {
                self._text(name, ""): item if name in _LEFT else self.within(item, _below(key, name))
                for name, item in value.items()
            }
        return [self.within(item, key) for item in value] if isinstance(value, list) else value

    def _text(self, text: str, key: str) -> str:
        sort = _KEYS.get(key)
        if sort is not None and (sort, text) in self._at_keys:
            return self._at_keys[sort, text]
        text = _HOME.sub(lambda found: self._at_keys.get((IdentifierKind.USER, found[0]), found[0]), text)
        if self._names is not None:
            text = self._names.sub(lambda found: self._by_name[found[0]], text)
        text = _MAC.sub(lambda found: self._by_mac.get(found[0].lower(), found[0]), text)
        text = _UUID.sub(lambda found: self._by_uuid.get(found[0].lower(), found[0]), text)
        if _VERSIONS.search(key):
            return text
        for pattern in (_IPV4, _IPV6):
            text = pattern.sub(lambda found: self._by_address.get(found[0], found[0]), text)
        return text


def _one_of(names: Collection[str]) -> re.Pattern[str] | None:
    """Return what finds one of several names as whole words, the longest first; None: there is none."""
    if not names:
        return None
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w.-])(?:{longest_first})(?![\w-])")


def _other_address(text: str, number: int) -> str:
    """Return an address for documentation in place of one; where there are more, one of a reserved network."""
    address = _address(text)
    if address is not None and address.version == 6:
        return str(ipaddress.IPv6Address("2001:db8::") + number)
    for network in ("192.0.2.0", "198.51.100.0", "203.0.113.0"):
        if number <= 254:
            return str(ipaddress.IPv4Address(network) + number)
        number -= 254
    return str(ipaddress.IPv4Address("240.0.0.0") + number)
