"""What holds for every site: lab, clouds and racks with doubles of what they reach, the simulated one, one in memory.

A site of a new kind is a line in `PLACES`. What only one site has is in the folder of that site.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BusyError, UnsupportedError
from nfvbed.records import CellRole, Deployment, Readiness
from nfvbed.records.readings import NOT_ASKED, Part, Unavailable
from nfvbed.sites.catalogue import SITES, find_site, open_site
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.site import LabSite
from nfvbed.sites.openstack.existing.vnfs import ExistingVnfs
from nfvbed.sites.openstack.site import OpenstackSite
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.sites.site import Site
from nfvbed.spec.existing import ExistingPathSpec
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.variant import Variant
from nfvbed.traffic.generator import TrafficRequest
from tests.unit.cli.memory_site import MemorySite, MemorySiteSpec
from tests.unit.sites.kolla.test_measured_rack import rack_site
from tests.unit.sites.lab.fake_vnfs import FakePlanes
from tests.unit.sites.openstack.test_existing_survey import FakeCloud, existing, spec

PROJECT = open_project()
REQUEST = TrafficRequest(duration_ns=1_000_000, frame_size=64)
STANDS = Deployment(id="d", variant="ovs-dpdk", site="s", topology="pvp", ports=())


def _lab(root: Path) -> Site:
    return LabSite(FakePlanes(directory=str(root)), root)


def _cloud(root: Path) -> Site:
    target = existing(FakeCloud(), root)
    return OpenstackSite("c", LabMachine(spec(), root), target, ExistingVnfs("c", ExistingPathSpec(), target))


def _devcloud(root: Path) -> Site:
    return open_site(PROJECT.load_site("devcloud"), root)


def _rack(root: Path) -> Site:
    places = RackPlaces.of(root, "rack")
    places.make()
    journal.write(places, Journal(variant="ovs-dpdk", release=NEWEST, digest="d").noted("deploy", "done"))
    write_private(places.clouds, "clouds: {}\n")
    return open_site(rack_site(), root)


def _memory(root: Path) -> Site:
    return MemorySite(MemorySiteSpec(name="memory", kind="memory", rack="r1"))


@dataclass(frozen=True)
class Place:
    """A site, and what its double lets it do."""

    open: Callable[[Path], Site]
    kind: str = ""
    """Kind in its file, where the catalogue has it."""
    runs: str = ""
    """A variant that it deploys; empty: its double has nothing to deploy on."""
    other: str = ""
    """Another variant that it would deploy."""
    refuses: str = ""
    """A variant that it cannot have; empty: only its machine knows."""
    begins: bool = False
    """Whether it can be taken and let go of without touching this machine."""


PLACES = {
    "lab": Place(_lab, "lab", runs="linux-bridge"),
    "simulated": Place(lambda root: SimulatedSite(), runs="simulated", refuses="linux-bridge", begins=True),
    "memory": Place(_memory, runs="linux-bridge", other="ovs-kernel", refuses="vpp", begins=True),
    "cloud": Place(_cloud, "cloud", refuses="vale"),
    "devcloud": Place(_devcloud, "devcloud", refuses="vale"),
    "rack": Place(_rack, "kolla", refuses="vale"),
}
ABSENT: dict[str, Callable[[Path], Site]] = {
    "guest": lambda root: find_site(PROJECT.load_site("guest-node"), root),
    "kolla": lambda root: find_site(rack_site(), root),
}
"""By kind: a site on which nothing runs, as this machine is not it, or nothing is deployed."""


def each(can: Callable[[Place], object]) -> pytest.MarkDecorator:
    """Run a test over the places whose double can do what it is about."""
    return pytest.mark.parametrize("place", [pytest.param(one, id=name) for name, one in PLACES.items() if can(one)])


@pytest.fixture(name="site")
def _site(place, tmp_path, monkeypatch):
    for name in ("deploy", "flavors", "vnfd", "kolla", "images"):
        (tmp_path / name).symlink_to(PROJECT.root / name)
    monkeypatch.setattr(MemorySite, "deployed", {})
    monkeypatch.setattr(MemorySite, "log", [])
    return place.open(tmp_path)


def variant_of(name: str) -> Variant:
    return PROJECT.load_variant(name)


@pytest.mark.parametrize("kind", ABSENT)
def test_where_nothing_runs_everything_is_refused_with_one_reason_and_what_to_do(kind, tmp_path):
    for name in ("deploy", "flavors", "vnfd", "kolla", "images"):
        (tmp_path / name).symlink_to(PROJECT.root / name)
    site = ABSENT[kind](tmp_path)
    calls = (site.require_open, site.facts, site.begin, site.find_deployed, lambda: site.probe(variant_of("vale")))
    reasons = set()
    for call in calls:
        with pytest.raises(UnsupportedError) as refused:
            call()
        assert refused.value.fix
        reasons.add(str(refused.value))
    assert len(reasons) == 1
    site.close()


def test_every_kind_of_site_is_among_them():
    assert {place.kind for place in PLACES.values() if place.kind} | set(ABSENT) == set(SITES)


@each(lambda place: place.open is not _lab)
def test_it_says_what_it_is(site, place):
    assert site.name
    assert json.loads(json.dumps(site.facts())) == site.facts()
    findings = site.examine().findings
    assert findings
    assert all(finding.topic and finding.summary and finding.probed for finding in findings)


@each(lambda place: place.refuses)
def test_what_it_cannot_run_is_unsupported_with_the_reason_and_refused_with_the_same(site, place):
    support = site.probe(variant_of(place.refuses))
    assert (support.variant, support.readiness) == (place.refuses, Readiness.UNSUPPORTED)
    assert support.reason and support.fix
    with pytest.raises(UnsupportedError) as refused:
        site.require(variant_of(place.refuses))
    assert support.reason in str(refused.value)
    assert refused.value.fix == support.fix


@each(lambda place: place.runs != "simulated")
def test_a_path_that_the_variant_lacks_is_refused_before_anything_is_asked(site, place):
    with pytest.raises(UnsupportedError) as refused:
        site.require_possible(variant_of("macvtap"), "p2p")
    assert refused.value.where


@each(lambda place: not place.runs)
@pytest.mark.parametrize(
    ("verb", "arguments"),
    [("foresee_scale", (STANDS, 2)), ("scale", (STANDS, 2)), ("reset", (STANDS, 0.0))],
)
def test_a_verb_that_a_cloud_lacks_says_so_and_what_to_do(site, verb, arguments):
    with pytest.raises(UnsupportedError) as refused:
        getattr(site, verb)(*arguments)
    assert refused.value.fix


@each(lambda place: place.begins)
def test_it_is_taken_and_let_go_of_as_often_as_one_likes(site, place):
    site.begin()
    site.begin(many=True)
    assert site.find_deployed() is None
    assert site.foresee_take_down() == site.take_down() == site.take_down(everything=True)
    site.close()
    site.close()


@each(lambda place: place.runs)
def test_the_life_of_a_deployment(site, place):
    deployment = site.deploy(variant_of(place.runs), "p2p")
    assert (deployment.variant, deployment.topology, deployment.role) == (place.runs, "p2p", CellRole.SUBJECT)
    assert Deployment.model_validate_json(deployment.model_dump_json()) == deployment
    site.verify(deployment)
    assert json.loads(json.dumps(site.rig(deployment))) == site.rig(deployment)
    assert len(site.generator_ports(deployment)) == 2
    generator = site.open_generator(deployment)
    site.wait_for_generator(deployment)
    assert all(generator.hello().link_up)
    assert all(way.received == way.sent > 0 for way in generator.run(REQUEST).directions)
    generator.close()
    successor = site.open_generator(deployment)
    assert len(successor.run(REQUEST).directions) == 2
    successor.close()
    site.destroy(deployment)
    site.destroy(deployment)


@each(lambda place: place.runs)
def test_a_look_has_each_part_that_was_asked_for_or_why_not_and_no_other(site, place):
    deployment = site.deploy(variant_of(place.runs), "p2p")
    counted = site.look(deployment, Part.HOPS, Part.THREADS)
    parts = {part: getattr(counted, part.value) for part in Part}
    assert all(parts[part] is NOT_ASKED for part in set(Part) - {Part.HOPS, Part.THREADS})
    for part in (Part.HOPS, Part.THREADS):
        assert parts[part] is not NOT_ASKED
        assert not isinstance(parts[part], Unavailable) or parts[part].reason
    site.destroy(deployment)


@each(lambda place: place.other)
def test_what_stays_is_found_again_and_nothing_else_is_deployed_beside_it(site, place):
    site.begin()
    first, existed = site.deploy_to_stay(variant_of(place.runs), "p2p")
    assert not existed
    assert site.deploy_to_stay(variant_of(place.runs), "p2p") == (first, True)
    assert site.find_deployed().deployment == first
    with pytest.raises(BusyError) as refused:
        site.deploy_to_stay(variant_of(place.other), "p2p")
    assert refused.value.fix
    assert site.foresee_take_down() and site.find_deployed() is not None, "nothing was changed"
    assert site.take_down()
    assert site.find_deployed() is None
    site.close()
