"""The part of nfvbed's Python code that runs in nodes: Horizon's panel, and what data planes add to Neutron.

A node has the Python and the libraries of the private root, and none of nfvbed's own. So the modules that are named
here import only the standard library, each other, what `installed` copies, and what Neutron has.
"""

import importlib.util
from pathlib import Path

import nfvbed
from nfvbed.cloud.devcloud.services.service import Copy
from nfvbed.errors import InternalError

FOLDER = "/usr/lib/nfvbed"
"""In a node."""
ENVIRONMENT = (("PYTHONPATH", FOLDER),)
_HERE = Path(nfvbed.__file__).parent
_PANEL = _HERE.parent / "horizon-plugin" / "nfvbed_horizon"
_ENABLED = "/usr/lib/python3/dist-packages/openstack_dashboard/local/enabled"


def modules(packages: tuple[str, ...], files: tuple[str, ...]) -> tuple[Copy, ...]:
    """Return modules of nfvbed, and the packages that they are in; all by their paths in `nfvbed`."""
    names = ("__init__.py", *(f"{package}/__init__.py" for package in packages), *files)
    return tuple(Copy(f"{FOLDER}/nfvbed/{name}", _HERE / name) for name in names)


def installed(package: str, patterns: tuple[str, ...]) -> tuple[Copy, ...]:
    """Return files of a Python package that nfvbed itself uses.

    Args:
        patterns: of the files in the package.

    Raises:
        InternalError: it is not installed.
    """
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise InternalError(f"{package} is not installed", fix="make setup")
    folder = Path(found.origin).parent
    files = sorted(path for pattern in patterns for path in folder.glob(pattern))
    return tuple(Copy(f"{FOLDER}/{package}/{path.relative_to(folder)}", path) for path in files)


def _panel() -> tuple[Copy, ...]:
    """Return Horizon's panel, and the files by which Horizon finds it."""
    files = sorted([*_PANEL.glob("*.py"), *_PANEL.glob("templates/**/*.html")])
    enabled = sorted(_PANEL.glob("enabled/*.py"))
    if not files or not enabled:
        raise InternalError("Horizon's panel is not there", where=str(_PANEL), fix="use a complete checkout of nfvbed")
    return (
        *(Copy(f"{FOLDER}/nfvbed_horizon/{path.relative_to(_PANEL)}", path) for path in files),
        *(Copy(f"{_ENABLED}/{path.name}", path) for path in enabled),
    )


PANEL = _panel()
"""Files of Horizon's panel, and those by which Horizon finds it."""
