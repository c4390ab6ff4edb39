"""nfvgen on another host: devices by MAC address, as iproute2 lists them, and what a copy is started with."""

import json
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.remote import nfvgenthere
from nfvbed.spec.remote import GeneratorHostSpec

MAC = "52:54:00:30:00:14"
LINKS = [
    {"ifname": "lo", "link_type": "loopback", "address": "00:00:00:00:00:00"},
    {"ifname": "dp0", "link_index": 9, "address": MAC, "linkinfo": {"info_kind": "veth"}},
    {"ifname": "dp0.200", "link": "dp0", "address": MAC, "linkinfo": {"info_kind": "vlan"}},
    {"ifname": "br0", "address": MAC, "linkinfo": {"info_kind": "bridge"}},
    {"ifname": "dp1", "address": "52:54:00:31:00:14", "linkinfo": {"info_kind": "veth"}},
]
KEYS = {"address": "10.10.0.20", "key": "k", "known_hosts": "h", "core": 1}


class Answers:
    """A host that answers with these links."""

    def __init__(self, links):
        self.spec = spec()
        self._links = links

    def run(self, argv):
        assert argv == ["ip", "-d", "-j", "link", "show"]
        return type("Result", (), {"text": json.dumps(self._links)})


def spec(*ports):
    given = ports or ({"mac": MAC}, {"mac": "52:54:00:31:00:14"})
    return GeneratorHostSpec.model_validate({**KEYS, "ports": given})


def test_the_device_on_which_others_lie_is_meant():
    found = nfvgenthere.with_devices(Answers(LINKS), spec())
    assert [(port.device, port.mac) for port in found.ports] == [("dp0", None), ("dp1", None)]
    named = spec({"device": "a"}, {"device": "b"})
    assert nfvgenthere.with_devices(Answers([]), named) is named, "nothing is asked"


@pytest.mark.parametrize(
    ("links", "what"),
    [
        (LINKS[:1], "not on its host"),
        ([*LINKS, {"ifname": "copy", "address": MAC}], "several devices have one MAC address"),
    ],
)
def test_a_device_that_is_missing_or_there_twice_is_an_error(links, what):
    with pytest.raises(PrerequisiteError, match=what) as raised:
        nfvgenthere.with_devices(Answers(links), spec())
    assert raised.value.where.endswith("generator.ports[0]") and MAC in raised.value.observed


def test_without_its_path_the_program_is_copied_for_devices_alone():
    assert spec().is_copied and spec().engine == "xdp"
    with pytest.raises(ValueError, match="no NICs of DPDK"):
        spec({"pci": "0000:3b:00.0"}, {"pci": "0000:3b:00.1"})


def test_a_copy_has_all_that_the_loader_asked_for(tmp_path, monkeypatch):
    """As `ldd` lists them; any program does here."""
    monkeypatch.setattr(nfvgenthere, "native_binary", lambda name: Path("/bin/tar"))
    with tarfile.open(nfvgenthere.write_copy(tmp_path)) as archive:
        names = archive.getnames()
        assert all(one.isfile() for one in archive.getmembers())
    argv = nfvgenthere.argv_of_copy(PurePosixPath("/tmp/nfvbed-1"), ["nfvgen", "--engine", "xdp"])
    assert Path(argv[0]).name in names and "libc.so.6" in names
    assert argv[1:] == ["--library-path", "/tmp/nfvbed-1", "/tmp/nfvbed-1/nfvgen", "--engine", "xdp"]
