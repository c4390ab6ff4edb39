"""Two data planes side by side in a box: what its example site renders, and that one run measures both."""

import pytest

from nfvbed.cli.main import main
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla.boxglobals import BoxHost
from nfvbed.sites.kolla.measured.cloud import RackCloud, RackCompute
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.render import order_pinned, render
from nfvbed.sites.kolla.variables import host_variables
from nfvbed.spec.kollarelease import NEWEST
from tests.unit.sites.kolla.rack_doubles import install, make_root

PROJECT = open_project()
SITE = PROJECT.load_site("box-twins")
PINS = {"compute1": "ovs-dpdk", "compute2": "ovs-afxdp"}
FLAVORS = tuple(PROJECT.load_flavor(name) for name in PROJECT.flavor_names)


@pytest.fixture(name="order")
def _order():
    return order_pinned(pinning_of(PROJECT, SITE, "ovs-dpdk"), SITE, PROJECT.load_kolla_release(NEWEST))


def test_but_for_its_variants_it_is_the_box(order):
    plain = PROJECT.load_site("box")
    beside = {"name", "summary", "computes", "ssh"}
    assert SITE.model_dump(exclude=beside) == plain.model_dump(exclude=beside)
    assert SITE.pinned == PINS and order.pinning.name == "ovs-dpdk on compute1, ovs-afxdp on compute2"


def test_each_compute_has_its_own_switch_and_both_are_prepared_alike(order):
    one, other = (host_variables(order, name) for name in PINS)
    assert (one["enable_ovs_dpdk"], other["enable_ovs_dpdk"]) == (True, False)
    assert "nfvbed_ovs_dpdk" in one["nfvbed_roles"] and "nfvbed_afxdp" not in one["nfvbed_roles"]
    assert "nfvbed_afxdp" in other["nfvbed_roles"] and "nfvbed_ovs_dpdk" not in other["nfvbed_roles"]
    of_kernel = [name for name in one if name.startswith("nfvbed_host_")]
    assert of_kernel and all(one[name] == other[name] for name in of_kernel)


def test_what_is_of_one_compute_is_not_said_of_all(order):
    made = render(order, FLAVORS, BoxHost(has_datapath=False)).files
    assert "enable_ovs_dpdk" not in made["globals.yml"]
    assert "AggregateInstanceExtraSpecsFilter" in made["config/nova/nova-scheduler.conf"]
    assert "reserved_huge_pages" in made["config/nova/compute1/nova.conf"]
    assert "reserved_huge_pages" not in made.get("config/nova/compute2/nova.conf", "")


def test_one_run_measures_both_and_deploys_nothing_again(tmp_path, monkeypatch, capsys):
    make_root(tmp_path, name="mine", pins=PINS)
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    monkeypatch.setattr(RackCompute, "adopt", lambda *_: None)  # the double's instances are all on compute1
    chosen = []
    monkeypatch.setattr(RackCloud, "choose", lambda self, compute: chosen.append(compute.variant))
    rack = install(monkeypatch, tmp_path)
    words = ["run", "pvp", "--site", "mine", "--topology", "pvp", "--frame-size", "64", "--purpose", "survey"]
    status = main([*words, "--repetitions", "2", "--no-doctor"])
    said = capsys.readouterr()
    assert status == 0, said.out + said.err
    assert set(chosen) == set(PINS.values()) and len(rack.requests) == len(chosen)
    assert not rack.onboarded, "each visit removes its own"
    capsys.readouterr()
    assert main(["export", "latest"]) == 0
    exported = capsys.readouterr().out
    assert all(f'"{name}"' in exported for name in PINS.values())
