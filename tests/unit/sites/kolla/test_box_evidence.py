"""What runs in a box note is kept, replaced by what is newer, and shown in the table of support."""

import datetime
from types import SimpleNamespace

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla import boxevidence, supporttable
from nfvbed.sites.kolla.boxevidence import BoxDeployment
from tests.unit.sites.kolla.orders import PROJECT


def done(variant, day, *passed):
    return BoxDeployment(
        variant=variant,
        release="2026.1",
        on=datetime.date(2026, 11, day),
        kolla_ansible="22.2.0",
        images="ours",
        passed=passed or ("deploy", "verify"),
    )


def test_the_newest_of_each_variant_is_kept(tmp_path):
    (tmp_path / boxevidence.FILE).parent.mkdir(parents=True)
    assert boxevidence.read(tmp_path) == ()
    for one in (done("ovs-dpdk", 1), done("macvtap", 2), done("ovs-dpdk", 3, "deploy")):
        boxevidence.note(tmp_path, one)
    assert boxevidence.read(tmp_path) == (done("macvtap", 2), done("ovs-dpdk", 3, "deploy"))


def test_the_table_shows_what_was_noted_and_nothing_else(monkeypatch):
    monkeypatch.setattr(supporttable, "combinations", lambda project: ())
    monkeypatch.setattr(supporttable, "_cell", lambda *given: "a release's")
    monkeypatch.setattr(supporttable, "boxevidence", SimpleNamespace(read=lambda root: (done("ovs-dpdk", 3),)))
    rows = supporttable.support_table(PROJECT).splitlines()
    assert rows[0].endswith("| deployed in the box |")
    shown = {row.split("`")[1]: row.split(" | ")[-1].removesuffix(" |") for row in rows[2:]}
    assert shown.pop("ovs-dpdk") == "2026.1: 2026-11-03, images: ours: deploy, verify"
    assert set(shown.values()) == {"no"}


def test_a_damaged_record_is_an_error(tmp_path):
    (tmp_path / boxevidence.FILE).parent.mkdir(parents=True)
    (tmp_path / boxevidence.FILE).write_text('[{"variant": "ovs-dpdk"}]')
    with pytest.raises(ConfigurationError, match="deployed in a box") as raised:
        boxevidence.read(tmp_path)
    assert raised.value.where == "docs/evidence/box.json"
