"""Quirks are declared of what there is: kinds of ports and options that the data plane has."""

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE, Catalogue, open_project
from nfvbed.dataplanes.quirks import Quirks
from nfvbed.spec.options import name_of

PROJECT = open_project()
BY_PLANE = {
    name_of(options): [
        variant
        for variant in map(PROJECT.load_variant, PROJECT.variant_names)
        if isinstance(variant.options, options) and variant.options.dataplane == name_of(options)
    ]
    for options in CATALOGUE.options
}


@pytest.mark.parametrize("name", BY_PLANE)
def test_no_quirk_is_of_a_port_or_an_option_that_the_plane_lacks(name):
    for variant in BY_PLANE[name]:
        quirks = CATALOGUE.quirks(variant)
        assert set(quirks.quick) <= set(type(variant.options).model_fields)
    kinds = {kind for variant in BY_PLANE[name] for kind in variant.options.port_kinds}
    assert set(quirks.no_reset) <= kinds


def test_a_room_that_declares_nothing_has_no_quirk():
    toys = Catalogue({"toy": "tests.unit.dataplanes.toy_plane"})
    (options,) = toys.options
    variant = PROJECT.load_variant("linux-bridge").model_copy(update={"options": options(dataplane="toy")})
    assert toys.quirks(variant) == Quirks()
