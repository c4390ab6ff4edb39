"""Which ports the hosts of a socket test are given, by what the test calls its ends."""

from types import SimpleNamespace

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind
from nfvbed.run.kinds import sockets
from nfvbed.spec.testkinds.sockets import TcpThroughputTest


def placed(monkeypatch, ends, kind, own):
    host = SimpleNamespace(workspace="w", arrangement="a", own_ends=own)
    monkeypatch.setattr(sockets, "require_host", lambda site, deployment, what: host)
    deployment = SimpleNamespace(variant="mine", ports=(SimpleNamespace(kind=kind),))
    cell_test = SimpleNamespace(setup=SimpleNamespace(site=None, deployment=deployment))
    found = sockets._place(cell_test, TcpThroughputTest.model_validate({"kind": "tcp-throughput", "ends": ends}))
    return found.own_taps, found.own_veths


OWN = {"tap": "taps", "veth": "veths"}


@pytest.mark.parametrize(
    ("ends", "expected"), [("own", ("taps", None)), ("veth", (None, "veths")), ("testpmd", (None, None))]
)
def test_a_switch_with_ports_of_its_own_gives_those_that_are_asked_for(monkeypatch, ends, expected):
    assert placed(monkeypatch, ends, PortKind.VHOST_USER, OWN) == expected


@pytest.mark.parametrize("ends", ["own", "veth"])
def test_where_the_generators_ports_are_veth_hosts_are_on_them(monkeypatch, ends):
    assert placed(monkeypatch, ends, PortKind.VETH, {}) == (None, None)


def test_a_data_plane_that_adds_no_veth_ports_says_so(monkeypatch):
    with pytest.raises(UnsupportedError, match="no veth ports for hosts") as caught:
        placed(monkeypatch, "veth", PortKind.MEMIF, {})
    assert "memif" in caught.value.observed
