"""A QEMU that is gone is reported in one line: how it ended, and what it said last."""

from pathlib import Path

import pytest

from nfvbed.vnfs.vm.death import Death

ASSERTION = (
    "qemu-system-x86_64: hw/pci/msix.c:228: msix_table_mmio_write: Assertion"
    " `addr + size <= dev->msix_entries_nr * PCI_MSIX_ENTRY_SIZE' failed."
)


def death(status, said="", printed=""):
    return Death("vnf1 (vm, bridge)", status, said, printed, Path("/run/nfvbed/1/vnf1.log")).error()


def test_an_abort_of_qemu_is_reported_with_signal_and_assertion_in_the_first_line():
    found = death(-6, f"a warning\n{ASSERTION}", "booting")
    assert str(found).splitlines()[0] == f"vnf1 (vm, bridge) has died (signal 6, SIGABRT): {ASSERTION}"
    assert f"QEMU's last lines:\na warning\n{ASSERTION}" in found.observed
    assert "its console's last lines:\nbooting" in found.observed
    assert "NFVBED_QEMU_DIR" in found.fix
    assert (found.where, found.exit_code) == ("/run/nfvbed/1/vnf1.log", 22)


@pytest.mark.parametrize(
    ("status", "how"),
    [(0, "exit status 0"), (None, "ended"), (-9, "signal 9, SIGKILL"), (-200, "signal 200")],
)
def test_an_end_that_is_no_fault_of_qemus_sends_to_the_console(status, how):
    found = death(status)
    assert found.what == f"vnf1 (vm, bridge) has died ({how})"
    assert found.observed == how
    assert "console" in found.fix
