"""Runs on a machine of a rack, as root: `python3 - PCI COUNT`. Makes virtual functions, and removes them again.

A NIC that has functions already is left alone: instances may have them. While they are there no driver is bound to
them, so that no network device appears which a network manager would configure. Standard library alone.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import NoReturn


class Functions:
    """Virtual functions of a NIC, as the kernel shows them.

    Args:
        folder: folder of the device in sysfs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def count(self) -> int:
        """How many there are, each with its device."""
        return min(int(self.read("sriov_numvfs")), len(list(self.folder.glob("virtfn*"))))

    def read(self, name: str) -> str:
        """Return a setting."""
        return (self.folder / name).read_text().strip()

    def write(self, name: str, value: str) -> None:
        """Change a setting."""
        (self.folder / name).write_text(value)


def tried(functions: Functions, count: int) -> dict[str, object]:
    """Make functions, count them, and remove them."""
    before = functions.count
    if before:
        refused = "" if before == count else f"it has {before}, which may be in use: nothing was tried"
        return {"before": before, "made": before, "after": before, "refused": refused}
    probe, made, refused = functions.read("sriov_drivers_autoprobe"), 0, ""
    try:
        functions.write("sriov_drivers_autoprobe", "0")
        functions.write("sriov_numvfs", str(count))
        made = functions.count
    except OSError as failure:
        refused = f"sriov_numvfs: {failure.strerror}"
    finally:
        functions.write("sriov_numvfs", "0")
        functions.write("sriov_drivers_autoprobe", probe)
    return {"before": before, "made": made, "after": functions.count, "refused": refused}


def ended(number: int, _: object) -> NoReturn:
    """Leave, with all changes undone, when the time is over or the connection gone."""
    raise SystemExit(128 + number)


if __name__ == "__main__":
    for ending in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ending, ended)
    print(json.dumps(tried(Functions(Path("/sys/bus/pci/devices") / sys.argv[1]), int(sys.argv[2]))))
