"""Where QEMU is looked for, and how its archives are written."""

import os
import subprocess

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.qemu import binaries
from nfvbed.host.qemu.initramfs import Member, archive


def fake_qemu(root, answer="echo QEMU emulator version 10.0.2"):
    for name in (binaries.PROGRAM, binaries.IMAGE_TOOL):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{answer}\n")
        path.chmod(0o755)
    return root


def test_named_place_is_taken_alone(tmp_path, monkeypatch):
    fake_qemu(tmp_path / "project" / binaries.PRIVATE_DIRECTORY)
    monkeypatch.setenv(binaries.QEMU_DIRECTORY_VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(PrerequisiteError) as caught:
        binaries.locate(tmp_path / "project")
    assert caught.value.where == binaries.QEMU_DIRECTORY_VARIABLE
    assert caught.value.fix == "make setup"


def test_private_copy_comes_first(tmp_path, monkeypatch):
    monkeypatch.delenv(binaries.QEMU_DIRECTORY_VARIABLE, raising=False)
    root = fake_qemu(tmp_path / binaries.PRIVATE_DIRECTORY)
    found = binaries.locate(tmp_path)
    assert found.root == root
    assert found.version == "10.0.2"
    assert found.environment["LD_LIBRARY_PATH"].startswith(str(root))
    assert str(root / "usr/share/seabios") in found.firmware


def test_program_that_does_not_run_is_reported_in_its_words(tmp_path):
    root = fake_qemu(tmp_path, "echo libfuse3.so.3: cannot open shared object file >&2; exit 127")
    with pytest.raises(PrerequisiteError, match="does not run") as caught:
        _ = binaries.QemuBinaries(root).version
    assert "libfuse3" in caught.value.observed


def test_archive_is_what_the_kernel_reads(tmp_path):
    members = (Member("bin"), Member("bin/tool", b"#!/bin/sh\nexit 0\n"), Member("init", b"abc"))
    data = archive(members)
    assert data == archive(members), "equal members, equal bytes"
    assert len(data) % 4 == 0
    busybox = binaries.PROJECT_ROOT / binaries.PRIVATE_DIRECTORY / "boot/busybox"
    if not busybox.is_file():
        pytest.fail("no busybox: make setup")
    argv = [str(busybox), "cpio", "-i", "-d"]
    subprocess.run(argv, input=data, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "bin/tool").read_bytes() == b"#!/bin/sh\nexit 0\n"
    assert os.access(tmp_path / "bin/tool", os.X_OK)
    assert (tmp_path / "init").read_bytes() == b"abc"
