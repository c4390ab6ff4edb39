"""Which functional tests run beside the others is worked out of what they are given; none of them is run here."""

import os
from types import SimpleNamespace

import pytest

from tests.functional import lanes
from tests.functional.declared import PROJECT
from tests.functional.deployed_plane import Case


def takes(**params):
    return lanes.takes_hugepages(SimpleNamespace(callspec=SimpleNamespace(params=params)))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("ovs-dpdk", True), ("testpmd", True), ("vpp-af-packet", True), ("linux-bridge", False), ("xdp", False)],
)
def test_a_variant_takes_hugepages_however_a_test_is_given_it(name, wanted):
    variant = PROJECT.load_variant(name)
    for given in (name, variant, Case(variant, "p2p"), ("pvp", name), [variant]):
        assert takes(frames=3, plane=given) is wanted


def test_without_a_variant_there_is_none_that_takes_any():
    assert not lanes.takes_hugepages(SimpleNamespace())
    assert not takes(name="no-such-variant", count=1)


def test_a_pool_that_was_written_is_noticed_whatever_was_written(tmp_path, monkeypatch):
    monkeypatch.delenv("APART", raising=False)
    assert lanes.pools_written() == {}
    pool = tmp_path / "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
    pool.parent.mkdir(parents=True)
    pool.write_text("0\n")
    monkeypatch.setenv("APART", str(tmp_path))
    before = lanes.pools_written()
    assert list(before) == [pool]
    os.utime(pool, ns=(0, 0))
    before = lanes.pools_written()
    pool.write_text("0\n")
    assert lanes.pools_written() != before
