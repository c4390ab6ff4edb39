"""Paths made of what others wrote stay in their folder."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla import output
from nfvbed.sites.kolla.measured import twins
from nfvbed.spec.below import below

FOLDER = Path("/srv/results/reports")
OUTSIDE = [
    "/etc/passwd",
    "..",
    "../x",
    "a/../../x",
    "",
    ".",
    "a//b",
    "a/",
    "a\x00b",
    "a\nb",
    "a\x1b",
    "x" * 256,
    "a/..",
]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("name", OUTSIDE, ids=ascii)
def test_what_leads_elsewhere_is_refused(name: str, nested: bool):
    with pytest.raises(ConfigurationError) as failure:
        below(FOLDER, name, nested=nested)
    assert failure.value.where == str(FOLDER)
    assert "\x1b" not in str(failure.value)


@pytest.mark.parametrize("name", ["a", "01890a5d-ac96-774b-bcce-b302099a8057", "ovs.yml", "größer", "..a", "a..", "-"])
def test_a_name_is_in_the_folder(name: str):
    assert below(FOLDER, name) == FOLDER / name


def test_a_path_is_below_the_folder_where_that_is_meant():
    assert below(FOLDER, "figures/rate.svg", nested=True) == FOLDER / "figures/rate.svg"
    with pytest.raises(ConfigurationError, match="no name of a file"):
        below(FOLDER, "figures/rate.svg")


@given(st.text(st.sampled_from("a./\\~\x00\n é")), st.booleans())
@settings(derandomize=True)
def test_no_name_leaves_the_folder(name: str, nested: bool):
    try:
        found = below(FOLDER, name, nested=nested)
    except ConfigurationError:
        return
    assert FOLDER in Path(*[part for part in found.parts if part != "."]).parents
    assert ".." not in found.parts


def test_a_rendering_stays_in_its_folder(tmp_path: Path):
    with pytest.raises(ConfigurationError):
        output.write(tmp_path / "in", {"inventory/host_vars/../../../out.yml": "x"})
    assert not (tmp_path / "out.yml").exists()


def test_files_that_a_compute_tells_stay_in_their_folder(tmp_path: Path):
    leading = f"proc/{'../' * 12}{str(tmp_path / 'out').lstrip('/')}"
    with pytest.raises(ConfigurationError):
        twins._lasting({leading: "x"})
    assert not (tmp_path / "out").exists()
