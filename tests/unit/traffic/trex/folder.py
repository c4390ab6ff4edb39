"""A folder that looks like TRex's, with the double in it; its program sleeps."""

from pathlib import Path

from tests.unit.traffic.trex import trex_double

PORTS = ("0000:3b:00.0", "0000:3b:00.1")
"""PCI addresses of the double's ports."""
YAML = Path("automation/trex_control_plane/interactive/yaml.py")
CONFIGURATION = "trex_cfg.yaml"
API = Path("automation/trex_control_plane/interactive/trex/stl/api.py")


def install(folder: Path) -> Path:
    """Make the folder, and return it."""
    api = folder / API
    api.parent.mkdir(parents=True)
    for package in (api.parent, api.parent.parent):
        (package / "__init__.py").touch()
    api.write_text(Path(trex_double.__file__).read_text())
    # TRex brings its own YAML with its client; JSON is YAML too.
    (folder / YAML).write_text("import json\n\nYAMLError, safe_load = ValueError, json.loads\n")
    (folder / CONFIGURATION).write_text('[{"version": 2, "interfaces": ["3b:00.0", "3b:00.1"]}]')
    # As TRex's: a script that does not pass on its end to the program that it starts.
    program(folder, "t-rex-64", 'echo "double: $*"\n"$PWD/_t-rex-64"\n')
    program(folder, "_t-rex-64", "while :; do sleep 0.1; done\n")
    return folder


def program(folder: Path, name: str, lines: str) -> None:
    """Make a script."""
    (folder / name).write_text(f"#!/bin/bash\n{lines}")
    (folder / name).chmod(0o755)
