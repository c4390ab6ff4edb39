"""Descriptors of vloop, byte by byte. NFVBED_UPDATE_GOLDEN=1 writes the files again: read the difference then."""

import os
from pathlib import Path

import pytest

from nfvbed.vnfs.descriptors import csar, legacy, sol, translate
from nfvbed.vnfs.descriptors.typefiles import ETSI_TYPES, USER_DATA
from nfvbed.vnfs.descriptors.yamltext import dump
from tests.unit.vnfs.descriptors.requests import legacy_document, request

GOLDEN = Path(__file__).parent / "descriptors"


def check(name: str, text: str) -> None:
    """Compare with the kept file."""
    path = GOLDEN / name
    if os.environ.get("NFVBED_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text(), f"{path} differs; NFVBED_UPDATE_GOLDEN=1 writes it again"


def members() -> dict[str, bytes]:
    """Return the package's members that are made of the request: not ETSI's types, and not the script."""
    kept = (*ETSI_TYPES, USER_DATA.name)
    return {name: data for name, data in sol.files(request(most_instances=2)).items() if Path(name).name not in kept}


def test_legacy_descriptor():
    check("legacy.yaml", dump(legacy.template(request())))


def test_legacy_descriptor_with_a_management_port_and_scaling():
    check("legacy-management.yaml", dump(legacy.template(request(management=True, most_instances=2))))


@pytest.mark.parametrize("name", members())
def test_member_of_the_package(name: str):
    check(f"package/{name}", members()[name].decode())


def test_the_script_of_the_package_is_the_projects_own():
    assert sol.files(request())[f"UserData/{USER_DATA.name}"] == USER_DATA.read_bytes()


def test_every_golden_member_is_written():
    kept = {str(path.relative_to(GOLDEN / "package")) for path in (GOLDEN / "package").rglob("*") if path.is_file()}
    assert kept == set(members())


def test_hot_of_the_legacy_descriptor():
    check("legacy.hot.yaml", translate.legacy_hot(legacy_document()).template)


def test_hot_of_the_package_without_its_base_hot(tmp_path: Path):
    path = tmp_path / "vloop.csar"
    path.write_bytes(csar.write(sol.files(request(most_instances=2))))
    made = translate.package_hot(csar.read(path), "default", {"in": "data0", "out": "data1", "VDU1": "vloop"})
    check("package.hot.yaml", made.template)
    (nested,) = made.files.values()
    check("package-nested.hot.yaml", nested)
