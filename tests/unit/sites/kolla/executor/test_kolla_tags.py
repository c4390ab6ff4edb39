"""A deployment that Kolla's tags limit: its stages, and how they are remembered. Kolla's playbooks are doubles."""

from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UsageError
from nfvbed.sites.kolla.executor import journal, kollatags, running, stages
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.running import Rack
from nfvbed.sites.kolla.executor.scrub import Scrubber
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.spec.kollarelease import NEWEST
from tests.unit.sites.kolla.executor.test_story import Silent

SITE_YML = """
- name: Group hosts based on configuration
  hosts: all
  tags: always
- name: Apply role kolla_toolbox
  hosts: [kolla_toolbox]
  tags: [common, kolla_toolbox]
- {name: Apply role mariadb, import_playbook: mariadb.yml}
- name: Apply role keystone
  hosts: keystone
  roles: [{role: keystone, tags: keystone}]
  tasks:
    - {name: Configure, include_role: {name: loadbalancer-config}, tags: haproxy}
"""
"""In the form of kolla-ansible 22.2's."""


@pytest.fixture(name="tools")
def _tools(tmp_path):
    folder = tmp_path / "share" / "kolla-ansible" / "ansible"
    folder.mkdir(parents=True)
    (folder / "site.yml").write_text(SITE_YML)
    (folder / "mariadb.yml").write_text("- {name: Apply role mariadb, hosts: mariadb, tags: [mariadb]}\n")
    return Toolset(tmp_path)


def test_tags_of_plays_roles_tasks_and_playbooks_that_are_imported_are_known(tools):
    kollatags.require(("common", "kolla_toolbox", "mariadb", "keystone", "haproxy"), tools)
    kollatags.require((), Toolset(Path("/nowhere")))


@pytest.mark.parametrize("tag", ["keyston", "always", "--limit"])
def test_another_tag_is_refused_as_ansible_would_do_nothing(tools, tag):
    with pytest.raises(UsageError, match=f"no services of tag {tag}") as error:
        kollatags.require(("mariadb", tag), tools)
    assert "common, haproxy, keystone, kolla_toolbox, mariadb" in error.value.fix or tag == "--limit"


def test_kolla_s_commands_get_the_tags_and_nothing_comes_after_them(tmp_path):
    site, places = open_project().load_site("rack"), RackPlaces.of(tmp_path, "rack")
    every = stages.deploying(tmp_path, site)
    some = stages.deploying(tmp_path, site, ("mariadb", "keystone"))
    assert [one.name for one in some] == [one.name for one in every][:5] and some[-1].name == "deploy"
    of_tags = {one.name: one.argv(places)[-2:] for one in some if one.tags}
    assert of_tags == dict.fromkeys(("prechecks", "pull", "deploy"), ("--tags", "mariadb,keystone"))
    assert some[-1].gives_passwords and "mariadb, keystone alone" in some[-1].summary
    assert not any("--tags" in one.argv(places) for one in every)


def test_a_part_is_remembered_and_is_not_done():
    found = Journal(variant="ovs-dpdk", release=NEWEST, digest="d").noted("deploy", "partial", 3.0, "keystone")
    assert not found.is_done("deploy") and found.stopped_in() == "deploy" and found.on_machines


def test_a_limited_stage_runs_again_without_its_tags(tools, tmp_path, monkeypatch):
    ran = []

    class Ansible:
        def __init__(self, *_):
            pass

        def run(self, argv, _story, _log):
            ran.append(" ".join(argv[:2]) + (f" {argv[-1]}" if "--tags" in argv else ""))
            return 0

    monkeypatch.setattr(running, "Ansible", Ansible)
    site, places = open_project().load_site("rack"), RackPlaces.of(tmp_path, "rack")
    places.make()
    rack = Rack(tmp_path, site, places, tools, Silent())
    begun = Journal(variant="ovs-dpdk", release=NEWEST, digest="d")
    found = running.run_stages(rack, stages.deploying(tmp_path, site, ("keystone",)), begun, Scrubber())
    assert [one.outcome for one in found.stages.values()] == ["done", "done", "partial", "partial", "partial"]
    assert found.stages["deploy"].where == "keystone" and ran[-1] == "kolla-ansible deploy keystone"
    ran.clear()
    whole = running.run_stages(rack, stages.deploying(tmp_path, site), found, Scrubber())
    assert ran[:3] == ["kolla-ansible prechecks", "kolla-ansible pull", "kolla-ansible deploy"] and len(ran) == 5
    assert {one.outcome for one in whole.stages.values()} == {"done"} and whole == journal.read(places)


def test_a_tag_without_a_name_is_refused(capsys):
    assert main(["deploy", "ovs-dpdk", "--site", "rack", "--tags", "keystone,"]) == 2
    assert "a tag without a name" in capsys.readouterr().err
    assert main(["deploy", "ovs-kernel", "--site", "lab", "--tags", "keystone"]) == 2
    assert "--tags: of sites of kind kolla alone" in capsys.readouterr().err
