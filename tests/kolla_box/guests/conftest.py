"""The one box of these tests, and the whole cloud on it."""

import pytest

from tests.kolla_box.boxrack import made


@pytest.fixture(name="deployed_box", scope="package")
def _deployed_box(tmp_path_factory):
    """A rack in a box with a whole cloud."""
    with made(tmp_path_factory.mktemp("guests"), registry=False) as rack:
        rack.goes_on(*rack.deploy)
        yield rack
        rack.goes_on(*rack.destroy)
