"""Disk images: never written to, and booted by their own means."""

import os
import subprocess
from pathlib import Path

from nfvbed.errors import OnboardError
from nfvbed.host.qemu.binaries import QemuBinaries
from nfvbed.host.qemu.images import Image
from nfvbed.vnfs.vm.guest import DirectBoot, Disk

_TOOL_S = 60


def disk(image: Image, overlay: Path, binaries: QemuBinaries) -> Disk:
    """Return the disk that the guest boots from.

    An image that was built here is mounted read-only by its own guest; any other gets an overlay, which takes what its
    guest writes and ends with the run directory.

    Args:
        overlay: file of the overlay, which may be made.

    Raises:
        OnboardError: the overlay cannot be made.
    """
    if image.sidecar is not None:
        return Disk(image.path, image.format, read_only=True)
    argv = [str(binaries.image_tool), "create", "-q", "-f", "qcow2", "-F", image.format, "-b", str(image.path)]
    overlay.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [*argv, str(overlay)],
            env=os.environ | binaries.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TOOL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise OnboardError("qemu-img does not run", where=str(binaries.image_tool), observed=str(failure)) from failure
    if done.returncode != 0:
        raise OnboardError(
            "the image cannot be used",
            where=str(image.path),
            observed=(done.stderr or done.stdout).strip(),
            fix="it must be a disk image in the form qcow2 or raw",
        )
    return Disk(overlay, "qcow2", read_only=False)


def direct_boot(image: Image, parameters: str) -> DirectBoot | None:
    """Return kernel and command line, if they are beside the image; None: the disk boots by itself.

    Args:
        parameters: what nfvbed adds to the image's own command line.
    """
    if image.sidecar is None or not image.direct:
        return None
    line = f"{image.sidecar.cmdline} {parameters}".strip()
    return DirectBoot(image.file_beside(".kernel"), image.file_beside(".initrd"), line)
