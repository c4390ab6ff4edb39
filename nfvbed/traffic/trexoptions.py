"""The start of TRex on its host in place of nfvgen: the program that drives it, packed into one file."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nfvbed.errors import InternalError
from nfvbed.spec.remote import TrexSpec
from nfvbed.traffic.nfvgen import NfvgenOptions

ARCHIVE = "trex.pyz"
_PACKAGE = Path(__file__).resolve().parents[1]
_MAIN = "import sys\n\nfrom nfvbed.traffic.trex.program import main\n\nsys.exit(main())\n"


@dataclass(frozen=True)
class TrexOptions(NfvgenOptions):
    """The options of TRex's start, which speaks nfvgen's protocol. Cores, memory and NICs are in TRex's file."""

    program: ClassVar[str] = "TRex"
    trex: TrexSpec | None = None

    def argv(self) -> list[str]:
        """Return the command line."""
        if self.trex is None:
            raise InternalError("TRex has no folder", where="TrexOptions")
        archive = self.socket_path.with_name(ARCHIVE)
        argv = [str(self.binary), str(archive), "--trex", self.trex.folder, "--socket", str(self.socket_path)]
        argv += ["--configuration", self.trex.configuration, "--workers", str(self.trex.workers)]
        for port in self.ports:
            argv += ["--port", port.spec.removeprefix("pci:")]
        return argv + (["--software"] if self.trex.software else [])


def write_archive(directory: Path) -> Path:
    """Pack the program, with all that it needs beside the standard library and TRex; return the file."""
    found = directory / ARCHIVE
    own = (_PACKAGE / name for name in ("__init__.py", "conservation.py", "traffic/__init__.py"))
    modules = (*own, *_PACKAGE.glob("traffic/trex/*.py"))
    with zipfile.ZipFile(found, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__main__.py", _MAIN)
        for module in sorted(modules):
            archive.write(module, str(Path("nfvbed") / module.relative_to(_PACKAGE)))
    return found
