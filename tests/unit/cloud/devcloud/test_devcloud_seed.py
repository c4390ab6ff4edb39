"""The seed is used for the very root, services and passwords that it was taken with."""

import shutil
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud import seed
from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.seed import Seed
from nfvbed.sharedcache import SharedCache

HERE = Path(seed.__file__).parent


@pytest.fixture(name="shared")
def _shared(tmp_path):
    return SharedCache(tmp_path / "cache")


@pytest.fixture(name="places")
def _places(tmp_path):
    places = CloudPlaces(tmp_path / "cloud")
    places.make()
    places.stamp.write_text("root")
    places.secrets.write_text("{}")
    data = places.node("controller").layer / "var/lib/mysql"
    data.mkdir(parents=True, mode=0o700)
    (data / "ibdata1").write_text("tables")
    return places


def test_there_is_none_at_first(places):
    assert not Seed(places).usable()


def test_what_was_saved_is_used(places):
    Seed(places).save(places.node("controller"))
    seed = Seed(places)
    assert seed.usable()
    assert (seed.layer / "var/lib/mysql/ibdata1").read_text() == "tables"
    assert (seed.layer / "var/lib/mysql").stat().st_mode & 0o777 == 0o700


def test_what_makes_it_is_part_of_its_key(places, monkeypatch, tmp_path):
    Seed(places).save(places.node("controller"))
    for name in ("bringup.py", "identity.py", "services/keystone.py"):
        monkeypatch.setattr(seed, "_HERE", shutil.copytree(HERE, tmp_path / name))
        assert Seed(places).usable()
        with (tmp_path / name / name).open("a") as file:
            file.write("# changed\n")
        assert not Seed(places).usable()


@pytest.mark.parametrize("changed", ["stamp", "secrets"])
def test_of_another_root_or_other_passwords_it_is_not_used(places, changed):
    Seed(places).save(places.node("controller"))
    getattr(places, changed).write_text("another")
    assert not Seed(places).usable()


def test_a_seed_that_was_not_completed_is_not_used(places):
    Seed(places).save(places.node("controller"))
    (places.seed / "key.json").write_text('{"root":')
    assert not Seed(places).usable()


@pytest.fixture(name="second")
def _second(tmp_path, places):
    """The cloud of another clone with the same root, and without passwords as yet."""
    second = CloudPlaces(tmp_path / "second")
    second.make()
    second.stamp.write_text(places.stamp.read_text())
    return second


def test_another_clone_takes_it_with_its_passwords(places, second, shared):
    places.secrets.write_text('{"admin": "of the first"}')
    places.secrets.chmod(0o600)
    Seed(places, shared).save(places.node("controller"))
    seed = Seed(second, shared)
    assert not seed.usable()
    assert seed.take() and seed.usable()
    assert (seed.layer / "var/lib/mysql/ibdata1").read_text() == "tables"
    assert second.secrets.read_text() == places.secrets.read_text()
    assert second.secrets.stat().st_mode & 0o777 == 0o600


def test_a_cloud_that_has_passwords_keeps_them(places, second, shared):
    Seed(places, shared).save(places.node("controller"))
    second.secrets.write_text('{"admin": "of the second"}')
    assert not Seed(second, shared).take()
    assert second.secrets.read_text() == '{"admin": "of the second"}'


def test_of_another_root_none_is_taken(places, second, shared):
    Seed(places, shared).save(places.node("controller"))
    second.stamp.write_text("another root")
    assert not Seed(second, shared).take()
    assert not second.secrets.exists()


def test_without_a_cache_none_is_taken(second):
    assert not Seed(second).take()
