"""The method page says which data planes have no reset; it is those whose adapter does not say what one is."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import data_plane, open_project
from nfvbed.dataplanes.dataplane import DataPlane

PROJECT = open_project()
PAGE = (Path(__file__).parents[3] / "docs" / "method.md").read_text()


@pytest.mark.parametrize("name", [name for name in PROJECT.variant_names if name != "simulated"])
def test_the_method_page_names_what_has_none(name: str) -> None:
    plane = data_plane(PROJECT.load_variant(name))
    has_none = type(plane).reset is DataPlane.reset
    (none,) = (line for line in PAGE.splitlines() if line.startswith("No reset, so `unsupported`:"))
    reset = PAGE.partition("**Reset.**")[2].partition(none)[0]
    assert (f"`{plane.kind}`" in none) == has_none
    assert (f"`{plane.kind}`" in reset or plane.kind == "vpp") != has_none
