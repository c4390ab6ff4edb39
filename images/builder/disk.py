"""The disk: a boot partition (FAT with syslinux, kernel and initial ramdisk) and the root (squashfs), as qcow2.

The root is not compressed in the squashfs but in the qcow2: so the host unpacks it, not a guest that may be emulated.
"""

import struct
from pathlib import Path

from builder.recipe import Recipe
from builder.tool import Tool
from nfvbed.host.qemu.binaries import QemuBinaries

SECTOR = 512
MIB = 1024 * 1024
_ALIGNED = MIB
_MBR = Path("/usr/lib/syslinux/mbr/mbr.bin")
_MBR_CODE = 440
_FAT, _LINUX = 0x0E, 0x83
_LOADER = (
    "DEFAULT guest\nPROMPT 0\nTIMEOUT 0\nSERIAL 0 115200\n"
    "LABEL guest\n  KERNEL /vmlinuz\n  INITRD /initrd\n  APPEND {}\n"
)


class Disk:
    """Makes the disk in `folder`."""

    def __init__(self, folder: Path, recipe: Recipe, tool: Tool) -> None:
        self.folder = folder
        self.recipe = recipe
        self._tool = tool

    def root(self, source: Path) -> Path:
        """Return the squashfs of a folder: sorted, owned by root, every time stamp the same."""
        target = self.folder / "root.squashfs"
        # With SOURCE_DATE_EPOCH it would keep the time stamps of files that are older.
        argv: list[str | Path] = ["env", "-u", "SOURCE_DATE_EPOCH", "mksquashfs", source, target]
        argv += ["-noappend", "-no-progress", "-no-xattrs", "-all-root"]
        argv += ["-noI", "-noId", "-noD", "-noF", "-noX", "-no-exports", "-b", "128K"]
        self._tool.run([*argv, "-mkfs-time", str(self.recipe.epoch), "-all-time", str(self.recipe.epoch)])
        return target

    def boot(self, kernel: Path, ramdisk: Path) -> Path:
        """Return the FAT file system with the loader."""
        target = self.folder / "boot.fat"
        settings = self.folder / "syslinux.cfg"
        settings.write_text(_LOADER.format(self.recipe.cmdline))
        with target.open("wb") as file:
            file.truncate(self.recipe.boot_partition_mib * MIB)
        sectors = self.recipe.boot_partition_mib * MIB // SECTOR
        argv: list[str | Path] = ["mformat", "-i", target, "-T", str(sectors), "-h", "64", "-s", "32"]
        argv += ["-H", str(_ALIGNED // SECTOR), "-N", self.recipe.disk_signature, "-v", "BOOT", "::"]
        self._tool.run(argv)
        for source, name in ((kernel, "vmlinuz"), (ramdisk, "initrd"), (settings, "syslinux.cfg")):
            self._tool.run(["mcopy", "-i", target, source, f"::{name}"])
        self._tool.run(["syslinux", "--install", target])
        return target

    def assemble(self, boot: Path, root: Path, qemu: QemuBinaries) -> Path:
        """Return the qcow2 of both, with a partition table."""
        raw, target = self.folder / "disk.raw", self.folder / "disk.qcow2"
        starts = [_ALIGNED, _ALIGNED + _rounded(boot.stat().st_size)]
        with raw.open("wb") as disk:
            disk.write(partition_table(self.recipe.disk_signature, starts, [boot.stat().st_size, root.stat().st_size]))
            for start, part in zip(starts, (boot, root), strict=True):
                disk.seek(start)
                disk.write(part.read_bytes())
            disk.truncate(starts[1] + _rounded(root.stat().st_size))
        # One coroutine: with several the order of the clusters would be that of their completion.
        argv: list[str | Path] = [qemu.image_tool, "convert", "-f", "raw", "-O", "qcow2", "-c", "-m", "1", raw, target]
        self._tool.run(argv, environment=qemu.environment)
        return target


def partition_table(signature: str, starts: list[int], sizes: list[int]) -> bytes:
    """Return the first sector: syslinux's code, the disk's signature and two partitions, the first active.

    Args:
        signature: eight hexadecimal digits.
        starts: of the partitions, in bytes.
        sizes: in bytes; rounded up to whole sectors.
    """
    code = _MBR.read_bytes()[:_MBR_CODE].ljust(_MBR_CODE, b"\0")
    rows = b""
    for active, kind, start, size in zip((0x80, 0), (_FAT, _LINUX), starts, sizes, strict=True):
        # Addresses by cylinder are not used by anything that knows large disks; these say "too large".
        beyond = b"\xfe\xff\xff"
        rows += struct.pack("<B3sB3sII", active, beyond, kind, beyond, start // SECTOR, -(-size // SECTOR))
    return code + bytes.fromhex(signature)[::-1] + b"\0\0" + rows.ljust(64, b"\0") + b"\x55\xaa"


def _rounded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
