"""What is made of guests that boot and guests that do not; no guest is booted here."""

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.probes.accelerator import accelerator_finding, probe_accelerator
from nfvbed.host.probes.host import Host
from nfvbed.host.qemu import accelerator
from nfvbed.host.qemu.accelerator import BootAttempt
from nfvbed.host.qemu.binaries import QEMU_DIRECTORY_VARIABLE, QemuBinaries
from nfvbed.records import Accelerator
from nfvbed.records.findings import State


@pytest.fixture(name="qemu")
def _qemu(tmp_path):
    root = tmp_path / "qemu"
    for name, text in (("usr/bin/qemu-system-x86_64", "echo version 10.0.2"), ("usr/bin/qemu-img", "exit 0")):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    (root / "boot").mkdir()
    (root / "boot/vmlinuz").write_text("kernel")
    (root / "boot/busybox").write_text("busybox")
    return QemuBinaries(root)


def boots(monkeypatch, *which):
    """Let these accelerators boot a guest, and say which were tried."""
    tried = []

    def attempt(kind, root, binaries):
        tried.append(kind)
        observed = "booted in 1.0 s" if kind in which else "no mark"
        return BootAttempt(accelerator=kind, booted=kind in which, duration_ns=1, observed=observed)

    monkeypatch.setattr(accelerator, "_try", attempt)
    return tried


def test_kvm_that_boots_is_taken(tmp_path, qemu, monkeypatch):
    tried = boots(monkeypatch, Accelerator.KVM, Accelerator.TCG)
    found = accelerator.find_accelerator(tmp_path, qemu)
    assert (found.accelerator, found.reason) == (Accelerator.KVM, "")
    assert tried == [Accelerator.KVM]
    assert accelerator_finding(found).state is State.PRESENT


def test_kvm_that_opens_and_boots_nothing_gives_tcg_with_the_reason(tmp_path, qemu, monkeypatch):
    boots(monkeypatch, Accelerator.TCG)
    found = accelerator.find_accelerator(tmp_path, qemu)
    assert found.accelerator is Accelerator.TCG
    assert found.reason == "KVM booted nothing: no mark"
    finding = accelerator_finding(found)
    assert finding.state is State.LIMITED
    assert "KVM booted nothing" in finding.summary


def test_nothing_boots(tmp_path, qemu, monkeypatch):
    boots(monkeypatch)
    found = accelerator.find_accelerator(tmp_path, qemu)
    assert found.accelerator is Accelerator.NONE
    assert accelerator_finding(found).state is State.ABSENT


def test_answer_is_remembered_until_the_kernel_or_the_boot_changes(tmp_path, qemu, monkeypatch):
    tried = boots(monkeypatch, Accelerator.KVM)
    first = accelerator.find_accelerator(tmp_path, qemu)
    assert accelerator.find_accelerator(tmp_path, qemu) == first
    assert len(tried) == 1
    (qemu.root / "boot/vmlinuz").write_text("another kernel")
    assert accelerator.remembered(tmp_path, qemu) is None
    accelerator.find_accelerator(tmp_path, qemu)
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("another boot")
    monkeypatch.setattr(accelerator, "_BOOT_ID", boot_id)
    accelerator.find_accelerator(tmp_path, qemu)
    assert len(tried) == 3


def test_damaged_memory_is_asked_again(tmp_path, qemu, monkeypatch):
    tried = boots(monkeypatch, Accelerator.TCG)
    path = tmp_path / ".nfvbed/cache/accelerator.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"key": "x"')
    accelerator.find_accelerator(tmp_path, qemu)
    assert Accelerator.TCG in tried


def test_no_guest_to_probe_with(tmp_path, qemu):
    qemu.kernel.unlink()
    with pytest.raises(PrerequisiteError, match="no guest to probe"):
        accelerator.find_accelerator(tmp_path, qemu)


def test_doctor_does_not_boot_unless_asked(tmp_path, qemu, monkeypatch):
    monkeypatch.setenv(QEMU_DIRECTORY_VARIABLE, str(qemu.root))
    tried = boots(monkeypatch, Accelerator.TCG)
    assert probe_accelerator(Host(), tmp_path, boot=False).state is State.UNKNOWN
    assert tried == []
    assert probe_accelerator(Host(), tmp_path, boot=True).state is State.LIMITED
    assert probe_accelerator(Host(), tmp_path, boot=False).state is State.LIMITED, "remembered"
    assert probe_accelerator(Host(tmp_path), tmp_path, boot=True).state is State.UNKNOWN, "the tree of another host"


@pytest.mark.parametrize(
    ("said", "printed", "expected"),
    [
        ("qemu-system-x86_64: error: failed to set MSR\nabort", "", "QEMU says: error: failed to set MSR"),
        ("", "line\nKernel panic", "the guest's last line: Kernel panic"),
        ("", "", "not a byte on the guest's console within 20 s"),
    ],
)
def test_last_lines(tmp_path, said, printed, expected):
    (tmp_path / "words").write_text(said)
    (tmp_path / "console").write_text(printed)
    assert accelerator._log_end(tmp_path / "words", tmp_path / "console", 20) == expected
