"""The one box of these tests, and the whole cloud on it."""

import pytest

from tests.kolla_box.boxrack import made


@pytest.fixture(name="rack", scope="package")
def _rack(tmp_path_factory):
    with made(tmp_path_factory.mktemp("whole"), registry=True, site="box-twins") as rack:
        yield rack


@pytest.fixture(name="deployed_box")
def _deployed_box(rack):
    """A rack in a box with a whole cloud; what is deployed already stays as it is."""
    rack.goes_on(*rack.deploy)
    return rack
