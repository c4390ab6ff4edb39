"""Which Open vSwitch is taken, and what is said when there is none."""

import pytest

from nfvbed.dataplanes.ovs import binaries
from nfvbed.errors import PrerequisiteError

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
