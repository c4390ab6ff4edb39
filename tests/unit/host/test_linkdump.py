"""Counters of links over netlink: what the kernel sends is read right, and again where links came or went meanwhile."""

import dataclasses
import struct
from pathlib import Path

import pytest

from nfvbed.host.network import linkdump
from nfvbed.host.network.linkdump import read_links

_DONE = struct.pack("=IHHIIi", 20, 3, 2, 1, 0, 0)


def _link(name: str, rx_packets: int, *, up: bool, carrier: int, flags: int = 2) -> bytes:
    body = struct.pack("=BxHiII", 0, 1, 7, int(up), 0)
    words = (rx_packets, *range(2, 24))
    for kind, value in ((3, name.encode() + b"\0"), (23, struct.pack("=23Q", *words)), (33, bytes([carrier]))):
        attribute = struct.pack("=HH", len(value) + 4, kind) + value
        body += attribute + bytes(-len(attribute) % 4)
    return struct.pack("=IHHII", len(body) + 16, 16, flags, 1, 0) + body


class _Kernel:
    """A netlink socket that answers with what a test gave it."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.requests = 0

    def __call__(self, *arguments: int) -> "_Kernel":
        return self

    def __enter__(self) -> "_Kernel":
        return self

    def __exit__(self, *arguments: object) -> None:
        pass

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0

    def send(self, request: bytes) -> None:
        self.requests += 1

    def recv(self, size: int) -> bytes:
        return self._answers.pop(0)


def test_the_loopback_is_as_sysfs_shows_it() -> None:
    link = read_links()["lo"]
    folder = Path("/sys/class/net/lo")
    assert link.index == int((folder / "ifindex").read_text())
    assert link.is_up == bool(int((folder / "flags").read_text(), 16) & 1)
    assert 0 <= link.rx_packets <= int((folder / "statistics/rx_packets").read_text())
    assert link.rx_dropped <= int((folder / "statistics/rx_dropped").read_text())


def test_every_field_is_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = _Kernel(
        _link("s0", 1, up=True, carrier=1) + _link("s1long", 11, up=True, carrier=0),
        _link("down", 0, up=False, carrier=0),
        _DONE,
    )
    monkeypatch.setattr(linkdump.socket, "socket", kernel)
    found = read_links()
    assert list(found) == ["s0", "s1long", "down"]
    assert dataclasses.asdict(found["s0"]) == {
        "index": 7,
        "is_up": True,
        "has_carrier": True,
        "rx_packets": 1,
        "tx_packets": 2,
        "rx_errors": 5,
        "tx_errors": 6,
        "rx_dropped": 7,
        "tx_dropped": 8,
        "reasons": dict(zip(linkdump.ERRORS, range(11, 22), strict=True)),
    }
    assert (found["s1long"].is_up, found["s1long"].has_carrier) == (True, False)
    assert not found["down"].is_up


def test_an_interrupted_answer_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = _Kernel(
        _link("s0", 1, up=True, carrier=1, flags=0x12) + _DONE,
        _link("s0", 1, up=True, carrier=1) + _link("s1", 1, up=True, carrier=1) + _DONE,
    )
    monkeypatch.setattr(linkdump.socket, "socket", kernel)
    assert list(read_links()) == ["s0", "s1"]
    assert kernel.requests == 2


def test_a_refusal_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linkdump.socket, "socket", _Kernel(struct.pack("=IHHIIi", 20, 2, 0, 1, 0, -1)))
    with pytest.raises(PermissionError):
        read_links()
