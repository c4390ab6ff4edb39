"""The builder of images: recipe, packages, modules, initial ramdisk, partition table, sidecar."""

import json
import shutil
import struct
import sys
from pathlib import Path

import pytest
from builder import disk, pythonparts
from builder.__main__ import Builder
from builder.cpio import archive
from builder.modules import ModuleTree
from builder.packages import Package, PackageSource
from builder.recipe import load
from builder.rootfs import uncompressed
from builder.sidecar import Sidecar, digest
from builder.tool import Tool

from nfvbed.errors import ConfigurationError, PrerequisiteError
from nfvbed.sharedcache import SharedCache

RECIPE = Path(__file__).resolve().parents[3] / "images" / "vloop"


@pytest.fixture
def copied(tmp_path):
    return load(shutil.copytree(RECIPE, tmp_path / "vloop", symlinks=True))


def test_recipe_lists_packages_and_modules():
    recipe = load(RECIPE)
    assert {"linux-image-amd64", "dpdk-dev", "iperf3", "netperf", "sockperf"} <= set(recipe.packages)
    assert recipe.modules["virtio_blk"] is True
    assert recipe.modules["e1000"] is False


def test_recipe_without_a_key_is_refused(copied):
    path = copied.folder / "recipe.json"
    document = json.loads(path.read_text())
    del document["epoch"]
    path.write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match="recipe"):
        load(copied.folder)


@pytest.mark.parametrize("change", ["content", "mode", "name"])
def test_digest_changes_with_the_recipe(copied, change):
    before = copied.digest(())
    path = copied.folder / "initramfs/init"
    if change == "content":
        path.write_text(path.read_text() + "#\n")
    elif change == "mode":
        path.chmod(0o644)
    else:
        path.rename(path.with_name("start"))
    assert copied.digest(()) != before


def test_digest_does_not_change_with_time_and_caches(copied, tmp_path):
    before = copied.digest(())
    (copied.folder / "initramfs/init").touch()
    cache = copied.folder / "root/usr/lib/vloop/agent/__pycache__"
    cache.mkdir(exist_ok=True)
    (cache / "x.pyc").touch()
    assert copied.digest(()) == before


class FakeApt(Tool):
    """Answers as apt does, and counts."""

    asked = ()

    def run(self, argv, *, given="", environment=None):
        object.__setattr__(self, "asked", (*self.asked, argv[1]))
        if argv[1] == "indextargets":
            return self.targets
        return (
            "'http://mirror/pool/b_1%3a2.0+b1_amd64.deb' b_1%3a2.0+b1_amd64.deb 12 MD5Sum:00\n"
            "'http://mirror/pool/a_1.0_all.deb' a_1.0_all.deb 5 \n"
        )


@pytest.fixture
def apt(tmp_path):
    tool = FakeApt(0, tmp_path / "log")
    rows = ["http://mirror/debian/|bookworm|bookworm", "http://mirror/debian/|bookworm-backports|bookworm-backports"]
    object.__setattr__(
        tool, "targets", "\n".join([*rows, "http://mirror/security/|bookworm-security|bookworm-security"])
    )
    return tool


def test_packages_are_read_from_apt_once(tmp_path, apt):
    source = PackageSource(tmp_path / "apt", apt)
    first = source.resolve(("b",))
    assert first == (Package("a", "1.0"), Package("b", "1:2.0+b1"))
    before = len(apt.asked)
    assert PackageSource(tmp_path / "apt", apt).resolve(("b",)) == first
    assert len(apt.asked) == before


def test_refresh_forgets_what_was_resolved(tmp_path, apt):
    source = PackageSource(tmp_path / "apt", apt)
    source.resolve(("b",))
    source.refresh()
    before = len(apt.asked)
    source.resolve(("b",))
    assert len(apt.asked) > before


def test_sources_are_the_machines_own_without_backports(tmp_path, apt):
    text = PackageSource(tmp_path / "apt", apt).sources()
    assert "http://mirror/debian/ bookworm main non-free" in text
    assert "http://mirror/security/ bookworm-security main non-free" in text
    assert "backports" not in text


