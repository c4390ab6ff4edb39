"""Which accelerator guests run under on this host: one is booted to find out.

On some virtual machines /dev/kvm opens and creates machines, and yet no stock kernel boots under it.
"""

import hashlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

from pydantic import ValidationError

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.host.native import native_binary
from nfvbed.host.qemu.binaries import PROJECT_ROOT, QemuBinaries
from nfvbed.host.qemu.initramfs import Member, archive
from nfvbed.patience import patient
from nfvbed.records import Accelerator, Record
from nfvbed.wholefile import write_whole

MARKER = "nfvbed: guest booted"
_INIT = f"""#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
echo '{MARKER}' >/dev/ttyS0
/bin/busybox poweroff -f
"""
_CACHE = Path(".nfvbed/cache/accelerator.json")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LOOK_S = 0.02

WAIT_S = {Accelerator.KVM: patient(20.0), Accelerator.TCG: patient(90.0)}
"""A kernel boots in about a second under KVM and in three under TCG; the rest is for a busy machine."""

MACHINE = {
    Accelerator.KVM: ("-accel", "kvm", "-cpu", "host"),
    # All instructions that QEMU can emulate: DPDK needs SSE 4.2.
    Accelerator.TCG: ("-accel", "tcg,thread=multi", "-cpu", "max"),
}
"""QEMU's arguments for an accelerator; guests run with the same ones that were probed."""


class BootAttempt(Record):
    """The trial of one accelerator."""

    accelerator: Accelerator
    booted: bool
    duration_ns: int
    """Until the guest's userland printed the marker, or until it was given up."""
    observed: str


class AcceleratorFound(Record):
    """The accelerator for guests, and why better ones do not work."""

    accelerator: Accelerator
    """`none`: no guest boots at all."""
    attempts: tuple[BootAttempt, ...]
    qemu: str

    @property
    def reason(self) -> str:
        """Why it is not a better one; empty with KVM."""
        failed = [attempt for attempt in self.attempts if not attempt.booted]
        return "; ".join(f"{a.accelerator.value.upper()} booted nothing: {a.observed}" for a in failed)


class _StoredOutcome(Record):
    key: str
    found: AcceleratorFound


def guests_boot(binaries: QemuBinaries) -> Fitness:
    """Check that guests boot on this host.

    Raises:
        UnsupportedError: none does.
        PrerequisiteError: as `find_accelerator`.
    """
    found = find_accelerator(PROJECT_ROOT, binaries)
    if found.accelerator is Accelerator.NONE:
        raise UnsupportedError("no guest boots", observed=found.reason, fix="see nfvbed doctor")
    if found.accelerator is Accelerator.KVM:
        return Fitness()
    return Fitness(limited=True, reason=f"guests are emulated, their rates mean nothing: {found.reason}")


def find_accelerator(root: Path, binaries: QemuBinaries) -> AcceleratorFound:
    """Boot a small guest under KVM, if the device is there, else or on failure under TCG; the answer is kept.

    Takes a second or two with KVM, a few without, at most two minutes on a machine that boots nothing. The answer is
    kept in the project's cache until this machine boots again or QEMU changes.

    Raises:
        PrerequisiteError: QEMU or the guest's kernel is not there.
    """
    found = remembered(root, binaries)
    if found is None:
        found = _try_all(root, binaries)
        _remember(root, _StoredOutcome(key=_key(binaries), found=found))
    return found


def remembered(root: Path, binaries: QemuBinaries) -> AcceleratorFound | None:
    """Return what was found since this machine booted, with this QEMU; None when no guest was booted yet.

    Raises:
        PrerequisiteError: QEMU or the guest's kernel is not there.
    """
    key = _key(binaries)
    try:
        cached = _StoredOutcome.model_validate_json((root / _CACHE).read_text())
    except (OSError, ValidationError):
        return None
    return cached.found if cached.key == key else None


