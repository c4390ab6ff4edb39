"""Whatever takes a whole cloud down asks first whether others have something on it; --evict is the answer."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.cli import devcloud
from nfvbed.cli.main import main
from nfvbed.errors import BusyError
from nfvbed.sites.kolla import staged
from nfvbed.sites.kolla.executor import journal as journals
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured import tenants
from nfvbed.sites.kolla.rack import RackStages
from nfvbed.sites.kolla.site import RackSite
from nfvbed.sites.openstack import site as openstack_site
from nfvbed.sites.openstack.site import OpenstackSite

ROOT = Path(__file__).parents[3]


def refuse(site, connect, journal, owners):
    raise BusyError(f"site {site} is not taken down: 1 things on it are not nfvbed's")


@pytest.fixture(autouse=True)
def _others(monkeypatch):
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    monkeypatch.setattr("nfvbed.cloud.tacker.others.require_none", refuse)


class Cloud:
    """A devcloud that runs: it notes what was done to it."""

    def __init__(self, folder):
        self.places = SimpleNamespace(run=folder, clouds=folder / "clouds.yaml")
        self.flavors, self.stopped = (), 0

    def find_node(self):
        return object()

    def stop(self):
        self.stopped += 1
        return True


def test_devcloud_stop_asks(tmp_path, monkeypatch, capsys):
    cloud = Cloud(tmp_path)
    monkeypatch.setattr(devcloud, "_cloud", lambda: cloud)
    for words in ((), ("--dry-run",)):
        assert main(["devcloud", "stop", *words]) == 13
    assert "are not nfvbed's" in capsys.readouterr().err
    assert cloud.stopped == 0
    assert main(["devcloud", "stop", "--evict"]) == 0
    assert cloud.stopped == 1


def test_destroy_of_a_devcloud_asks(tmp_path):
    cloud = Cloud(tmp_path)
    target = SimpleNamespace(ours=True, folder=tmp_path, runs=lambda: True, connection=None, stop=cloud.stop)
    machine = SimpleNamespace(begin=lambda: None)
    place = OpenstackSite("dev", machine, target, SimpleNamespace(renews=None, form="legacy"))
    for ask in (place.take_down, place.foresee_take_down):
        with pytest.raises(BusyError):
            ask()
    assert cloud.stopped == 0
    place.evicts = True
    assert place.take_down() == ("the cloud is taken down",)
    target.runs, place.evicts = (lambda: False), False
    assert openstack_site.NOTHING_DEPLOYED in place.foresee_take_down(), "what does not run is not asked"


def test_evict_is_of_whole_clouds_alone(capsys):
    assert main(["destroy", "--site", "lab", "--evict", "--dry-run"]) == 2
    assert "--evict: of sites that are a whole cloud" in capsys.readouterr().err


@pytest.fixture(name="places")
def _places(tmp_path):
    """A rack whose cloud runs."""
    places = RackPlaces.of(tmp_path, "rack")
    places.make()
    written = Journal(variant="ovs-dpdk", release="2026.1", digest="1").noted("deploy", "done")
    journals.write(places, written)
    places.clouds.write_text("clouds: {}")
    return places


def test_a_rack_is_asked_while_its_cloud_can_have_anything(places):
    with pytest.raises(BusyError):
        tenants.require_own(places, "rack", evict=False)
    tenants.require_own(places, "rack", evict=True)
    journals.write(places, journals.read(places).model_copy(update={"destroying": True}))
    tenants.require_own(places, "rack", evict=False)
    journals.forget(places)
    tenants.require_own(places, "rack", evict=False)


def test_destroy_and_redeploy_of_a_rack_ask_before_anything(places, monkeypatch):
    monkeypatch.setattr(staged.RackPlaces, "of", lambda root, site: places)
    monkeypatch.setattr(staged.destroying, "destroy", lambda *_: pytest.fail("it is taken down"))
    monkeypatch.setattr(staged, "prepare", lambda project, wish: None)
    monkeypatch.setattr(staged, "deploy", lambda *_: pytest.fail("it is deployed"))
    for words in (
        ("destroy", "--site", "rack", "--yes", "rack"),
        ("destroy", "--site", "rack", "--dry-run"),
        ("deploy", "ovs-kernel", "--site", "rack", "--redeploy", "--yes", "rack"),
        ("deploy", "ovs-kernel", "--site", "rack", "--redeploy", "--dry-run"),
    ):
        assert main(words) == 13, words


def test_a_redeployment_reads_everything_before_the_other_variant_goes(places, monkeypatch, tmp_path):
    monkeypatch.setattr(staged.RackPlaces, "of", lambda root, site: places)
    monkeypatch.setattr(staged, "require_own", lambda *_, **__: pytest.fail("it is about to be taken down"))
    monkeypatch.setattr(staged.destroying, "destroy", lambda *_: pytest.fail("it is taken down"))
    for words in (("--dry-run",), ("--yes", "rack")):
        assert main(["deploy", "vale", "--site", "rack", "--redeploy", *words]) == 11, "no release deploys it"


def test_an_exchange_between_rounds_asks(places, monkeypatch):
    spec = SimpleNamespace(name="rack", swap="abba", computes=())
    place = RackSite.__new__(RackSite)
    place._rack, place._root = SimpleNamespace(site=spec, pinning="before", places=places), ROOT
    place._exchanging = lambda *_: pytest.fail("it is deployed again")
    monkeypatch.setattr("nfvbed.sites.kolla.site.exchange.require_twins", lambda *_: None)
    monkeypatch.setattr("nfvbed.sites.kolla.site.twins.describe", lambda *_: {})
    monkeypatch.setattr("nfvbed.sites.kolla.site.exchange.wanted_in", lambda *_: "after")
    with pytest.raises(BusyError):
        place.begin_round(2)


def test_a_rack_that_is_destroyed_is_asked_once(places, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(staged, "require_own", lambda *_, evict: None if evict else asked.append("asked"))
    monkeypatch.setattr(staged.destroying, "destroy", lambda *_: ("is taken down",))
    stages = RackStages(SimpleNamespace(name="rack"), tmp_path)
    monkeypatch.setattr(RackStages, "_project", SimpleNamespace(root=tmp_path))
    assert stages.is_there(evicts=False)
    assert stages.take_down(None, evicts=False) == ("is taken down",)
    assert asked == ["asked"]
    RackStages(SimpleNamespace(name="rack"), tmp_path).take_down(None, evicts=False)
    assert asked == ["asked", "asked"], "who takes it down without having asked asks"
