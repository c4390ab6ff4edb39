"""What a machine lacks is said before anything is changed, all of it at once."""

import dataclasses
import socket

import pytest

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.root import prechecks
from nfvbed.cloud.devcloud.root.prechecks import Machine, problems
from nfvbed.errors import PrerequisiteError

LARGE = Machine(memory_mib=24_000, disk_mib=70_000, cores=2, root=True, missing_tools=(), taken_ports=())


def _alone(has_root=True, **changes):
    found = problems(dataclasses.replace(LARGE, **changes), has_root)
    assert len(found) == 1
    return found[0]


def test_a_large_machine_lacks_nothing():
    assert problems(LARGE, has_root=False) == []


def test_too_little_memory_is_reported_in_mib():
    what, seen, fix = _alone(memory_mib=3_000)
    assert what == "8192 MiB of memory"
    assert seen == "3000 MiB are available"
    assert "larger machine" in fix


def test_disk_is_asked_for_the_root_that_is_not_there_yet():
    assert problems(dataclasses.replace(LARGE, disk_mib=5_000), has_root=True) == []
    what, seen, _ = _alone(has_root=False, disk_mib=5_000)
    assert (what, seen) == ("8192 MiB of disk", "5000 MiB are free")


def test_one_core_is_too_few():
    assert _alone(cores=1)[1] == "1 may be used"


def test_missing_tools_are_reported_with_their_packages():
    what, _, fix = _alone(missing_tools=("unshare", "nsenter", "mmdebstrap"))
    assert what == "programs: unshare nsenter mmdebstrap"
    assert fix == "install them (Debian's packages mmdebstrap util-linux)"


def test_ports_in_use_are_named():
    assert _alone(taken_ports=(15000, 18774))[1] == "in use: 15000, 18774"


def test_an_ordinary_user_is_reported_so():
    assert _alone(root=False)[1] == "an ordinary user"


def test_everything_is_reported_at_once(tmp_path, monkeypatch):
    poor = Machine(100, 200, 1, False, ("unshare",), (15000,))
    monkeypatch.setattr(prechecks, "look", lambda places: poor)
    with pytest.raises(PrerequisiteError) as raised:
        prechecks.require(CloudPlaces(tmp_path), has_root=False)
    assert raised.value.exit_code == 12
    for word in ("memory", "disk", "cores", "root privileges", "programs", "ports"):
        assert word in raised.value.what


def test_a_port_in_use_is_seen(tmp_path, monkeypatch):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        monkeypatch.setattr(prechecks, "PORTS", {"keystone": port})
        assert prechecks.look(CloudPlaces(tmp_path)).taken_ports == (port,)
