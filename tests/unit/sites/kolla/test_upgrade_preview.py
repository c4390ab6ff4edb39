"""What an upgrade of Kolla would change, with small folders in place of kolla-ansible's."""

import json
import shutil

import pytest

from nfvbed.cli.main import main
from nfvbed.cloud.devcloud.places import write_private
from nfvbed.errors import ConfigurationError
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.kollavariables import KollaVariables
from nfvbed.sites.kolla.upgradepreview import RENDERED, differences
from tests.unit.sites.kolla.orders import PROJECT

GROUPS = "[control]\na\n[network]\na\n[compute]\na\n[tacker:children]\ncontrol\n"


def share(folder, files, groups=GROUPS):
    """Write a share/kolla-ansible."""
    for path, text in {"ansible/inventory/multinode": groups, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture(name="shares")
def _shares(tmp_path):
    kept = {"ansible/roles/a/tasks/main.yml": "- debug: {msg: '{{ used_here }}'}\n"}
    before = {
        "ansible/group_vars/all.yml": "stays: 1\nenable_gone: no\n",
        "ansible/roles/a/defaults/main.yml": "moved: 1\n",
        "etc_examples/kolla/passwords.yml": "one:\n",
    }
    after = {
        "ansible/group_vars/all/common.yml": "stays: 1\n",
        "ansible/group_vars/all/a.yml": "moved: 1\n",
        "etc_examples/kolla/passwords.yml": "one:\ntwo:\n",
    }
    added = f"{GROUPS}[new:children]\ncontrol\n"
    return share(tmp_path / "before", kept | before), share(tmp_path / "after", kept | after, added)


@pytest.fixture(name="root")
def _root(tmp_path):
    root = tmp_path / "project"
    for name in ("deploy", "flavors", "kolla", "vnfd", "vsperf-conf"):
        shutil.copytree(PROJECT.root / name, root / name)
    places = RackPlaces.of(root, "rack")
    places.make()
    (places.config / "globals.d").mkdir()
    (places.config / "globals.d" / "mine.yml").write_text(
        "stays: 2\nmoved: 2\nused_here: 2\nenable_gone: yes\nenable_typo: 2\n"
    )
    write_private(places.passwords, "one: of-mine\n")
    journal.write(places, Journal(variant="ovs-kernel", release="2026.1", digest="d").noted("prepare", "done"))
    return root


def previewed(root, shares, capsys, *words):
    argv = ["kolla", "upgrade-preview", "--site", "rack", "--to", "2026.1", "--root", str(root), *words]
    argv += ["--from-share", str(shares[0]), "--to-share", str(shares[1])]
    assert main(argv) == 0
    return capsys.readouterr().out


def test_a_user_s_variables_that_are_gone_are_named(root, shares, capsys):
    found = json.loads(previewed(root, shares, capsys, "--json"))
    lost = {one["name"]: one["was_in"] for one in found["lost"] if one["file"] != RENDERED}
    assert lost == {"enable_gone": "group_vars/all.yml", "enable_typo": ""}
    # These small folders know none of what nfvbed renders.
    assert "kolla_internal_vip_address" in {one["name"] for one in found["lost"]}
    assert not [one for one in found["lost"] if one["name"].startswith(("nfvbed_", "ansible_"))]
    assert found["new_passwords"] == ["two"] and found["variants"] == "ovs-kernel"


def test_groups_and_files_are_shown_as_differences(root, shares, capsys):
    said = previewed(root, shares, capsys)
    assert "+++ 2026.1/inventory/groups\n" in said and "\n+[new:children]\n" in said
    assert "enable_gone (" in said and "removed, it was in group_vars/all.yml" in said
    assert "passwords to add (kolla-mergepwd): two" in said and "of-mine" not in said


def test_nothing_is_written(root, shares, capsys):
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    previewed(root, shares, capsys, "ovs-dpdk")
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_files_that_only_one_release_has():
    found = differences({"a": "1\n", "b": "same\n"}, {"b": "same\n", "c": "2"}, ("x", "y"))
    assert sorted(found) == ["a", "c"]
    assert found["a"].startswith("--- x/a\n+++ /dev/null\n") and found["c"].endswith("+2\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ovs-dpdk", "--site", "lab", "--to", "2026.1"), 2, "is not deployed by kolla-ansible"),
        (("--site", "rack-connectx", "--to", "2026.1"), 2, "name the variant"),
        (("ovs-dpdk", "--site", "rack", "--to", "ocata", "--to-share", "/nowhere"), 10, "no ansible/group_vars"),
        (("ovs-dpdk", "--site", "rack", "--to", "2027.1"), 10, "unknown release"),
    ],
)
def test_bad_input_is_an_error(root, shares, capsys, words, code, said):
    argv = ["kolla", "upgrade-preview", *words, "--root", str(root), "--from-share", str(shares[0])]
    assert main(argv) == code
    assert said in capsys.readouterr().err


def test_a_damaged_file_s_values_are_not_shown(tmp_path, shares):
    (shares[0] / "ansible/group_vars/all.yml").write_text("a: [secret\n")
    with pytest.raises(ConfigurationError) as failure:
        KollaVariables.of(shares[0], "--from-share").place_of("a")
    assert "secret" not in str(failure.value)
