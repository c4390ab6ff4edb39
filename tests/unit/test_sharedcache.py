"""What is kept outside the clone: found again by what makes it, whole or not at all, and by no other user's hand."""

import fcntl
import os
import platform
import subprocess
import threading
import time
from pathlib import Path

import pytest

from nfvbed import cachecommand
from nfvbed.errors import ConfigurationError, PrerequisiteError
from nfvbed.sharedcache import COLD, KINDS, VARIABLE, SharedCache

KIND = "unpacked"


@pytest.fixture(name="cache")
def _cache(tmp_path):
    return SharedCache(tmp_path / "cache", tell=print)


@pytest.fixture(name="tree")
def _tree(tmp_path):
    """A folder with a program, a private file and a link."""
    folder = tmp_path / "made" / "ovs"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/program").write_text("works")
    (folder / "bin/program").chmod(0o755)
    (folder / "secret").write_text("key")
    (folder / "secret").chmod(0o600)
    (folder / "link").symlink_to("bin/program")
    return folder


@pytest.fixture(name="clone")
def _clone(tmp_path):
    folder = tmp_path / "clone"
    folder.mkdir()
    return folder


def entry(cache, kind=KIND):
    (found,) = [one for one in cache.entries() if one.kind == kind]
    return found.path


def test_what_was_put_is_taken_with_its_rights_and_links(cache, tree, clone):
    assert not cache.take(KIND, "lists", clone)
    cache.put(KIND, "lists", tree)
    assert cache.take(KIND, "lists", clone)
    taken = clone / "ovs"
    assert (taken / "link").readlink() == Path("bin/program") and (taken / "link").read_text() == "works"
    assert [(taken / name).stat().st_mode & 0o777 for name in ("bin/program", "secret")] == [0o755, 0o600]
    assert [path.name for path in clone.iterdir()] == ["ovs"]


def test_a_clone_that_writes_changes_its_copy_alone(cache, tree, clone):
    cache.put(KIND, "lists", tree)
    cache.take(KIND, "lists", clone)
    (clone / "ovs/bin/program").write_text("changed")
    assert cache.take(KIND, "lists", clone)
    assert (clone / "ovs/bin/program").read_text() == "works"


def test_the_hash_is_of_what_makes_it_and_of_the_machines_debian(cache, tree, clone, monkeypatch):
    cache.put(KIND, "lists", tree)
    assert not cache.take(KIND, "other lists", clone)
    assert not cache.take("images", "lists", clone)
    release = platform.freedesktop_os_release()
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: release | {"VERSION_ID": "99"})
    assert not cache.take(KIND, "lists", clone)
    monkeypatch.undo()
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not cache.take(KIND, "lists", clone)


def test_the_same_from_another_place_at_another_time_is_the_same_entry(cache, tree, tmp_path):
    cache.put(KIND, "lists", tree)
    first = entry(cache)
    moved = tmp_path / "elsewhere" / "ovs"
    moved.parent.mkdir()
    tree.rename(moved)
    os.utime(moved / "secret", (1, 1))
    cache.put(KIND, "lists", moved)
    assert entry(cache) == first


def changed(path):
    path.write_text("other")


def less_private(path):
    path.chmod(0o644)


def gone(path):
    path.unlink()


@pytest.mark.parametrize("damage", [changed, less_private, gone])
def test_a_damaged_entry_is_found_thrown_away_and_made_again(cache, tree, clone, damage, capsys):
    cache.put(KIND, "lists", tree)
    place = entry(cache)
    damage(place / "content/ovs/secret")
    (clone / "ovs").mkdir()
    assert not cache.take(KIND, "lists", clone)
    assert not place.exists()
    assert "is damaged: it is thrown away" in capsys.readouterr().out
    assert [path.name for path in clone.rglob("*")] == ["ovs"], "what was there stays as it was"
    cache.put(KIND, "lists", tree)
    assert cache.take(KIND, "lists", clone)


@pytest.mark.parametrize(
    "facts", ["", '{"names": ["ovs"]}', '{"names": 1, "digest": ""}', '{"names": [], "digest": ""}']
)
def test_an_entry_without_its_facts_is_damaged(cache, tree, clone, facts):
    cache.put(KIND, "lists", tree)
    place = entry(cache)
    (place / "entry.json").write_text(facts)
    assert not cache.take(KIND, "lists", clone)
    assert not place.exists()


def test_a_put_that_fails_leaves_the_entry_that_was_there(cache, tree, clone):
    cache.put(KIND, "lists", tree)
    with pytest.raises(PrerequisiteError) as raised:
        cache.put(KIND, "lists", tree, tree.parent / "is-not-there")
    assert "is-not-there" in raised.value.observed
    assert [path.name for path in (cache.folder / KIND).iterdir()] == [entry(cache).name]
    assert cache.take(KIND, "lists", clone)


