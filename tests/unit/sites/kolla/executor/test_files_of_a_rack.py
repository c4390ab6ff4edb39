"""Journal, lock, access and stages: files alone."""

import json
import stat
from pathlib import Path

import pytest
import yaml

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BusyError, ConfigurationError, DeployError, PrerequisiteError, UnsupportedError
from nfvbed.sites.kolla.executor import access, journal, passwords, stages, takeover
from nfvbed.sites.kolla.executor.deploying import RackRequest, require_free
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.toolset import Toolset
from nfvbed.sites.kolla.executor.vault import Vault
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.render import order_pinned
from nfvbed.spec.kollarelease import NEWEST

FOUND = Journal(variant="ovs-kernel", release=NEWEST, digest="d")


@pytest.fixture(name="places")
def _places(tmp_path):
    made = RackPlaces.of(tmp_path, "rack")
    made.make()
    return made


@pytest.fixture(name="wish")
def _wish():
    project = open_project()
    site = project.load_site("rack")
    return RackRequest(pinning_of(project, site, "ovs-kernel"), site, project.load_kolla_release(NEWEST))


def test_a_rack_is_taken_by_one_at_a_time(places):
    with places.taken(), pytest.raises(BusyError), RackPlaces(places.directory).taken():
        pass
    with places.taken():
        assert stat.S_IMODE(places.directory.stat().st_mode) == 0o700


def test_the_journal_is_read_as_it_was_written(places):
    assert journal.read(places) is None
    written = FOUND.noted("one", "done", 2.04).noted("two", "failed", where="compute1")
    journal.write(places, written)
    found = journal.read(places)
    assert found == written and found.is_done("one") and not found.is_done("two")
    assert found.stopped_in() == "two" and found.ever_begun == ("one", "two")
    assert stat.S_IMODE(places.journal.stat().st_mode) == 0o600
    journal.forget(places)
    assert journal.read(places) is None


@pytest.mark.parametrize("text", ["{", json.dumps({"format": 2}), "[]"])
def test_a_journal_that_cannot_be_read(places, text):
    places.journal.write_text(text)
    with pytest.raises(DeployError, match="cannot be read"):
        journal.read(places)


def test_nothing_on_the_machines_is_in_nobodys_way(wish):
    require_free(None, wish)
    require_free(FOUND.model_copy(update={"variant": "sriov"}), wish)
    require_free(FOUND.noted("prepare", "failed"), wish)


@pytest.mark.parametrize("changes", [{"variant": "ovs-dpdk"}, {"release": "ocata"}])
def test_another_variant_is_in_the_way_and_the_way_is_said(wish, changes):
    found = FOUND.noted("prepare", "failed").model_copy(update=changes)
    with pytest.raises(BusyError, match="another variant") as error:
        require_free(found, wish)
    assert "nfvbed deploy ovs-kernel --site rack --redeploy" in error.value.fix


def test_a_rack_that_is_half_taken_down(wish):
    with pytest.raises(BusyError, match="half taken down"):
        require_free(FOUND.noted("destroy", "failed").model_copy(update={"destroying": True}), wish)


def test_stages_of_kolla_have_no_secret_in_their_command_line(places, tmp_path, wish):
    for stage in (*stages.deploying(tmp_path, wish.site), *stages.destroying(tmp_path)):
        argv = stage.argv(places)
        assert argv[0] in ("kolla-ansible", "ansible-playbook")
        assert {word for word in argv if "password" in word.lower()} <= {f"@{places.passwords}"}
        assert stage.gives_passwords or argv[0] == "kolla-ansible" or f"@{places.passwords}" not in argv
    names = [stage.name for stage in stages.deploying(tmp_path, wish.site)]
    assert names == ["prepare", "bootstrap-servers", "prechecks", "pull", "deploy", "post-deploy", "tune"]


def test_taking_down_takes_back_what_was_begun_alone(tmp_path, wish):
    known = {stage.name for stage in stages.deploying(tmp_path, wish.site)}
    assert {stage.undoes for stage in stages.destroying(tmp_path)} < known


