"""Descriptors of vloop, byte by byte."""

from pathlib import Path
from typing import Any

import pytest

from nfvbed.vnfs.descriptors import csar, legacy, sol, written
from nfvbed.vnfs.descriptors.parsing import parse_legacy
from nfvbed.vnfs.descriptors.typefiles import ETSI_TYPES, USER_DATA
from nfvbed.vnfs.descriptors.yamltext import dump
from tests import heattranslator
from tests.golden.kept import check
from tests.unit.vnfs.descriptors.requests import legacy_document, monitored, request

GOLDEN = Path(__file__).parent / "descriptors"


def members() -> dict[str, bytes]:
    """Return the package's members that are made of the request: not ETSI's types, and not the script."""
    kept = (*ETSI_TYPES, USER_DATA.name)
    return {name: data for name, data in sol.files(request(most_instances=2)).items() if Path(name).name not in kept}


def test_legacy_descriptor():
    check(GOLDEN / "legacy.yaml", dump(legacy.template(request())))


def test_legacy_descriptor_with_a_management_port_and_scaling():
    check(GOLDEN / "legacy-management.yaml", dump(legacy.template(request(management=True, most_instances=2))))


def test_legacy_descriptor_of_a_monitored_vnf():
    template = legacy.template(monitored())
    check(GOLDEN / "legacy-monitored.yaml", dump(template))
    parse_legacy(legacy_document(dump(template)), {})


@pytest.mark.parametrize(("name", "keys"), [("stack", {}), ("stack-scaled", {"management": True, "most_instances": 2})])
def test_hot_of_its_own(name: str, keys: dict[str, Any]):
    check(GOLDEN / f"{name}.hot.yaml", written.as_file(request(**keys), "hot").decode())


@pytest.mark.parametrize("name", members())
def test_member_of_the_package(name: str):
    check(GOLDEN / f"package/{name}", members()[name].decode())


def test_the_script_of_the_package_is_the_projects_own():
    assert sol.files(request())[f"UserData/{USER_DATA.name}"] == USER_DATA.read_bytes()


def test_every_golden_member_is_written():
    kept = {str(path.relative_to(GOLDEN / "package")) for path in (GOLDEN / "package").rglob("*") if path.is_file()}
    assert kept == set(members())


def test_hot_of_the_legacy_descriptor():
    check(GOLDEN / "legacy.hot.yaml", heattranslator.legacy_hot(legacy_document()).template)


def test_hot_of_the_package_without_its_base_hot(tmp_path: Path):
    path = tmp_path / "vloop.csar"
    path.write_bytes(csar.write(sol.files(request(most_instances=2))))
    made = heattranslator.package_hot(csar.read(path), "default", {"in": "data0", "out": "data1", "VDU1": "vloop"})
    check(GOLDEN / "package.hot.yaml", made.template)
    (nested,) = made.files.values()
    check(GOLDEN / "package-nested.hot.yaml", nested)
