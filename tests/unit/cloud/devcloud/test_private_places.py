"""What a cloud keeps below the project is its owner's alone: passwords are in it."""

import stat

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.sites.kolla.executor.places import RackPlaces


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_folder_is_private_from_its_making_on(tmp_path, monkeypatch):
    places = CloudPlaces.of(tmp_path)
    made = []
    mkdir = type(places.directory).mkdir

    def seen(path, *arguments, **keys):
        mkdir(path, *arguments, **keys)
        made.append((path, mode_of(path)))

    monkeypatch.setattr(type(places.directory), "mkdir", seen)
    places.make()
    assert (places.directory, 0o700) in made


def test_a_folder_that_was_open_is_closed(tmp_path):
    places = CloudPlaces.of(tmp_path)
    places.directory.mkdir(parents=True)
    places.directory.chmod(0o755)
    places.make()
    assert mode_of(places.directory) == 0o700


def test_a_racks_folders_are_private(tmp_path):
    places = RackPlaces.of(tmp_path, "rack")
    places.make()
    assert {mode_of(path) for path in (places.directory, places.config, places.logs)} == {0o700}
