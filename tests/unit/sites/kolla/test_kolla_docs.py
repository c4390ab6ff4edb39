"""The page of reference says of releases and faults what is so."""

import re

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE
from tests.kolla.faults import OF_OCATAS_BRIDGES, OF_OCATAS_SWITCHES, OF_OVN, OF_OVS_DPDK, OF_SRIOV
from tests.unit.sites.kolla.orders import PROJECT

PAGE = (PROJECT.root / "docs" / "reference" / "kolla.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]


def test_every_fault_is_described():
    table = PAGE.partition("## Faults")[2]
    known = (*OF_OVS_DPDK, *OF_SRIOV, *OF_OVN, *OF_OCATAS_SWITCHES, *OF_OCATAS_BRIDGES)
    assert [fault.name for fault in known if not re.search(rf"\b{fault.name}\b", table)] == []


@pytest.mark.parametrize("name", PROJECT.kolla_release_names)
def test_every_data_plane_of_a_release_has_its_row(name):
    release = PROJECT.load_kolla_release(name)
    head = next(row for row in ROWS if row[0] == "data plane")
    column = next(place for place, cell in enumerate(head) if f"kolla-ansible {release.kolla_ansible}" in cell)
    for plane, record in CATALOGUE.kolla.items():
        support = record.on(release)
        cell = next(row[column] for row in ROWS if f"`{plane}`" in row[0])
        assert cell.startswith("unsupported") == (support.deployed_by == "nobody")
        assert (f"`{release.asserted_by}`" in cell) == (support.deployed_by != "nobody")
        missing = [role for role in support.roles if not (PROJECT.root / "deploy" / "roles" / role).is_dir()]
        assert bool(missing) == ("missing" in cell or "but for the agent" in cell)
