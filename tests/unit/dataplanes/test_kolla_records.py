"""Each data plane's record for Kolla names what there is, and all of them fit together on a rack."""

from itertools import combinations, pairwise

import pytest

from nfvbed.cloud.kolla.agent import OPEN_VSWITCH
from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.dataplanes.catalogue import CATALOGUE, ROOMS, Catalogue, open_project
from nfvbed.errors import InternalError
from nfvbed.sites.kolla.options import OF_THE_LAB
from nfvbed.sites.kolla.overrides import merged
from nfvbed.spec.options import name_of

PROJECT = open_project()
RECORDS = tuple(CATALOGUE.kolla.values())
each = pytest.mark.parametrize("record", RECORDS, ids=CATALOGUE.kolla)


@each
def test_its_releases_and_roles_are_there(record):
    known, roles = set(PROJECT.kolla_release_names), PROJECT.root / "deploy" / "roles"
    assert set(record.releases) <= known
    assert {one.possible_on for one in record.releases.values()} - {""} <= known
    named = {role for one in record.releases.values() for role in one.roles}
    assert {role for role in named if not (roles / role).is_dir()} == set()
    needed = {*record.neutron.roles, *filter(None, (record.nics.functions_made_by,))}
    assert needed <= named, "a role that nobody runs"


@each
def test_a_release_that_can_is_one_that_can(record):
    for one in record.releases.values():
        if one.possible_on:
            assert record.releases[one.possible_on].is_deployed


@each
def test_its_options_are_options_of_its_variants(record):
    model = next(one for one in CATALOGUE.options if name_of(one) == record.name)
    assert record.options - OF_THE_LAB <= set(model.model_fields)


def test_mechanism_drivers_of_any_two_are_in_the_order_of_each():
    beside = [one for one in RECORDS if one.neutron.agent == OPEN_VSWITCH]
    for pair in combinations(beside, 2):
        order = merged([one.neutron.mechanisms for one in pair])
        assert set(order) == {name for one in pair for name in one.neutron.mechanisms}
        for one in pair:
            places = [order.index(name) for name in one.neutron.mechanisms]
            assert all(first < second for first, second in pairwise(places))


def test_a_data_plane_without_a_record_is_possible_on_no_release():
    record = CATALOGUE.kolla_plane("vale")
    assert record == KollaPlane(name="vale")
    assert {record.on(PROJECT.load_kolla_release(name)) for name in PROJECT.kolla_release_names} == {None}


def test_a_record_is_of_its_room_s_data_plane():
    with pytest.raises(InternalError, match="no record for Kolla of 'vale'"):
        _ = Catalogue({"vale": ROOMS["vpp"]}).kolla


def test_the_how_to_shows_a_record_as_it_is():
    page = (PROJECT.root / "docs/howto/add-a-variant.md").read_text().partition("## Its record for Kolla")[2]
    shown = page.partition("```python\n")[2].partition("```")[0].splitlines()
    has = (PROJECT.root / "nfvbed/dataplanes/macvtap/kolla.py").read_text().splitlines()
    assert shown and [line for line in shown if line not in has] == []
