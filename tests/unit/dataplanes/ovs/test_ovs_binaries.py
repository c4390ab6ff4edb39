"""Which Open vSwitch is taken, and what is said when there is none."""

from pathlib import Path
from typing import get_args

import pytest

from nfvbed.dataplanes.ovs import binaries
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.overlay.options import OvsOverlayOptions
from nfvbed.dataplanes.ovs.ovn.options import OvnOptions
from nfvbed.dataplanes.ovs.packagesets import ReleaseName
from nfvbed.errors import PrerequisiteError

SUITES = Path(__file__).resolve().parents[4] / "setup/suites.txt"
FILES = (binaries.VSWITCHD, binaries.OVSDB_SERVER, binaries.OVSDB_TOOL, binaries.SCHEMA)


def install(root, files=FILES):
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()


def test_private_copy(tmp_path, monkeypatch):
    monkeypatch.delenv(binaries.OVS_DIRECTORY_VARIABLE, raising=False)
    install(tmp_path / ".nfvbed/ovs")
    assert binaries.locate(tmp_path).root == tmp_path / ".nfvbed/ovs"


def test_override_alone_counts(tmp_path, monkeypatch):
    install(tmp_path / ".nfvbed/ovs")
    monkeypatch.setenv(binaries.OVS_DIRECTORY_VARIABLE, str(tmp_path / "elsewhere"))
    with pytest.raises(PrerequisiteError) as caught:
        binaries.locate(tmp_path)
    assert caught.value.fix == "make setup"
    assert "elsewhere" in caught.value.observed


def test_incomplete_copy_is_no_copy(tmp_path, monkeypatch):
    monkeypatch.setenv(binaries.OVS_DIRECTORY_VARIABLE, str(tmp_path))
    install(tmp_path, FILES[:-1])
    with pytest.raises(PrerequisiteError) as caught:
        binaries.locate()
    assert "vswitch.ovsschema" in caught.value.observed


def asked(**values):
    return OvsDpdkOptions(dataplane="ovs-dpdk", **values)


def test_releases_are_those_that_set_up_unpacks():
    """The names are in the options' model for its messages, and in the list for the script."""
    names = [line.split()[0] for line in SUITES.read_text().splitlines() if line.startswith("openvswitch-")]
    assert names == [f"openvswitch-{name}" for name in get_args(ReleaseName)]


def test_a_release_is_a_root_whose_programs_see_it_alone(tmp_path, monkeypatch):
    root = tmp_path / ".nfvbed/releases/3.5"
    with pytest.raises(PrerequisiteError) as caught:
        binaries.binaries_of(asked(release="3.5"), tmp_path)
    assert caught.value.fix == "make releases, or setup/releases 3.5"
    install(root)
    # As bullseye has it: a link to a path that is there inside alone.
    (root / "lib64").mkdir()
    (root / "lib64/ld-linux-x86-64.so.2").symlink_to("/lib/nowhere/ld-2.31.so")
    (root / "packages.txt").write_text("# Open vSwitch 3.5: the packages of trixie\nlibc6 2.41-12\nlibdpdk 24.11\n")
    monkeypatch.setattr(binaries, "native_binary", lambda name: Path("/built") / name)
    found = binaries.binaries_of(asked(release="3.5"), tmp_path)
    assert found.command(found.ovsdb_tool) == ("/built/nfvbed-exec", "--root", str(root), "--", "/usr/bin/ovsdb-tool")
    assert found.seen(found.schema) == "/usr/share/openvswitch/vswitch.ovsschema"
    versions = found.versions()
    assert versions["libc6"] == "2.41-12" and versions["packages"].startswith("2 of trixie, SHA-256 ")


@pytest.mark.parametrize(
    "files",
    [
        ("vswitchd/ovs-vswitchd", "ovsdb/ovsdb-server", "ovsdb/ovsdb-tool", "vswitchd/vswitch.ovsschema"),
        ("sbin/ovs-vswitchd", "sbin/ovsdb-server", "bin/ovsdb-tool", "share/openvswitch/vswitch.ovsschema"),
        tuple(map(str, FILES)),
    ],
)
def test_a_users_build_is_found_however_it_lies(tmp_path, files):
    install(tmp_path, files)
    found = binaries.binaries_of(asked(program=str(tmp_path)))
    assert found.command(found.vswitchd) == (str(tmp_path / files[0]),) and found.versions() == {}
    assert found.schema == tmp_path / files[3]


def test_a_folder_without_a_build_is_named(tmp_path):
    with pytest.raises(PrerequisiteError) as caught:
        binaries.binaries_of(asked(program=str(tmp_path)))
    assert str(tmp_path) in caught.value.where and "vswitchd/ovs-vswitchd" in caught.value.observed


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        (OvsDpdkOptions, {"release": 3.5}, "in quotes"),
        (OvsDpdkOptions, {"release": "3.2"}, "2.15"),
        (OvsDpdkOptions, {"release": "3.5", "program": "/opt/ovs"}, "two Open vSwitches"),
        (OvnOptions, {"release": "4.0"}, "4.0 has no OVN; 3.1 and 3.5 have"),
        (OvsOverlayOptions, {"release": "3.5"}, "for the DPDK of make setup"),
    ],
)
def test_what_no_package_set_is(kind, values, said):
    with pytest.raises(ValueError, match=said):
        kind(dataplane=kind.model_fields["dataplane"].annotation.__args__[0], **values)
