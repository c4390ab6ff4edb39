"""Roles of nfvbed's: what they copy is what devcloud gives its own nodes, and all that is named exists."""

from pathlib import Path

import pytest
import yaml

from nfvbed.cloud.devcloud.services import library
from nfvbed.dataplanes.vpp import node as vpp_node
from nfvbed.sites.kolla.combinations import combinations
from nfvbed.sites.kolla.rolevariables import of_machine
from tests.unit.sites.kolla.orders import PROJECT, order, rendering

ROLES = PROJECT.root / "deploy" / "roles"
VARIANTS = ("ovs-dpdk", "ovs-kernel", "sriov", "macvtap", "ovs-afxdp", "vpp")


def copied(copies) -> set[str]:
    """Return nfvbed's modules among what a node gets, relative to the package."""
    package = Path(library.FOLDER) / "nfvbed"
    paths = [Path(copy.path) for copy in copies]
    return {str(path.relative_to(package)) for path in paths if path.is_relative_to(package)}


def test_the_role_for_vpp_copies_what_devclouds_nodes_get():
    found = yaml.safe_load((ROLES / "nfvbed_vpp/vars/main.yml").read_text())
    assert set(found["nfvbed_vpp_driver_files"]) == copied(vpp_node.DRIVER)
    assert set(found["nfvbed_vpp_agent_files"]) == copied(vpp_node.AGENT)


@pytest.mark.parametrize("release", PROJECT.kolla_release_names)
def test_roles_that_a_release_names_exist(release):
    profile = PROJECT.load_kolla_release(release)
    assert {role for role in profile.everywhere if not (ROLES / role).is_dir()} == set()


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_rendered_for_a_role_is_one_of_its_variables(variant):
    made = order(variant)
    described = {
        option
        for file in ROLES.glob("*/meta/argument_specs.yml")
        for option in yaml.safe_load(file.read_text())["argument_specs"]["main"]["options"]
    }
    for host in made.hosts:
        assert set(of_machine(made, host)) - {"nfvbed_roles"} <= described


def test_every_combination_that_is_not_refused_is_rendered():
    made = [one for one in combinations(PROJECT) if one.rendered]
    assert {one.site for one in made} >= {"rack", "rack-connectx"}
    for one in made:
        assert rendering(one.variant, one.release, PROJECT.load_site(one.site)).files, one


@pytest.mark.parametrize("variant", ["ovs-afxdp", "ovs-afxdp-interrupt"])
def test_an_external_nic_of_a_compute_has_no_affinity(variant):
    made = order(variant, at=PROJECT.load_site("rack-connectx"))
    ports = of_machine(made, "compute1")["nfvbed_afxdp_ports"]
    assert {port["bridge"]: port["affinity"] for port in ports} == {"br-ext": "", "br-data": "", "br-sriov": ""}


@pytest.mark.parametrize(
    "playbook", sorted((PROJECT.root / "deploy" / "playbooks").glob("*.yml")), ids=lambda one: one.stem
)
def test_every_play_has_the_facts_that_variables_look_nics_up_in(playbook):
    plays = [play for play in yaml.safe_load(playbook.read_text()) if "hosts" in play]
    for play in plays:
        (gathers,) = play["pre_tasks"]
        assert play["gather_facts"] is False and gathers["tags"] == ["always"]
        assert {"!all", "min"} <= set(gathers["ansible.builtin.setup"]["gather_subset"])