def test_what_a_killed_put_left_is_no_entry_and_in_nobodys_way(cache, tree, clone):
    (cache.folder / KIND / "new/content/ovs").mkdir(parents=True)
    (cache.folder / KIND / "new/content/ovs/half").touch()
    assert cache.entries() == []
    assert not cache.take(KIND, "lists", clone)
    cache.put(KIND, "lists", tree)
    assert cache.take(KIND, "lists", clone)
    assert not (clone / "ovs/half").exists()


def test_the_stamp_comes_last_and_goes_first(cache, tree, clone, monkeypatch):
    """A take that is cut off leaves no stamp beside something else than it stands for."""
    stamp = tree.parent / "ovs.json"
    stamp.write_text("new")
    cache.put(KIND, "lists", tree, stamp)
    (clone / "ovs.json").write_text("old")
    moved = []

    def cut_off(path, target):
        moved.append(target.name)
        raise OSError("cut off")

    monkeypatch.setattr(Path, "rename", cut_off)
    with pytest.raises(OSError, match="cut off"):
        cache.take(KIND, "lists", clone)
    assert moved == ["ovs"] and list(clone.iterdir()) == []


def test_two_that_put_at_once_leave_one_whole_entry(cache, tree, clone):
    threads = [threading.Thread(target=cache.put, args=(KIND, "lists", tree)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache.entries()) == 1
    assert cache.take(KIND, "lists", clone)


def test_who_puts_waits_for_who_takes(cache, tree, capsys):
    cache.put(KIND, "lists", tree)
    handle = os.open(cache.folder / KIND, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_SH)
    thread = threading.Thread(target=cache.put, args=(KIND, "lists", tree))
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    os.close(handle)
    thread.join(10)
    assert not thread.is_alive()
    assert "waiting for another clone" in capsys.readouterr().out


def test_a_relative_folder_is_refused(tree):
    with pytest.raises(ConfigurationError) as raised:
        SharedCache(Path("cache")).put(KIND, "lists", tree)
    assert VARIABLE in raised.value.what and raised.value.observed == "cache"


@pytest.mark.parametrize("inside", [False, True])
def test_a_folder_that_others_can_write_to_is_refused(cache, tree, clone, inside):
    cache.put(KIND, "lists", tree)
    (cache.folder / KIND if inside else cache.folder).chmod(0o1777)
    for work in (lambda: cache.take(KIND, "lists", clone), lambda: cache.put(KIND, "lists", tree)):
        with pytest.raises(PrerequisiteError) as raised:
            work()
        assert "others can write" in raised.value.what and "1777" in raised.value.observed
    assert list(clone.iterdir()) == []


def test_a_folder_below_one_that_others_can_replace_is_refused(cache, tree):
    cache.folder.parent.chmod(0o777)
    with pytest.raises(PrerequisiteError) as raised:
        cache.put(KIND, "lists", tree)
    assert raised.value.where == str(cache.folder.parent)
    cache.folder.parent.chmod(0o1777)
    cache.put(KIND, "lists", tree)


def test_another_users_folder_is_refused(cache, tree, monkeypatch):
    cache.put(KIND, "lists", tree)
    monkeypatch.setattr(os, "geteuid", lambda: cache.folder.stat().st_uid + 1)
    with pytest.raises(PrerequisiteError) as raised:
        cache.put(KIND, "lists", tree)
    assert "another user's" in raised.value.what


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, tree):
    (tmp_path / "cache").touch()
    with pytest.raises(PrerequisiteError):
        SharedCache(tmp_path / "cache").put(KIND, "lists", tree)


def test_what_it_makes_nobody_else_enters(cache, tree, monkeypatch):
    deep = SharedCache(cache.folder / "deep" / "deeper")
    before = os.umask(0)
    try:
        deep.put(KIND, "lists", tree)
    finally:
        os.umask(before)
    made = (cache.folder, deep.folder.parent, deep.folder, deep.folder / KIND)
    assert {path.stat().st_mode & 0o777 for path in made} == {0o700}


def test_a_cold_kind_is_made_again_and_put_in_place_of_the_old(cache, tree, clone):
    cache.put(KIND, "lists", tree)
    cache.put("images", "lists", tree)
    cold = SharedCache(cache.folder, cold=KIND)
    assert not cold.take(KIND, "lists", clone)
    assert cold.take("images", "lists", clone)
    (tree / "secret").write_text("newer")
    cold.put(KIND, "lists", tree)
    assert cache.take(KIND, "lists", clone)
    assert (clone / "ovs/secret").read_text() == "newer"


def test_cold_wheels_are_uvs_matter(cache):
    assert cache.wheels() == cache.folder / "wheels"
    assert SharedCache(cache.folder, cold="wheels").wheels() is None


