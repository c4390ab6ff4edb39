"""Twins: their descriptions, aggregates that choose between them, a round that exchanges them, and what is compared."""

import json
from pathlib import Path

import pytest
from openstack.exceptions import ConflictException

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker import zones
from nfvbed.errors import ConfigurationError, DeployError, OnboardError, UnsupportedError
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured import aggregates, exchange, tenants, twins
from nfvbed.sites.kolla.measured.cloud import RackCloud
from nfvbed.sites.kolla.measured.described import described
from nfvbed.sites.kolla.measured.opened import deployed_rack
from nfvbed.sites.kolla.site import RackSite
from nfvbed.spec.kollarelease import NEWEST
from tests.unit.sites.kolla.orders import PROJECT, pinned

RECORDED = json.loads((Path(__file__).parent / "recorded/two_core_vm.json").read_text())
VARIANTS = ("ovs-dpdk", "ovs-kernel")


def pinned_site(**keys):
    at = pinned(*VARIANTS, **keys)
    return at.model_copy(update={"generator": at.generator.model_copy(update={"nfvgen": "/opt/nfvgen"})})


def journal_of(pins, name):
    return Journal(variant=name, pins=pins, release=NEWEST, digest="0123456789").noted("deploy", "done")


@pytest.fixture(name="root")
def _root(tmp_path):
    for name in ("deploy", "flavors", "vnfd", "kolla"):
        (tmp_path / name).symlink_to(PROJECT.root / name)
    places = RackPlaces.of(tmp_path, "rack")
    places.make()
    journal.write(places, journal_of({"compute1": VARIANTS[0], "compute2": VARIANTS[1]}, "both"))
    write_private(places.clouds, "clouds: {}\n")
    return tmp_path


def cloud_of(root):
    rack = deployed_rack(pinned_site(), root)
    return RackCloud(described(rack.site, rack.release.name), root, rack)


def changed(**files):
    return RECORDED | {"files": RECORDED["files"] | files}


def describe(document, name="compute1"):
    return twins.description(pinned_site().hosts[name], document)


def test_what_a_variant_changes_on_a_machine_is_not_in_its_hash():
    base = describe(RECORDED)
    for path in ("proc/sys/kernel/hostname", "proc/sys/kernel/random/boot_id"):
        assert twins.hash_of(describe(changed(**{path: "another"}))) == twins.hash_of(base)


def test_what_makes_machines_different_is_in_it():
    base = describe(RECORDED)
    cpuinfo = "vendor_id : GenuineIntel\nmodel name : another\nflags : fpu\n"
    for path, text in (
        ("proc/cpuinfo", cpuinfo),
        ("proc/cmdline", "root=/dev/vda1 isolcpus=7 password=not-shown"),
        ("proc/sys/kernel/osrelease", "1.0"),
        ("sys/devices/system/cpu/vulnerabilities/meltdown", "Vulnerable"),
    ):
        found = describe(changed(**{path: text}))
        assert twins.hash_of(found) != twins.hash_of(base), path
        assert "not-shown" not in json.dumps(found)


def test_two_that_are_no_twins_are_not_exchanged():
    first, second = describe(RECORDED), describe(changed(**{"proc/sys/kernel/osrelease": "1.0"}))
    with pytest.raises(UnsupportedError, match="compute1 and compute2 are no twins") as error:
        exchange.require_twins(pinned_site(), {"compute1": first, "compute2": second})
    assert error.value.observed == f"kernel: {first['kernel']} -> 1.0"
    exchange.require_twins(pinned_site(), {"compute1": first, "compute2": describe(RECORDED)})


def test_a_site_that_does_not_say_how_machines_are_reached():
    silent = pinned_site().model_copy(update={"ssh": None})
    with pytest.raises(ConfigurationError, match="it is not known how compute1 is reached"):
        twins.describe(silent, ["compute1"])


class Aggregates:
    """Stands for Nova's aggregates in openstacksdk's connection: a double."""

    def __init__(self):
        self.compute, self.made = self, {}

    def aggregates(self):
        return [Aggregate(name, one["hosts"]) for name, one in self.made.items()]

    def create_aggregate(self, name, availability_zone=None):
        self.made[name] = {"hosts": [], "metadata": {}, "zone": availability_zone}
        return Aggregate(name, [])

    def add_host_to_aggregate(self, aggregate, host):
        self.made[aggregate.name]["hosts"].append(host)

    def remove_host_from_aggregate(self, aggregate, host):
        self.made[aggregate.name]["hosts"].remove(host)

    def set_aggregate_metadata(self, aggregate, metadata):
        kept = self.made[aggregate.name]["metadata"] | metadata
        self.made[aggregate.name]["metadata"] = {key: value for key, value in kept.items() if value is not None}


class Aggregate:
    """Stands for one."""

    def __init__(self, name, hosts):
        self.name, self.hosts = name, list(hosts)


