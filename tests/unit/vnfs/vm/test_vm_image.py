"""Images: found, checked, never written to."""

import hashlib
import json
from pathlib import Path

import pytest

from nfvbed.errors import OnboardError, PrerequisiteError
from nfvbed.host.qemu import images
from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.spec.vnf import ImageSpec
from nfvbed.vnfs.vm import image
from nfvbed.vnfs.vm.driver import VmVnf
from tests.unit.vnfs.vm.vm_seat import choice

CONTENT = b"QFI\xfb and more"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(name="root")
def _root(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images/own.qcow2").write_bytes(CONTENT)
    return tmp_path


def built(root, digest=DIGEST):
    folder = root / "images"
    (folder / "own.kernel").write_text("kernel")
    (folder / "own.initrd").write_text("initrd")
    files = {"qcow2": {"name": "own.qcow2", "sha256": digest, "size_bytes": len(CONTENT)}}
    sidecar = {"schema": "image/1", "version": "1", "cmdline": "console=ttyS0", "files": files, "packages": {}}
    (folder / "own.json").write_text(json.dumps(sidecar))


def find(root, **keys):
    return images.find(ImageSpec(file="images/own.qcow2", **keys), root)


def fake_tool(folder, text):
    path = folder / "usr/bin/qemu-img"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return QemuBinaries(folder)


def test_image_with_the_declared_digest(root):
    found = find(root, sha256=DIGEST)
    assert (found.format, found.digest, found.direct) == ("qcow2", DIGEST, False)


def test_image_with_another_digest_is_refused(root):
    with pytest.raises(OnboardError, match="not the one that was declared") as caught:
        find(root, sha256="0" * 64)
    assert DIGEST in caught.value.observed
    assert caught.value.exit_code == 21


def test_built_image_that_was_changed_is_refused(root):
    built(root, digest="1" * 64)
    with pytest.raises(OnboardError, match="was changed") as caught:
        find(root)
    assert caught.value.fix == "make images"


def test_changed_file_is_read_again(root):
    find(root, sha256=DIGEST)
    (root / "images/own.qcow2").write_bytes(CONTENT + b"!")
    with pytest.raises(OnboardError):
        find(root, sha256=DIGEST)


def test_missing_image_says_how_to_get_it(root):
    with pytest.raises(PrerequisiteError, match="not there") as caught:
        images.find(ImageSpec(file="images/vloop.qcow2"), root, "image.file in vnfd/vloop/vnf.yml")
    assert caught.value.where == f"{root}/images/vloop.qcow2, named by image.file in vnfd/vloop/vnf.yml"
    assert (caught.value.exit_code, caught.value.fix) == (12, "make images")


@pytest.mark.parametrize("keys", [{"agent": False}, {"sha256": DIGEST}])
def test_an_image_that_nothing_builds_is_to_be_put_there(root, keys):
    with pytest.raises(PrerequisiteError) as caught:
        images.find(ImageSpec(file="images", **keys), root)
    assert (caught.value.observed, caught.value.fix) == ("a folder", "put the file there, or name another one")


def test_the_driver_says_who_names_the_image(root):
    own = choice()
    with pytest.raises(PrerequisiteError) as caught:
        VmVnf().require_files(own, root)
    assert caught.value.where.endswith("named by image.file in vnfd/vloop/vnf.yml")
    other = own.model_copy(update={"image": ImageSpec(file="x.qcow2", agent=False), "label": "vm-io-x"})
    with pytest.raises(PrerequisiteError) as caught:
        VmVnf().require_files(other, root)
    assert "x.qcow2, named by image of vm-io-x" in caught.value.where


def test_damaged_sidecar_is_reported(root):
    (root / "images/own.json").write_text("{}")
    with pytest.raises(OnboardError, match="beside the image"):
        find(root)


def test_raw_image_is_known_by_its_content(root):
    (root / "images/own.qcow2").write_bytes(b"\0" * 512)
    assert find(root).format == "raw"


def test_built_image_is_attached_read_only_with_its_kernel(root):
    built(root)
    found = find(root)
    assert image.disk(found, root / "overlay", QemuBinaries(Path("/nowhere"))).read_only
    boot = image.direct_boot(found, "panic=-1")
    assert boot.command_line == "console=ttyS0 panic=-1"
    assert boot.kernel == root / "images/own.kernel"


def test_users_image_gets_an_overlay_and_its_own_loader(root, tmp_path):
    found = find(root)
    binaries = fake_tool(tmp_path / "qemu", 'echo "$@" >"$0.said"')
    disk = image.disk(found, root / "overlay.qcow2", binaries)
    assert (disk.path, disk.read_only) == (root / "overlay.qcow2", False)
    said = (tmp_path / "qemu/usr/bin/qemu-img.said").read_text()
    assert f"-F qcow2 -b {root / 'images/own.qcow2'} {root / 'overlay.qcow2'}" in said
    assert image.direct_boot(found, "panic=-1") is None


def test_image_that_is_no_disk_is_reported_in_qemus_words(root, tmp_path):
    binaries = fake_tool(tmp_path / "qemu", "echo 'Image is corrupt' >&2; exit 1")
    with pytest.raises(OnboardError, match="cannot be used") as caught:
        image.disk(find(root), root / "overlay.qcow2", binaries)
    assert "Image is corrupt" in caught.value.observed