def _remember(root: Path, cached: _StoredOutcome) -> None:
    path = root / _CACHE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, cached.model_dump_json())


def _key(binaries: QemuBinaries) -> str:
    if not binaries.kernel.is_file() or not binaries.busybox.is_file():
        raise PrerequisiteError(
            "there is no guest to probe accelerators with",
            where=str(binaries.kernel.parent),
            observed="no kernel or no busybox",
            fix="make setup",
        )
    kernel = binaries.kernel.stat()
    parts = (_BOOT_ID.read_text().strip(), binaries.version, kernel.st_size, kernel.st_mtime_ns, _INIT, MACHINE)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _try_all(root: Path, binaries: QemuBinaries) -> AcceleratorFound:
    attempts = []
    for accelerator in (Accelerator.KVM, Accelerator.TCG):
        attempt = _try(accelerator, root, binaries)
        attempts.append(attempt)
        if attempt.booted:
            break
    last = attempts[-1]
    return AcceleratorFound(
        accelerator=last.accelerator if last.booted else Accelerator.NONE,
        attempts=tuple(attempts),
        qemu=binaries.version,
    )


def _try(accelerator: Accelerator, root: Path, binaries: QemuBinaries) -> BootAttempt:
    if accelerator is Accelerator.KVM and not os.access("/dev/kvm", os.R_OK | os.W_OK):
        observed = "/dev/kvm cannot be opened" if Path("/dev/kvm").exists() else "no /dev/kvm"
        return BootAttempt(accelerator=accelerator, booted=False, duration_ns=0, observed=observed)
    with tempfile.TemporaryDirectory(prefix="nfvbed-boot-") as folder:
        return boot(accelerator, Path(folder), root, binaries)


def boot(accelerator: Accelerator, folder: Path, root: Path, binaries: QemuBinaries) -> BootAttempt:
    """Boot the small guest, and end it.

    Args:
        folder: an empty folder for the guest's files.
        root: folder of the project, with `native/build`.
    """
    ramdisk, console = folder / "initrd", folder / "console.log"
    members = (Member("bin"), Member("dev"), Member("bin/busybox", binaries.busybox.read_bytes()))
    ramdisk.write_bytes(archive([*members, Member("init", _INIT.encode())]))
    argv = [str(native_binary("nfvbed-exec", root)), "--die-with-parent", "--", str(binaries.program)]
    argv += [*binaries.firmware, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-M", "q35"]
    argv += [*MACHINE[accelerator], "-m", "256", "-kernel", str(binaries.kernel), "-initrd", str(ramdisk)]
    argv += ["-append", "console=ttyS0 panic=-1 quiet", "-serial", f"file:{console}"]
    words = folder / "words"
    started = time.monotonic_ns()
    with words.open("wb") as output:
        process = subprocess.Popen(
            argv,
            env=os.environ | binaries.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
        )
    try:
        booted = _wait(process, console, WAIT_S[accelerator])
    finally:
        process.kill()
        process.wait()
    duration = time.monotonic_ns() - started
    observed = f"booted in {duration / 1e9:.1f} s" if booted else _log_end(words, console, WAIT_S[accelerator])
    return BootAttempt(accelerator=accelerator, booted=booted, duration_ns=duration, observed=observed)


def _wait(process: subprocess.Popen[bytes], console: Path, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        if console.exists() and MARKER in console.read_text(errors="replace"):
            return True
        if ended:
            return False
        time.sleep(_LOOK_S)
    return False


def _log_end(words: Path, console: Path, timeout_s: float) -> str:
    said = words.read_text(errors="replace").strip().splitlines()
    if said:
        telling = next((line for line in said if "error" in line), said[-1])
        return f"QEMU says: {telling.removeprefix('qemu-system-x86_64: ')}"
    printed = console.read_text(errors="replace").strip().splitlines() if console.exists() else []
    if printed:
        return f"the guest's last line: {printed[-1]}"
    return f"not a byte on the guest's console within {timeout_s:g} s"
