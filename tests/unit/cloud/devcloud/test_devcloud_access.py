"""How this machine reaches its cloud, and what is seen of one."""

import os

import yaml

from nfvbed.cloud.devcloud import access
from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.devcloud.status import pss_kib
from nfvbed.host.ledger.entries import ProcessEntry
from nfvbed.host.ledger.processes import start_time

ROLLUP = """\
55d0c0a00000-7ffd3f5f3000 ---p 00000000 00:00 0                          [rollup]
Rss:              171132 kB
Pss:              149012 kB
Pss_Dirty:        140000 kB
Shared_Clean:      12000 kB
"""


def test_clouds_yaml_is_read_by_the_client_as_it_is():
    clouds = yaml.safe_load(access.clouds_yaml("geheim"))["clouds"]
    (cloud,) = clouds.values()
    assert list(clouds) == ["nfvbed-devcloud"]
    assert cloud["auth"]["auth_url"] == "http://127.0.0.1:15000/v3"
    assert (cloud["auth"]["username"], cloud["auth"]["password"]) == ("admin", "geheim")


def test_a_private_file_is_never_readable_by_others(tmp_path):
    path = tmp_path / "clouds.yaml"
    write_private(path, "one")
    write_private(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["clouds.yaml"]


def test_a_relay_that_ended_does_not_count():
    mine = ProcessEntry(name="relay", pid=os.getpid(), start_time=start_time(os.getpid()))
    other = mine.model_copy(update={"start_time": mine.start_time - 1})
    assert access.relay_runs([mine])
    assert not access.relay_runs([other, mine.model_copy(update={"name": "node-controller"})])


def test_a_compute_nodes_relay_is_another_one():
    mine = ProcessEntry(name="relay-macvtap", pid=os.getpid(), start_time=start_time(os.getpid()))
    assert access.relay_runs([mine], "macvtap")
    assert not access.relay_runs([mine])
    assert not access.relay_runs([mine], "linux-bridge")
    assert 5672 in access.COMPUTE_PORTS


def test_memory_is_read_from_the_kernels_sum():
    assert pss_kib(ROLLUP) == 149_012
    assert pss_kib("") == 0
