"""What the private root is built from: lists, mirrors, pins and command lines."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.root import build
from nfvbed.cloud.devcloud.root.build import PrivateRoot, differences
from nfvbed.cloud.devcloud.root.lists import Wheel, read_packages, read_versions, read_wheels
from nfvbed.cloud.devcloud.root.sources import apt_options, entries, preferences
from nfvbed.cloud.devcloud.root.tool import Tool
from nfvbed.errors import PrerequisiteError
from nfvbed.sharedcache import SharedCache

TARGETS = """\
http://deb.example/debian|bookworm|bookworm
http://deb.example/debian|bookworm-updates|bookworm-updates
http://deb.example/security|bookworm-security|bookworm-security
http://node.example/node|nodistro|nodistro
"""


def test_every_package_asked_for_is_in_the_tested_set():
    assert set(read_packages()) - set(read_versions()) == set()


def test_no_package_is_asked_for_twice():
    names = read_packages()
    assert len(set(names)) == len(names)


def test_the_kernels_device_is_left_to_nobody():
    """`nova-compute-qemu` would bring every QEMU there is."""
    assert "nova-compute-kvm" in read_packages()
    assert "nova-compute-qemu" not in read_packages()


def test_tacker_is_the_last_with_both_apis():
    assert {wheel.name: wheel.version for wheel in read_wheels()}["tacker"] == "8.0.0"


def test_sources_are_the_machines_with_backports_beside_them():
    lines = [line.rpartition("] ")[2].removeprefix("deb ") for line in entries(TARGETS).splitlines()]
    assert lines == [
        "http://deb.example/debian bookworm main",
        "http://deb.example/debian bookworm-backports main",
        "http://deb.example/debian bookworm-updates main",
        "http://deb.example/security bookworm-security main",
    ]


def test_a_machine_without_the_suite_is_reported_what_it_has():
    with pytest.raises(PrerequisiteError) as raised:
        entries("http://node.example/node|nodistro|nodistro\n")
    assert "nodistro" in raised.value.observed


def test_tested_versions_are_pinned_above_backports():
    text = preferences({"nova-api": "2:26.2.2-1"})
    assert "Package: src:qemu src:seabios\nPin: release n=bookworm-backports\nPin-Priority: 900\n" in text
    assert "Package: nova-api\nPin: version 2:26.2.2-1\nPin-Priority: 995\n" in text


def test_apt_never_reads_the_machines_state(tmp_path):
    words = apt_options(tmp_path / "apt", tmp_path / "archives")
    assert f"Dir::State::Status={tmp_path}/apt/status" in words
    assert "Dir::Etc::SourceParts=/dev/null" in words
    assert "APT::Install-Recommends=false" in words


def test_differences_name_what_is_new_gone_and_changed():
    found = differences({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"})
    assert found == ("b 1 -> 2", "c 1 -> none", "d none -> 1")


def test_the_root_is_unpacked_in_namespaces_of_its_own(tmp_path):
    argv = PrivateRoot(CloudPlaces(tmp_path)).unpack_argv(tmp_path / "new")
    assert argv[:5] == ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    assert argv[-3:] == ["bookworm", str(tmp_path / "new"), str(tmp_path / "build/apt/sources.list")]


def test_python_has_one_thread_while_the_root_is_built_and_as_many_as_it_wants_afterwards(tmp_path):
    argv = PrivateRoot(CloudPlaces(tmp_path)).unpack_argv(tmp_path / "new")
    (upload,) = [word for word in argv if word.startswith("--essential-hook=upload ")]
    source, target = upload.removeprefix("--essential-hook=upload ").split()
    assert f'--customize-hook=rm "$1{target}"' in argv
    line = Path(source).read_text()
    assert line.startswith("import ")
    script = f"{line}\nprint(concurrent.futures.ThreadPoolExecutor(max_workers=4)._max_workers)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "1\n"


def test_a_root_of_other_lists_is_not_ready(tmp_path):
    places = CloudPlaces(tmp_path)
    places.root.mkdir()
    places.stamp.write_text('{"key": "of another time", "versions": {}}')
    assert not PrivateRoot(places).ready()


class RecordedTool:
    """Stands for mmdebstrap and what runs in the root: nothing is run, the tools' names are kept."""

    def __init__(self, ran):
        self._ran = ran

    def run(self, name, argv, timeout_s, environment=None):
        self._ran.append(name)
        if name == "mmdebstrap":
            for folder in ("var/cache/apt/archives", "var/lib/apt/lists", "tmp"):
                (Path(argv[-2]) / folder).mkdir(parents=True)
        return "nova-api 2:26\n" if name == "versions" else ""


def test_a_root_is_built_once_for_all_clones(tmp_path, monkeypatch):
    ran, shared = [], SharedCache(tmp_path / "cache")
    monkeypatch.setattr(build, "Tool", lambda _: RecordedTool(ran))
    monkeypatch.setattr(build, "read_wheels", lambda: ())
    first, second = (CloudPlaces(tmp_path / name) for name in ("first", "second"))
    for places in (first, second):
        places.make()
    PrivateRoot(first, shared).build()
    assert ran[0] == "mmdebstrap"
    ran.clear()
    root = PrivateRoot(second, shared)
    assert root.download() == "from NFVBED_CACHE"
    assert root.ready() and root.build() == "built already"
    assert ran == []
    assert second.stamp.read_text() == first.stamp.read_text() and (second.root / "tmp").is_dir()


def test_a_wheel_that_is_another_one_is_refused_and_removed(tmp_path):
    path = tmp_path / "tacker.whl"
    path.write_bytes(b"wheel")
    Wheel("tacker", "8.0.0", path.name, hashlib.sha256(b"wheel").hexdigest()).check(path)
    with pytest.raises(PrerequisiteError):
        Wheel("tacker", "8.0.0", path.name, "0" * 64).check(path)
    assert not path.exists()


def test_a_tool_that_fails_is_reported_with_its_last_lines(tmp_path):
    tool = Tool(tmp_path / "logs")
    with pytest.raises(PrerequisiteError) as raised:
        tool.run("ls", ["ls", "/no/such/folder"], 10.0)
    assert "No such file" in raised.value.observed
    assert raised.value.where == str(tmp_path / "logs/ls.log")


def test_a_tool_that_hangs_is_ended(tmp_path):
    with pytest.raises(PrerequisiteError) as raised:
        Tool(tmp_path).run("sleep", ["sleep", "60"], 0.05)
    assert "did not end" in raised.value.what
