"""Images in Glance: uploaded once, and compared with the file. Glance is a double here."""

import hashlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.errors import OnboardError
from nfvbed.host.qemu.images import Image
from nfvbed.sites.openstack import images

CONTENT = b"QFI\xfb and more"


class Glance:
    """Glance's part of a connection: keeps what it is given, or something else where it is damaged."""

    def __init__(self, damaged=False):
        self.image = self
        self.held = {}
        self._damaged = damaged

    def find_image(self, name):
        return next((one for one in self.held.values() if one.name == name), None)

    def create_image(self, name, filename, **properties):
        content = b"damaged" if self._damaged else Path(filename).read_bytes()
        made = SimpleNamespace(
            id="g-1", name=name, status="active", hash_algo="sha512", hash_value=hashlib.sha512(content).hexdigest()
        )
        self.held[made.id] = made
        self.properties = properties
        return made

    def get_image(self, identifier):
        return self.held[identifier]

    def delete_image(self, identifier):
        del self.held[identifier]


@pytest.fixture(name="image")
def _image(tmp_path):
    path = tmp_path / "vloop.qcow2"
    path.write_bytes(CONTENT)
    return Image(path, "qcow2", hashlib.sha256(CONTENT).hexdigest(), None)


def test_an_image_is_uploaded_once_under_a_name_with_its_digest(image):
    glance = Glance()
    name, uploaded = images.provide(glance, "vloop", image)
    assert (name, uploaded) == (f"nfvbed-vloop-{image.digest[:12]}", True)
    assert images.provide(glance, "vloop", image) == (name, False)


@pytest.mark.parametrize("has_agent", [True, False])
def test_an_image_with_an_agent_has_nova_give_it_a_channel(image, has_agent):
    glance = Glance()
    images.provide(glance, "vloop", image, has_agent=has_agent)
    assert glance.properties.get("hw_qemu_guest_agent") == ("yes" if has_agent else None)


def test_an_image_that_glance_has_damaged_is_removed_and_reported(image):
    glance = Glance(damaged=True)
    with pytest.raises(OnboardError, match="another image") as caught:
        images.provide(glance, "vloop", image)
    assert hashlib.sha512(CONTENT).hexdigest() in caught.value.observed
    assert glance.held == {}


def test_an_image_of_that_name_with_other_content_is_not_used(image):
    glance = Glance()
    images.provide(glance, "vloop", image)
    glance.held["g-1"].hash_value = "0" * 128
    with pytest.raises(OnboardError, match="another image"):
        images.provide(glance, "vloop", image)


def test_a_half_uploaded_image_is_made_again(image):
    glance = Glance()
    images.provide(glance, "vloop", image)
    glance.held["g-1"].status = "queued"
    assert images.provide(glance, "vloop", image)[1]
