"""The collection openstack.kolla: looked for before anything is prepared, and replaced on a box alone."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla import collectionfolders
from nfvbed.sites.kolla.executor import stages
from nfvbed.sites.kolla.preflight.collection import check_collection

ROLE = Path("ansible_collections/openstack/kolla/roles/baremetal/tasks")
SITE = open_project().load_site("rack")
BOX = SITE.model_copy(update={"machines": "box"})


@pytest.fixture(name="root")
def _root(tmp_path, monkeypatch):
    monkeypatch.delenv(collectionfolders.VARIABLE, raising=False)
    monkeypatch.setattr(collectionfolders, "OF_THE_SYSTEM", tmp_path / "none")
    playbook = tmp_path / ".nfvbed/kolla/share/kolla-ansible/ansible/kolla-host.yml"
    playbook.parent.mkdir(parents=True)
    playbook.write_text("- hosts: baremetal\n  roles:\n    - role: openstack.kolla.baremetal\n")
    return tmp_path


def test_without_it_the_preflight_stops_with_both_ways_to_it(root):
    (found,) = check_collection(root, SITE)
    assert found.stops and "openstack.kolla is not here" in found.what
    assert "setup/kolla deps" in found.fix and "NFVBED_KOLLA_COLLECTIONS=FOLDER" in found.fix
    assert str(root / ".nfvbed/kolla/collections") in found.observed


@pytest.mark.parametrize(
    "folder", [".nfvbed/kolla/collections", ".nfvbed/kolla/lib/python3.11/site-packages", "copied"]
)
def test_a_folder_that_has_it(root, folder, monkeypatch):
    (root / folder / ROLE).mkdir(parents=True)
    if folder == "copied":
        assert list(check_collection(root, SITE))
        monkeypatch.setenv(collectionfolders.VARIABLE, str(root / folder))
        assert collectionfolders.folders(root)[0] == root / folder
    assert not list(check_collection(root, SITE))


def test_a_folder_that_is_named_and_has_it_not(root, monkeypatch):
    monkeypatch.setenv(collectionfolders.VARIABLE, str(root / "empty"))
    (found,) = check_collection(root, SITE)
    assert str(root / "empty") in found.observed


def test_a_kolla_ansible_with_a_role_of_its_own_needs_none(root):
    (root / ".nfvbed/kolla/share/kolla-ansible/ansible/kolla-host.yml").write_text("- roles: [baremetal]\n")
    assert not list(check_collection(root, SITE))


def test_on_a_box_nfvbed_s_role_takes_its_place_under_the_same_name_and_says_so(root):
    assert not list(check_collection(root, BOX))
    made = stages.bootstrapping(root, BOX)
    assert made.name == "bootstrap-servers" and "nfvbed_bootstrap" in made.summary
    assert made.playbook == root / "deploy/playbooks/bootstrap.yml"
    assert stages.bootstrapping(root, SITE).playbook is None
    (root / ".nfvbed/kolla/collections" / ROLE).mkdir(parents=True)
    assert stages.bootstrapping(root, BOX).playbook is None


def test_the_kolla_ansible_that_is_installed_is_asked_for_its_role():
    playbook = Path(".nfvbed/kolla/share/kolla-ansible/ansible/kolla-host.yml")
    root = open_project().root
    if (root / playbook).exists():
        assert collectionfolders.is_needed(root)
