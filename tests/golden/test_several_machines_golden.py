"""The descriptors of the mobile core, in both forms and flavours, and their HOT."""

import pytest

from nfvbed.vnfs.descriptors import sol, written
from nfvbed.vnfs.descriptors.typefiles import ETSI_TYPES, USER_DATA
from nfvbed.vnfs.descriptors.yamltext import dump
from tests import heattranslator
from tests.golden.kept import check
from tests.golden.test_descriptors_golden import GOLDEN
from tests.unit.vnfs.descriptors.several import EIGHT, TWO, ZONES, legacy_document, request, template

SEVERAL = "several"


def members():
    """Return the package's members that are made of the request: not ETSI's types, and not the script."""
    files = sol.files(request(zones=ZONES))
    kept = (*ETSI_TYPES, USER_DATA.name)
    return {name: data for name, data in files.items() if name.rpartition("/")[2] not in kept}


@pytest.mark.parametrize("flavour", [EIGHT, TWO])
def test_legacy_descriptor(flavour):
    check(GOLDEN / f"{SEVERAL}/{flavour}.yaml", dump(template(flavour, zones=ZONES)))


@pytest.mark.parametrize("flavour", [EIGHT, TWO])
def test_hot_of_the_legacy_descriptor(flavour):
    check(
        GOLDEN / f"{SEVERAL}/{flavour}.hot.yaml",
        heattranslator.legacy_hot(legacy_document(flavour, zones=ZONES)).template,
    )


@pytest.mark.parametrize("flavour", [EIGHT, TWO])
def test_hot_of_its_own(flavour):
    made = request(zones=ZONES)
    stack = written.as_file(made, "hot", made.flavour(flavour)).decode()
    check(GOLDEN / f"{SEVERAL}/{flavour}.stack.hot.yaml", stack)


@pytest.mark.parametrize("name", members())
def test_member_of_the_package(name):
    check(GOLDEN / f"{SEVERAL}/package/{name}", members()[name].decode())


def test_every_golden_member_is_written():
    folder = GOLDEN / SEVERAL / "package"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(members())
