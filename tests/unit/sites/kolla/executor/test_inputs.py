"""A user's own files: a change of one makes another deployment, and is named."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla.executor import inputs, inventories
from nfvbed.sites.kolla.executor import journal as journals
from nfvbed.sites.kolla.executor.deploying import RackRequest, deploy
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.spec.kollarelease import NEWEST
from tests.unit.sites.kolla.executor.test_story import Silent

PROJECT = open_project()
SITE = PROJECT.load_site("rack")


class Telling(Silent):
    """Keeps what is said."""

    def __init__(self):
        super().__init__()
        self.said = []

    def say(self, line):
        """Keep it."""
        self.said.append(line)


def test_files_of_the_user_s_alone(tmp_path):
    for name in ("globals.d/a.yml", "inventory/group_vars/all.yml", "config/nova.conf", "inventory/hosts", "x.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a: 1\n")
    (tmp_path / "globals.d/notes.txt").write_text("Kolla does not read it")
    first = inputs.digests(tmp_path, {"inventory/hosts"})
    assert sorted(first) == ["config/nova.conf", "globals.d/a.yml", "inventory/group_vars/all.yml"]
    (tmp_path / "globals.d/a.yml").write_text("a: 2\n")
    (tmp_path / "config/nova.conf").unlink()
    assert inputs.changed(first, inputs.digests(tmp_path, {"inventory/hosts"})) == (
        "config/nova.conf",
        "globals.d/a.yml",
    )


@pytest.fixture(name="deployment")
def _deployment(tmp_path, monkeypatch):
    """Deploy with one stage that is marked done in place of being run, and return what was said."""
    places = RackPlaces.of(tmp_path, "rack")
    monkeypatch.setattr("nfvbed.sites.kolla.executor.deploying.RackPlaces.of", lambda *_: places)
    monkeypatch.setattr("nfvbed.sites.kolla.executor.deploying.prepare", lambda *_: prepared)
    monkeypatch.setattr("nfvbed.sites.kolla.executor.passwords.ensure", lambda *_, **__: False)
    monkeypatch.setattr("nfvbed.sites.kolla.executor.passwords.scrubber", lambda *_: None)
    monkeypatch.setattr("nfvbed.sites.kolla.executor.running.run_stages", run)
    stage = type("Stage", (), {"name": "one"})
    prepared = type("Prepared", (), {"plan": (stage,), "tools": None, "files": {"globals.yml": "a: 1\n"}})

    def again():
        observer = Telling()
        wish = RackRequest(pinning_of(PROJECT, SITE, "ovs-kernel"), SITE, PROJECT.load_kolla_release(NEWEST))
        existed = deploy(PROJECT, wish, observer, lambda *_: [])
        return existed, " ".join(observer.said)

    return places, again


def run(rack, stages, found, _scrub):
    """Mark all stages done."""
    for stage in stages:
        found = found.noted(stage.name, "done")
    journals.write(rack.places, found)


def test_a_change_of_globals_d_or_group_vars_runs_stages_again(deployment):
    places, again = deployment
    places.make()
    assert again()[0] is False
    assert again() == (True, "")
    for name in ("globals.d/mine.yml", "inventory/group_vars/all.yml"):
        (places.config / name).parent.mkdir(parents=True, exist_ok=True)
        for text in ("a: 1\n", "a: 2\n"):
            (places.config / name).write_text(text)
            existed, said = again()
            assert not existed and f"not as it was ({name}): all stages are run again" in said
            assert again() == (True, "")
    (places.config / "globals.d/mine.yml").unlink()
    assert "globals.d/mine.yml" in again()[1]


def test_a_journal_of_an_older_nfvbed_is_gone_on_with(deployment):
    places, again = deployment
    places.make()
    again()
    (places.config / "globals.d").mkdir()
    (places.config / "globals.d" / "mine.yml").write_text("a: 1\n")
    journals.write(places, journals.read(places).model_copy(update={"inputs": None}))
    assert again() == (True, "")


def test_variables_beside_an_inventory_go_with_it(tmp_path):
    (tmp_path / "hosts").write_text("[control]\n")
    (tmp_path / "group_vars/compute").mkdir(parents=True)
    (tmp_path / "group_vars/compute/a.yml").write_text("a: 1\n")
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars/localhost.yml").write_text("b: 1\n")
    found = inventories.variables_beside(tmp_path / "hosts", SITE)
    assert found == {"inventory/group_vars/compute/a.yml": "a: 1\n", "inventory/host_vars/localhost.yml": "b: 1\n"}
    (tmp_path / "host_vars/compute1.yml").write_text("c: 1\n")
    with pytest.raises(ConfigurationError, match="variables of compute1 alone") as error:
        inventories.variables_beside(tmp_path / "hosts", SITE)
    assert "globals.d" in error.value.fix
