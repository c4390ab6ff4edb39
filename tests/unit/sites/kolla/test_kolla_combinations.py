"""Every variant with every release on every example site."""

from pathlib import Path

from nfvbed.sites.kolla.combinations import EXAMPLES, combinations
from nfvbed.spec.site import KollaSiteSpec
from tests.contract.source import tracked
from tests.unit.sites.kolla.orders import PROJECT

ALL = combinations(PROJECT)
CHECKED_ELSEWHERE = {"rack-three-controllers", "box", "box-twins"}
"""Example sites that other files check: tests/kolla/test_controllers_genconfig.py, where a variant is to its
controllers as to one; test_kernel_limits.py; and test_box_twins.py."""


def test_none_is_left_out():
    names = [path.stem for path in tracked() if path.parent == Path("deploy/sites") and path.suffix == ".yml"]
    sites = sorted(name for name in names if isinstance(PROJECT.load_site(name), KollaSiteSpec))
    assert set(sites) == {*EXAMPLES, *CHECKED_ELSEWHERE}
    variants = [variant.name for variant in PROJECT.list_variants()]
    assert len(ALL) == len(EXAMPLES) * len(variants) * len(PROJECT.kolla_release_names)
    assert len({(one.variant, one.site, one.release) for one in ALL}) == len(ALL)


def test_each_is_rendered_or_has_its_reason():
    found = {(one.variant, one.release): one for one in ALL if one.site == "rack-connectx"}
    assert found["sriov", "ocata"].rendered and found["sriov", "ocata"].reason == ""
    assert not found["ovs-dpdk", "ocata"].rendered and "since 5.0 (Pike)" in found["ovs-dpdk", "ocata"].reason
    # A site that lacks a NIC is as much a reason as a release that lacks an agent.
    assert "no NIC for variant sriov" in next(
        one.reason for one in ALL if (one.variant, one.release, one.site) == ("sriov", "2026.1", "rack-two-machines")
    )
