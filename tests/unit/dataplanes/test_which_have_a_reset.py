"""The method page says which data planes have no reset, and on which ports none; and kinds of resets stay as stored."""

import sys
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE, data_plane, open_project
from nfvbed.dataplanes.dataplane import DataPlane

PROJECT = open_project()
PAGE = (Path(__file__).parents[3] / "docs" / "method.md").read_text()
REAL = [name for name in PROJECT.variant_names if name != "simulated"]
KINDS = {
    "linux-bridge": "bridge deleted and recreated, its links stay",
    "ovs-dpdk": "ovs-vswitchd killed (SIGKILL), restarted on its database",
    "ovs-kernel": "ovs-vswitchd killed (SIGKILL), restarted on its database; the kernel's datapath stays meanwhile",
    "vpp": "vpp killed (SIGKILL), restarted and configured again",
    "xdp": "process of the programs killed (SIGKILL), programs loaded and attached again",
}
"""Stored with results: those of another kind are of another test."""


@pytest.mark.parametrize("name", REAL)
def test_the_method_page_names_what_has_none(name: str) -> None:
    plane = data_plane(PROJECT.load_variant(name))
    has_none = type(plane).reset is DataPlane.reset
    (none,) = (line for line in PAGE.splitlines() if line.startswith("No reset, so `unsupported`:"))
    reset = PAGE.partition("**Reset.**")[2].partition(none)[0]
    assert (f"`{plane.kind}`" in none) == has_none
    assert (f"`{plane.kind}`" in reset or plane.kind == "vpp") != has_none


@pytest.mark.parametrize("name", REAL)
def test_the_method_page_names_variants_whose_ports_do_not_start_again(name: str) -> None:
    variant = PROJECT.load_variant(name)
    (refused,) = (part for part in PAGE.split("\n\n") if part.startswith("It is refused as well"))
    assert (f"`{name}`" in refused) == (variant.port_kind in CATALOGUE.quirks(variant).no_reset)


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_resets_are_those_of_stored_results(name: str) -> None:
    modules = [vars(sys.modules[each.__module__]) for each in type(data_plane(PROJECT.load_variant(name))).__mro__]
    assert next(module["RESET"] for module in modules if "RESET" in module) == KINDS[name]
