"""`nfvbed verify` of a rack: by what was written down when it was deployed, else by what is said of it."""

import json

import pytest

from nfvbed.cli.main import main
from nfvbed.cloud.devcloud.places import write_private
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records.findings import Finding, State
from nfvbed.sites.kolla import verified
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.spec.kollarelease import NEWEST

PROJECT = open_project()
SHARED = ("deploy", "flavors", "vnfd", "kolla", "vsperf-conf", "tosca", "images", "pyproject.toml")


def finding(topic="agents", state=State.PRESENT):
    return Finding(topic=topic, state=state, summary="4 alive", probed="asked the API", fix="restart it")


@pytest.fixture(name="root")
def _root(tmp_path, monkeypatch):
    for name in SHARED:
        if (PROJECT.root / name).exists():
            (tmp_path / name).symlink_to(PROJECT.root / name)
    monkeypatch.setattr("nfvbed.cli.verify.open_project", lambda: open_project(tmp_path))
    return tmp_path


@pytest.fixture(name="places")
def _places(root):
    found = RackPlaces.of(root, "rack")
    found.make()
    write_private(found.clouds, json.dumps({"clouds": {"rack": {"auth": {"auth_url": "http://10.10.0.250:5000"}}}}))
    pins = {"compute1": "ovs-dpdk", "compute2": "ovs-kernel"}
    written = Journal(
        variant="ovs-dpdk on compute1, ovs-kernel on compute2", pins=pins, release=NEWEST, digest="0123456789"
    )
    journal.write(found, written.noted("tune", "done"))
    return found


@pytest.fixture(name="read")
def _read(monkeypatch):
    """What is read of machines and of the cloud's APIs: doubles, which remember what was expected."""
    asked = []

    def double(order, connection):
        asked.append({name: order.plane_on(name).name for name in order.hosts})
        return (finding(),)

    monkeypatch.setattr(verified, "verify_rack", double)
    monkeypatch.setattr(verified, "connect", lambda name, file: (name, file))
    return asked


@pytest.mark.usefixtures("places")
def test_the_journal_says_what_is_deployed(read, capsys):
    assert main(["verify", "--site", "rack", "--json"]) == 0
    assert read == [{"controller": "", "compute1": "ovs-dpdk", "compute2": "ovs-kernel"}]
    found = json.loads(capsys.readouterr().out)
    assert found["variant"] == "ovs-dpdk on compute1, ovs-kernel on compute2"
    assert (found["deployment"], found["holds"]) == ("01234567", True)
    untold = next(one for one in found["findings"] if one["topic"] == "probe frame")
    assert "names no nfvgen" in untold["summary"] and untold["state"] == "unknown"


def test_what_was_found_is_a_fact_of_the_deployment(places, read, monkeypatch):
    assert main(["verify", "ovs-kernel", "--site", "rack", "--no-probe"]) == 0
    kept = journal.read(places).verified
    assert [one.topic for one in kept.findings] == ["agents", "probe frame"] and kept.at
    monkeypatch.setattr(verified, "verify_rack", lambda *_: (finding(state=State.ABSENT),))
    assert main(["verify", "--site", "rack", "--no-probe"]) == 20
    assert journal.read(places).verified.findings[0].state is State.ABSENT
    assert read


@pytest.mark.usefixtures("places", "read")
def test_another_variant_than_the_deployed_ones(capsys):
    assert main(["verify", "vpp", "--site", "rack"]) == 2
    assert "ovs-dpdk on compute1, ovs-kernel on compute2 is deployed" in capsys.readouterr().err


def test_a_deployment_that_is_not_complete(places, read, capsys):
    journal.write(places, journal.read(places).noted("tune", "failed"))
    assert main(["verify", "--site", "rack"]) == 11
    assert "is not complete on it" in capsys.readouterr().err and read == []


@pytest.mark.usefixtures("root")
def test_a_rack_that_nfvbed_did_not_deploy(capsys):
    assert main(["verify", "--site", "rack"]) == 2
    assert "nfvbed verify VARIANT --site rack" in capsys.readouterr().err


class Place:
    """A double of a rack with a generator: frames come through whatever is asked for."""

    opened: list["Place"] = []

    def __init__(self, rack, root, stages):
        self.rack, self.root, self.closed = rack, root, False
        Place.opened.append(self)

    def to_verify(self, variant):
        return variant

    def close(self):
        self.closed = True


def test_frames_are_sent_through_one_variant_after_the_other(places, read, monkeypatch):
    site = PROJECT.load_site("rack")
    site = site.model_copy(update={"generator": site.generator.model_copy(update={"nfvgen": "/opt/nfvgen"})})
    sent = []

    def through(place, deployed, variant, choice):
        assert not any(not one.closed for one in Place.opened if one is not place), "the other one has the networks"
        sent.append((variant.name, choice()))
        return finding(), finding("probe frame")

    monkeypatch.setattr(verified, "RackSite", Place)
    monkeypatch.setattr(verified, "verify_with_path", through)
    project = open_project(places.directory.parents[2])
    found = verified.verify_deployed(project, None, site, None, lambda variant: f"VNF of {variant.name}").findings
    assert sent == [("ovs-dpdk", "VNF of ovs-dpdk"), ("ovs-kernel", "VNF of ovs-kernel")]
    assert [one.topic for one in found] == ["agents", "probe frame: ovs-dpdk", "probe frame: ovs-kernel"]
    assert all(one.closed for one in Place.opened) and read == []