def test_instances_come_to_one_variants_computes_at_a_time(root):
    nova, pinning = Aggregates(), deployed_rack(pinned_site(), root).pinning
    for _ in range(2):
        aggregates.provide(nova, pinning)
    assert {name: one["hosts"] for name, one in nova.made.items()} == {
        "nfvbed-ovs-dpdk": ["compute1"],
        "nfvbed-ovs-kernel": ["compute2"],
    }
    for variant in (*VARIANTS, VARIANTS[0]):
        aggregates.choose(nova, pinning, variant)
        taking = [name for name, one in nova.made.items() if one["metadata"] == {aggregates.PROPERTY: "yes"}]
        assert taking == [f"nfvbed-{variant}"]


def test_a_compute_that_is_pinned_otherwise_leaves_its_aggregate(root):
    nova, rack = Aggregates(), deployed_rack(pinned_site(), root)
    aggregates.provide(nova, rack.pinning)
    aggregates.provide(nova, exchange.wanted_in(PROJECT, pinned_site(swap="abba"), 2))
    assert nova.made["nfvbed-ovs-dpdk"]["hosts"] == ["compute2"]


def test_both_variants_are_there_to_be_measured(root):
    cloud = cloud_of(root)
    for name in VARIANTS:
        said = cloud.compute(PROJECT.load_variant(name)).versions()["deployed, not read"]
        assert said.startswith(f"{name} by kolla-ansible ")
    with pytest.raises(UnsupportedError, match="does not have variant vpp"):
        cloud.compute(PROJECT.load_variant("vpp"))


def test_an_instance_on_another_variants_compute_is_an_error(root):
    variant = PROJECT.load_variant("ovs-dpdk")
    cloud = cloud_of(root)
    cloud.host_of = lambda one: one.host
    compute = cloud.compute(variant)
    compute.adopt(variant, [PlacedInstance("id", "vnf1", "compute1", ())])
    with pytest.raises(DeployError, match="vnf1 is not on a compute that has ovs-dpdk") as error:
        compute.adopt(variant, [PlacedInstance("id", "vnf1", "compute2", ())])
    assert "AggregateInstanceExtraSpecsFilter" in error.value.fix
    cloud.host_of = lambda one: "compute2"
    with pytest.raises(DeployError, match="vnf1 is on another compute than when it was onboarded"):
        compute.adopt(variant, [PlacedInstance("id", "vnf1", "compute1", ())])


class Exchanging:
    """Stands for what deploys a rack: a double that writes the journal of another deployment."""

    def __init__(self, root):
        self.root, self.asked = root, []

    def __call__(self, project, rack, pinning):
        self.asked.append(pinning.name)
        pins = {host: one.name for host, one in pinning.variants.items()}
        journal.write(rack.places, journal_of(pins, pinning.name))


@pytest.fixture(name="alike")
def _alike(monkeypatch):
    found = {name: describe(RECORDED) for name in ("compute1", "compute2")}
    monkeypatch.setattr(twins, "describe", lambda site, computes: found)
    monkeypatch.setattr(tenants, "require_own", lambda *_, **__: None)  # the double's cloud belongs to no user
    return found


def test_a_round_has_the_twins_as_it_wants_them(root, alike):
    doing = Exchanging(root)
    place = RackSite(deployed_rack(pinned_site(swap="abba"), root), root, None, doing)
    for number in range(1, 5):
        place.begin_round(number)
    there, turned = "ovs-dpdk on compute1, ovs-kernel on compute2", "ovs-kernel on compute1, ovs-dpdk on compute2"
    assert doing.asked == [turned, there]


def test_a_rack_that_swaps_never_is_left_alone(root, monkeypatch):
    monkeypatch.setattr(twins, "describe", lambda *_: pytest.fail("it was asked"))
    doing = Exchanging(root)
    RackSite(deployed_rack(pinned_site(), root), root, None, doing).begin_round(2)
    assert doing.asked == []


def test_a_rig_names_what_a_compute_is_and_not_which(root, alike):
    cloud = cloud_of(root)
    assert len(set(cloud.computes.values())) == 1
    other = describe(changed(**{"proc/sys/kernel/osrelease": "1.0"}))
    alike["compute2"] = other
    assert len(set(cloud_of(root).computes.values())) == 2


def test_each_compute_gets_a_zone_of_its_own_once(root):
    nova = Aggregates()
    for _ in range(2):
        assert zones.provide_zones(nova, ("compute1", "compute2")) == {
            "compute1": "nfvbed-on-compute1",
            "compute2": "nfvbed-on-compute2",
        }
    assert {name: (one["hosts"], one["zone"]) for name, one in nova.made.items()} == {
        "nfvbed-on-compute1": (["compute1"], "nfvbed-on-compute1"),
        "nfvbed-on-compute2": (["compute2"], "nfvbed-on-compute2"),
    }
    aggregates.provide(nova, deployed_rack(pinned_site(), root).pinning)
    assert len(nova.made) == 4, "a variant's aggregate is none of them"


def test_a_compute_that_nova_gives_no_other_zone():
    """As Nova says it of a compute with instances, or in a zone of others (nova.compute.api, 2026.1)."""

    class Refusing(Aggregates):
        def add_host_to_aggregate(self, aggregate, host):
            raise ConflictException("One or more hosts contain instances in this zone")

    with pytest.raises(OnboardError, match="compute compute1 cannot be given an availability zone") as error:
        zones.provide_zones(Refusing(), ("compute1",))
    assert "contain instances" in error.value.observed and "remove the instances" in error.value.fix
