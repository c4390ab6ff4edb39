"""Sites say where their generator is: results say what deviates from a tester apart."""

from types import SimpleNamespace
from typing import Any

import pytest

from nfvbed.records import GeneratorPlace
from nfvbed.sites.lab.site import LabSite
from nfvbed.sites.openstack.existing.cloud import ExistingCloud
from nfvbed.sites.openstack.owncloud import OwnCloud
from nfvbed.sites.openstack.site import OpenstackSite
from nfvbed.sites.simulated.site import SimulatedSite


def bare(kind: type, **fields: Any) -> Any:
    """Return an instance that has no more than these fields."""
    made = kind.__new__(kind)
    vars(made).update(fields)
    return made


@pytest.mark.parametrize(
    ("site", "place"),
    [
        (bare(LabSite), GeneratorPlace.SAME_HOST),
        (bare(SimulatedSite), GeneratorPlace.SIMULATED),
        (bare(OpenstackSite, _target=bare(OwnCloud)), GeneratorPlace.SAME_HOST),
        (
            bare(OpenstackSite, _target=bare(ExistingCloud, _spec=SimpleNamespace(generator=object()))),
            GeneratorPlace.OTHER_HOST,
        ),
        (
            bare(OpenstackSite, _target=bare(ExistingCloud, _spec=SimpleNamespace(generator=None))),
            GeneratorPlace.NOT_KNOWN,
        ),
    ],
)
def test_where_the_generator_is(site, place):
    assert site.generator_place is place
