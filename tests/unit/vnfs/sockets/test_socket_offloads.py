"""Offloads of socket traffic: what files may ask, what is set and read back, and frames that tell otherwise."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from nfvbed.errors import UnsupportedError
from nfvbed.host.network import links
from nfvbed.spec.testkinds.sockets import TcpThroughputTest
from nfvbed.vnfs.sockets import devices as devices_module
from nfvbed.vnfs.sockets import offloads
from nfvbed.vnfs.sockets.devices import LinkDevice
from nfvbed.vnfs.sockets.hosts import Cores, SocketEnds

SNMP = """Ip: Forwarding DefaultTTL
Ip: 2 64
Tcp: RtoAlgorithm RtoMin OutRsts InCsumErrors
Tcp: 1 200 3 9
Udp: InDatagrams InCsumErrors
Udp: 1 7
"""


class Devices:
    """Stands for two devices: each has features, some of which cannot be changed."""

    def __init__(self, fixed: dict[str, bool]) -> None:
        names = (links.CHECKSUM, offloads.TSO, offloads.GSO, offloads.SCATTER, links.GRO)
        self.has = {device: dict.fromkeys(names, True) | fixed for device in ("own0", "own1")}
        self.fixed = fixed

    def set(self, device: str, wanted: dict[str, bool]) -> None:
        self.has[device].update({name: on for name, on in wanted.items() if name not in self.fixed})

    def read(self, device: str, name: str) -> bool:
        return self.has[device][name]


@pytest.fixture(name="devices")
def _devices(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Devices:
    found = Devices(getattr(request, "param", {}))
    monkeypatch.setattr(devices_module, "inside", lambda _netns, work: work())
    monkeypatch.setattr(links, "set_features", found.set)
    monkeypatch.setattr(links, "has_feature", found.read)
    return found


def ends(*carriers: LinkDevice) -> SocketEnds:
    return SocketEnds(devices=BOTH, pair=None, cores=Cores(None, 0, 1), what="taps", carriers=carriers)


BOTH = (LinkDevice("/ns/0", "own0"), LinkDevice("/ns/1", "own1"))


def test_both_ends_are_set_alike_and_read_back(devices: Devices):
    assert offloads.set_both(ends(*BOTH), "checksum") == "; ".join(
        f"end {number}: checksum on, tso off, gso off, gro on" for number in (0, 1)
    )
    assert "checksum off, tso off" in offloads.set_both(ends(*BOTH), "none")
    assert "checksum on, tso on" in offloads.set_both(ends(*BOTH), "tso")


def test_all_kinds_of_segmentation_go_together_as_ethtools_do(devices: Devices):
    kinds = ("tx-tcp6-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation")
    offloads.set_both(ends(*BOTH), "checksum")
    assert [devices.has["own0"][kind] for kind in kinds] == [False] * 3
    offloads.set_both(ends(*BOTH), "tso")
    assert all(devices.has["own1"][kind] for kind in kinds)


def test_what_a_receiver_merges_is_never_touched_as_the_bridge_would_lose_its_threads(devices: Devices):
    assert all(links.GRO not in wanted for wanted in offloads.WANTED.values())


@pytest.mark.parametrize("devices", [{links.CHECKSUM: False, offloads.TSO: False}], indirect=True)
def test_a_device_that_does_otherwise_is_refused(devices: Devices):
    offloads.set_both(ends(*BOTH), "none")
    for asked in ("checksum", "tso"):
        with pytest.raises(UnsupportedError, match=f"offloads: {asked} is not what own0 does") as caught:
            offloads.set_both(ends(*BOTH), asked)
        assert "checksum off, tso off" in caught.value.observed and "userspace_tso" in caught.value.fix


def test_ends_behind_a_program_have_none():
    with pytest.raises(UnsupportedError, match="cannot be set on these hosts"):
        offloads.set_both(ends(), "none")


def test_devices_get_their_own_offloads_back(devices: Devices):
    with offloads.kept(ends(*BOTH)):
        offloads.set_both(ends(*BOTH), "none")
        assert not devices.has["own0"][offloads.TSO]
    assert devices.has["own0"][offloads.TSO] and devices.has["own1"][links.CHECKSUM]


def test_frames_that_were_not_cut_are_seen():
    assert "63123 B" in offloads.check_frames("checksum", 63_123.0)
    assert offloads.check_frames("none", 1_514.0) == offloads.check_frames("tso", 63_123.0) == ""
    assert offloads.check_frames("none", None) == ""


def test_a_file_names_each_kind_and_counts_its_rows():
    test = TcpThroughputTest(kind="tcp-throughput", streams=(1,), offloads=("none", "checksum", "tso"))
    assert test.conditions == 3
    assert "offloads" not in TcpThroughputTest(kind="tcp-throughput").model_dump(), "older plans stay as they were"
    with pytest.raises(ValidationError, match="offloads"):
        TcpThroughputTest.model_validate({"kind": "tcp-throughput", "offloads": ["lro"]})


def test_segments_dropped_for_their_checksum_are_read_of_both_hosts(tmp_path: Path):
    table = tmp_path / "snmp"
    table.write_text(SNMP)
    assert devices_module._wrong_checksums(table) == 9

    class Told(LinkDevice):
        def wrong_checksums(self) -> int | None:
            return 4 if self.name == "own0" else None

    both = tuple(Told(device.netns, device.name) for device in BOTH)
    found = SocketEnds(devices=both, pair=None, cores=Cores(None, 0, 1), what="taps", carriers=both)
    assert offloads.wrong_checksums(found) == 4
