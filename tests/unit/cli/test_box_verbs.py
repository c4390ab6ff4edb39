"""A rack in a box by its verbs, where no machine of it runs; what really starts one is in tests/kolla_box."""

import json
import shutil

import pytest

from nfvbed.cli import entering
from nfvbed.cli.main import main
from nfvbed.cloud.box import prechecks
from nfvbed.cloud.box.layout import SWITCH
from nfvbed.cloud.box.prechecks import HostState
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import PrerequisiteError
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.spec.root import find_root

ROOT = find_root(None)


@pytest.fixture(name="root", autouse=True)
def _root(tmp_path, monkeypatch):
    for folder in ("deploy/variants", "deploy/sites", "flavors", "kolla/releases", "vnfd"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "vsperf-conf" / "experiments").mkdir(parents=True)
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    monkeypatch.delenv("NFVBED_CACHE", raising=False)
    monkeypatch.setattr("nfvbed.cloud.box.box.end_like_interrupt", lambda: None)
    return tmp_path


def reported(capsys, *arguments, code=0):
    assert main(arguments) == code
    return capsys.readouterr()


def test_a_box_that_is_down_says_so(root, capsys):
    assert reported(capsys, "rack", "status").out == "no machine of site box runs: nfvbed rack start --site box\n"
    found = json.loads(reported(capsys, "rack", "status", "--json").out)
    assert not found["up"] and {one["systemd"] for one in found["machines"]} == {"off"}
    assert found["registry"] == "10.10.0.1:5000"
    assert reported(capsys, "rack", "stop").out == "no machine of site box runs\n"
    assert reported(capsys, "rack", "stop", "--dry-run").out == "no machine of site box runs\n"
    lines = reported(capsys, "rack", "start", "--dry-run").out.splitlines()
    assert [line.split()[0] for line in lines][:2] == ["root", "machines"]
    assert all("to do" in line for line in lines) and not (root / ".nfvbed").exists()


def test_a_machine_is_named_where_it_does_not_run(capsys):
    for verb in ("logs", "shell"):
        assert "machine compute1 of site box does not run" in reported(capsys, "rack", verb, "compute1", code=20).err
        refused = reported(capsys, "rack", verb, "compute9", code=10).err
        assert "site box has no machine compute9" in refused and f"one of {SWITCH}, controller" in refused


def test_consoles_are_of_what_is_onboarded(capsys):
    assert "site box has no cloud" in reported(capsys, "rack", "console", code=11).err
    assert (
        "the machines of site rack are not a box" in reported(capsys, "rack", "console", "--site", "rack", code=10).err
    )


def test_a_host_that_is_too_small_starts_nothing(root, capsys, monkeypatch):
    small = HostState(4096, 60000, 2, True, (), "ext4", True, 0)
    monkeypatch.setattr(prechecks, "look", lambda places: small)
    for words in (("rack", "start"), ("rack", "start", "--no-images"), ("deploy", "ovs-dpdk", "--site", "box")):
        refused = reported(capsys, *words, code=12).err
        assert "it lacks 12288 MiB of memory" in refused and "4096 MiB are available" in refused
    assert not (root / ".nfvbed/box/box/machines").exists()


def test_addresses_of_a_box_that_is_down_are_asked_by_nobody(root, capsys):
    assert "the machines of site box are not up" in reported(capsys, "doctor", "--site", "box", code=12).err
    assert reported(capsys, "destroy", "--site", "box").out == "nothing is deployed on site box\n"
    places = RackPlaces.of(root, "box")
    places.make()
    journal.write(places, Journal(variant="ovs-dpdk", release="2026.1", digest="0").noted("deploy", "done"))
    spec = open_project(root).load_site("box")
    with pytest.raises(PrerequisiteError) as failure:
        entering.open_site(spec, root)
    assert "nfvbed rack start --site box" in failure.value.fix
    with places.taken():
        assert "another nfvbed is at work on site box" in reported(capsys, "rack", "stop", code=13).err
    reported(capsys, "rack", "stop")
    assert journal.read(places) is None  # the machines that it was on are gone


def test_sites_without_a_box_are_opened_as_they_are(root):
    for name in ("lab", "rack"):
        entering.enter_box(open_project(root).load_site(name), root, needed=True)