def test_a_kind_that_is_none_is_refused(cache, clone):
    with pytest.raises(ConfigurationError) as raised:
        SharedCache(cache.folder, cold="everything").take(KIND, "lists", clone)
    assert "'everything'" in raised.value.what and all(kind in raised.value.fix for kind in KINDS)


def test_without_the_variable_there_is_none(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert SharedCache.from_environment() is None


def test_what_was_not_used_is_pruned(cache, tree, clone):
    cache.put(KIND, "old", tree)
    cache.put(KIND, "used", tree)
    long_ago = time.time() - 31 * 86400
    for one in cache.entries():
        os.utime(one.path / "entry.json", (long_ago, long_ago))
    assert cache.take(KIND, "used", clone)
    cache.wheels()
    assert len(cache.prune()) == 1
    assert not cache.take(KIND, "old", clone) and cache.take(KIND, "used", clone)
    assert {one.kind for one in cache.prune(0)} == {KIND, "wheels"}
    assert cache.entries() == []


def test_a_damaged_entry_is_listed_and_pruned_too(cache, tree):
    cache.put(KIND, "lists", tree)
    (entry(cache) / "entry.json").unlink()
    assert [one.names for one in cache.entries()] == [("damaged",)]
    assert len(cache.prune(0)) == 1


def test_the_command_lists_with_sizes_and_prunes(cache, tree, monkeypatch, capsys):
    monkeypatch.setenv(VARIABLE, str(cache.folder))
    monkeypatch.delenv(COLD, raising=False)
    assert cachecommand.main(["put", KIND, "lists", str(tree)]) == 0
    assert cachecommand.main(["list"]) == 0
    assert "kept: 1, 0 MiB" in capsys.readouterr().out
    assert cachecommand.main(["prune", "1"]) == 0
    assert "removed: 0" in capsys.readouterr().out
    assert cachecommand.main(["prune", "0"]) == 0
    assert "removed: 1" in capsys.readouterr().out
    assert cachecommand.main(["take", KIND, "lists", str(tree)]) == cachecommand.NOT_THERE
    assert cachecommand.main(["prune", "soon"]) == 2
    monkeypatch.delenv(VARIABLE)
    assert cachecommand.main(["list"]) == 2


ROOT = Path(__file__).resolve().parents[2]
MODULES = [f"nfvbed/{name}.py" for name in ("__init__", "errors", "sharedcache", "cachecommand")]
STEP = """\
#!/bin/bash
set -euo pipefail
. "$(dirname "$0")/report.sh"
TARGET=$ROOT/.nfvbed/ovs
works() { [ "$(cat "$1/version")" = 1 ]; }
stamp=$(key "$0")
if is_made unpacked step "$stamp" "$TARGET" works; then say "step: there"; exit 0; fi
rm -rf "$TARGET"; mkdir -p "$TARGET"; echo 1 >"$TARGET/version"
made unpacked step "$stamp" "$TARGET"
say "step: made"
"""


@pytest.fixture(name="step")
def _step(tmp_path):
    """Return what runs a step of set-up in a clone that has nothing but it and the cache's module."""

    def run(clone, **environment):
        folder = tmp_path / clone
        for name in (
            "setup/report.sh",
            "setup/cache",
            "nfvbed/__init__.py",
            "nfvbed/errors.py",
            "nfvbed/sharedcache.py",
        ):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
            (folder / name).chmod(0o755)
        (folder / "setup/step").write_text(STEP)
        argv = ["bash", str(folder / "setup/step")]
        given = {"PATH": os.environ["PATH"], **environment}
        return subprocess.run(argv, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    return run


def test_a_step_of_set_up_is_made_once_for_all_clones(step, tmp_path):
    given = {VARIABLE: str(tmp_path / "cache")}
    assert step("one", **given).stdout == "setup: step: made\n"
    assert step("two", **given).stdout == "setup: step: taken from NFVBED_CACHE\nsetup: step: there\n"
    assert step("two", **given).stdout == "setup: step: there\n"
    assert step("three").stdout == "setup: step: made\n"
    assert step("four", **given, NFVBED_CACHE_COLD=KIND).stdout == "setup: step: made\n"


def test_a_step_that_does_not_work_here_is_made_here(step, tmp_path):
    cache = SharedCache(tmp_path / "cache")
    given = {VARIABLE: str(cache.folder)}
    step("one", **given)
    (tmp_path / "one/.nfvbed/ovs/version").write_text("2")
    place = entry(cache)
    stamp = (tmp_path / "one/.nfvbed/setup/step").read_text().split()[0]
    cache.put(KIND, f"step {stamp}", tmp_path / "one/.nfvbed/ovs")
    assert entry(cache) == place
    assert step("two", **given).stdout.endswith("setup: step: made\n")


def test_a_step_ends_where_the_cache_is_refused(step):
    done = step("one", NFVBED_CACHE="cache")
    assert done.returncode == ConfigurationError.exit_code
    assert "no absolute path" in done.stderr and done.stdout == ""
