"""A folder that looks like TRex's, with the double in it; its program sleeps."""

from pathlib import Path

from tests.unit.traffic.trex import trex_double

PORTS = ("0000:3b:00.0", "0000:3b:00.1")
"""Of the double."""
API = Path("automation/trex_control_plane/interactive/trex/stl/api.py")


def install(folder: Path) -> Path:
    """Make the folder, and return it."""
    api = folder / API
    api.parent.mkdir(parents=True)
    for package in (api.parent, api.parent.parent):
        (package / "__init__.py").touch()
    api.write_text(Path(trex_double.__file__).read_text())
    program = folder / "t-rex-64"
    program.write_text('#!/bin/sh\necho "double: $*"\nexec sleep 600\n')
    program.chmod(0o755)
    return folder