def test_playbooks_get_a_user_s_own_variables_as_kolla_s_do(places, tmp_path):
    folder = places.config / "globals.d"
    folder.mkdir()
    for name in ("b.yml", "a.yaml", "c.json", "notes.txt"):
        (folder / name).write_text("{}")
    argv = stages.own("one", "", tmp_path / "one.yml", "-e", "last=true").argv(places)
    given = [argv[place + 1] for place, word in enumerate(argv) if word == "-e"]
    names = ["globals.yml", "globals.d/a.yaml", "globals.d/b.yml", "globals.d/c.json"]
    assert given == [*(f"@{places.config / name}" for name in names), "last=true"]


def test_ansible_signs_in_as_the_site_s_file_says(wish):
    order = order_pinned(wish.pinning, wish.site, wish.release)
    hosts = yaml.safe_load(access.access_file(order, Path("/env/bin/python")))["all"]["hosts"]
    assert set(hosts) == {"localhost", "controller", "compute1", "compute2"}
    assert hosts["localhost"]["ansible_python_interpreter"] == "/env/bin/python"
    found = hosts["compute1"]
    assert found["ansible_user"] == "root" and found["ansible_ssh_private_key_file"] == "/etc/nfvbed/rack"
    assert "StrictHostKeyChecking=yes" in found["ansible_ssh_common_args"]
    assert "UserKnownHostsFile=/etc/nfvbed/rack-known-hosts" in found["ansible_ssh_common_args"]


def test_a_site_that_does_not_say_how_machines_are_reached(wish):
    site = wish.site.model_copy(update={"ssh": None})
    with pytest.raises(ConfigurationError, match="not known how controller is reached"):
        access.access_file(order_pinned(wish.pinning, site, wish.release), Path("/env/bin/python"))


def test_access_is_taken_over_under_the_site_s_name(places):
    auth = {"auth_url": "http://10.10.0.250:5000", "password": "w1XNqkP0aVbT2zR8"}
    places.kolla_clouds.write_text(
        yaml.safe_dump({"clouds": {"kolla-admin": {"auth": auth}, "kolla-admin-system": {}}})
    )
    takeover.take_over(places, "rack")
    assert yaml.safe_load(places.clouds.read_text()) == {"clouds": {"rack": {"auth": auth}}}
    assert stat.S_IMODE(places.clouds.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "clouds: {}", "clouds: {kolla-admin: {auth: {password: w1XNqkP0}}}", "clouds: ["])
def test_access_that_is_not_as_expected_is_not_shown(places, text):
    places.kolla_clouds.write_text(text)
    with pytest.raises(DeployError) as error:
        takeover.take_over(places, "rack")
    assert "w1XNqkP0" not in str(error.value)


def test_without_its_environment(tmp_path, wish):
    with pytest.raises(PrerequisiteError) as error:
        Toolset.of(tmp_path, wish.release)
    assert error.value.fix == "setup/kolla"


def test_a_release_whose_playbooks_nobody_can_follow(tmp_path):
    with pytest.raises(UnsupportedError, match="Ocata is rendered, and nfvbed does not deploy it") as error:
        Toolset.of(tmp_path, open_project().load_kolla_release("ocata"))
    assert "Ansible 2.3 on Python 2.7" in error.value.observed and "kolla.md#ocata" in error.value.fix


def test_the_environment_of_another_release(tmp_path):
    (tmp_path / "lib/python3.11/site-packages/kolla_ansible-22.2.0.dist-info").mkdir(parents=True)
    tools = Toolset(tmp_path)
    tools.require(open_project().load_kolla_release(NEWEST))
    with pytest.raises(UnsupportedError, match="Ocata"):
        tools.require(open_project().load_kolla_release("ocata"))


def test_passwords_that_machines_have_are_not_made_a_second_time(places, tmp_path):
    with pytest.raises(PrerequisiteError, match="gone"):
        passwords.ensure(places, Vault("rack", Toolset(tmp_path), None), used=True)
    places.passwords.write_text("a: b\n")
    places.passwords.chmod(0o640)
    with pytest.raises(PrerequisiteError, match="read by others") as error:
        passwords.ensure(places, Vault("rack", Toolset(tmp_path), None), used=True)
    assert "mode 0640" in error.value.observed
    places.passwords.chmod(0o600)
    assert not passwords.ensure(places, Vault("rack", Toolset(tmp_path), None), used=True)