def test_machine_without_the_suite_is_reported(tmp_path, apt):
    object.__setattr__(apt, "targets", "http://node.example/node|nodistro|nodistro")
    with pytest.raises(PrerequisiteError, match="no mirror of bookworm"):
        PackageSource(tmp_path / "apt", apt).sources()


@pytest.fixture
def modules(tmp_path):
    tree = tmp_path / "modules"
    for name in (
        "kernel/net/virtio_net.ko",
        "kernel/net/failover.ko",
        "kernel/net/net-failover.ko",
        "kernel/gpu/big.ko",
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    (tree / "modules.dep").write_text(
        "kernel/net/virtio_net.ko: kernel/net/net-failover.ko kernel/net/failover.ko\n"
        "kernel/net/net-failover.ko: kernel/net/failover.ko\nkernel/net/failover.ko:\nkernel/gpu/big.ko:\n"
    )
    (tree / "modules.builtin").write_text("kernel/fs/ext4.ko\n")
    return ModuleTree(tree)


def test_modules_come_after_what_they_need(modules):
    order = ["kernel/net/failover.ko", "kernel/net/net-failover.ko", "kernel/net/virtio_net.ko"]
    assert modules.closure(["virtio_net", "ext4", "net_failover"]) == order


def test_unknown_module_is_refused(modules):
    with pytest.raises(ConfigurationError, match="no module carrier_pigeon"):
        modules.closure(["carrier_pigeon"])


def test_other_modules_go(modules, tmp_path):
    files = modules.closure(["virtio_net"])
    modules.copy(files, tmp_path / "early")
    modules.keep(files)
    assert not (modules.folder / "kernel/gpu").exists()
    assert (modules.folder / "kernel/net/failover.ko").exists()
    assert (tmp_path / "early/order").read_text().splitlines() == files


def test_ramdisk_does_not_know_when_and_in_which_order_it_was_made(tmp_path):
    found = []
    for number, names in enumerate((("a", "b"), ("b", "a"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name in names:
            (folder / name).write_text(name)
        (folder / "link").symlink_to("a")
        found.append(archive(folder))
    assert found[0] == found[1]
    assert found[0].startswith(b"070701")
    assert found[0].index(b"dev/console") < found[0].index(b"TRAILER!!!")
    assert len(found[0]) % 4 == 0


def test_partition_table_says_where_the_partitions_are(tmp_path, monkeypatch):
    code = tmp_path / "mbr.bin"
    code.write_bytes(b"\xfa" * 440)
    monkeypatch.setattr(disk, "_MBR", code)
    table = disk.partition_table("766c6f70", [2**20, 2**25], [2**24, 1000])
    assert len(table) == 512
    assert table[440:444] == b"polv"
    first, second = (struct.unpack("<B3xB3xII", table[446 + 16 * n : 462 + 16 * n]) for n in (0, 1))
    assert first == (0x80, 0x0E, 2048, 2**15)
    assert second == (0, 0x83, 2**16, 2)
    assert table[510:] == b"\x55\xaa"


def test_kernel_of_another_compression_is_refused(tmp_path):
    path = tmp_path / "vmlinuz"
    path.write_bytes(b"MZ" + bytes(100))
    with pytest.raises(ConfigurationError, match="xz"):
        uncompressed(path)


@pytest.fixture
def built(tmp_path):
    image = tmp_path / "vloop.qcow2"
    image.write_bytes(b"image")
    sidecar = Sidecar(tmp_path / "vloop.json")
    sidecar.write("key", {"name": "vloop", "version": "1", "cmdline": ""}, {"qcow2": image}, {"a": "1"})
    return sidecar, image


def test_sidecar_knows_its_input_and_files(built):
    sidecar, image = built
    assert sidecar.is_of("key")
    assert not sidecar.is_of("another")
    assert json.loads(sidecar.path.read_text())["files"]["qcow2"]["sha256"] == digest(image)


@pytest.mark.parametrize("harm", ["missing", "shorter", "no sidecar", "half a sidecar"])
def test_harmed_image_is_built_again(built, harm):
    sidecar, image = built
    if harm == "missing":
        image.unlink()
    elif harm == "shorter":
        image.write_bytes(b"im")
    elif harm == "no sidecar":
        sidecar.remove()
    else:
        sidecar.path.write_text(sidecar.path.read_text()[:40])
    assert not sidecar.is_of("key")


class FakeQemu:
    version = "10.0"


@pytest.mark.parametrize("changed", ["version", "package", "qemu"])
def test_key_depends_on_every_input(copied, changed):
    def key(packages, qemu):
        return Builder(copied, None, qemu, None, Path(), Path()).key(packages)

    other = FakeQemu()
    other.version = "10.1" if changed == "qemu" else "10.0"
    packages = {"version": (Package("a", "2"),), "package": (Package("b", "1"),), "qemu": (Package("a", "1"),)}
    assert key((Package("a", "1"),), FakeQemu()) != key(packages[changed], other)


class KnownPackages:
    """Stands for apt: what is asked for depends on nothing else."""

    def resolve(self, names):
        return tuple(Package(name, "1") for name in names)


def test_an_image_of_the_same_input_is_taken_from_another_clone(copied, tmp_path, built):
    sidecar, image = built
    shared, output = SharedCache(tmp_path / "cache"), tmp_path / "clone"
    output.mkdir()
    builder = Builder(copied, None, FakeQemu(), KnownPackages(), output, tmp_path / "work", shared)
    key = builder.key(KnownPackages().resolve(copied.packages))
    sidecar.write(key, {"name": "vloop", "version": "1", "cmdline": ""}, {"qcow2": image}, {})
    shared.put("images", f"{copied.name} {key}", image, sidecar.path)
    assert not builder.make()
    assert (output / "vloop.qcow2").read_bytes() == b"image"
    assert Sidecar(output / "vloop.json").is_of(key)


class Installing(Tool):
    """Takes down what installs libraries for another Python."""

    asked = ()

    def run(self, argv, *, given="", environment=None):
        object.__setattr__(self, "asked", (*self.asked, tuple(map(str, argv[1:]))))
        return f"{self.log.parent / 'other'}\n"


@pytest.fixture(name="libraries")
def _libraries(tmp_path):
    """A recipe with a library of each kind, this environment's and, with another content, the guest's."""
    (tmp_path / "python.txt").write_text("compiled\npure\nnfvbed/units.py\n")
    for place in ("here", "other"):
        for name in ("compiled/part.so", "compiled/__init__.py", "pure/__init__.py"):
            (tmp_path / place / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / place / name).write_text(place)
    recipe = load(shutil.copytree(RECIPE, tmp_path / "guest", symlinks=True))
    shutil.copy(tmp_path / "python.txt", recipe.folder)
    return recipe


def test_compiled_libraries_are_those_of_the_guest_s_python(libraries, tmp_path):
    tool = Installing(0, tmp_path / "log")
    found = pythonparts.files(libraries, "3.4", tool, tmp_path / "here")
    assert tool.asked == (("3.4", "compiled"),)
    taken = {name: path.read_text() for name, path in found.items() if not name.startswith("nfvbed/")}
    assert taken == {"compiled/part.so": "other", "compiled/__init__.py": "other", "pure/__init__.py": "here"}


def test_a_guest_with_the_same_python_has_the_libraries_of_this_environment(libraries, tmp_path):
    tool = Installing(0, tmp_path / "log")
    found = pythonparts.files(libraries, f"{sys.version_info.major}.{sys.version_info.minor}", tool, tmp_path / "here")
    assert tool.asked == () and found["compiled/part.so"].read_text() == "here"


def test_the_version_of_a_guest_s_python_is_that_of_its_package():
    assert pythonparts.version_of((Package("a", "1.0"), Package("python3", "3.11.2-1+b1"))) == "3.11"
    assert pythonparts.version_of(()) == ""
