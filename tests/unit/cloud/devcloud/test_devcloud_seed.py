"""The seed is used for the very root, services and passwords that it was taken with."""

import pytest

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.seed import Seed


@pytest.fixture(name="places")
def _places(tmp_path):
    places = CloudPlaces(tmp_path)
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


@pytest.mark.parametrize("changed", ["stamp", "secrets"])
def test_of_another_root_or_other_passwords_it_is_not_used(places, changed):
    Seed(places).save(places.node("controller"))
    getattr(places, changed).write_text("another")
    assert not Seed(places).usable()


def test_a_seed_that_was_not_completed_is_not_used(places):
    Seed(places).save(places.node("controller"))
    (places.seed / "key.json").write_text('{"root":')
    assert not Seed(places).usable()
