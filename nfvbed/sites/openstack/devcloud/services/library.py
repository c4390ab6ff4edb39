"""The part of nfvbed's Python that runs in nodes: beside Neutron its mechanism driver and its agent for VPP, in Horizon
its panel.

A node has the Python and the libraries of the private root, and none of nfvbed's own: modules that are named here
import the standard library, each other, `vpp_papi`, and what Neutron has.
"""

import importlib.util
from pathlib import Path

import nfvbed
from nfvbed.dataplanes.vpp.neutron_vpp import names
from nfvbed.errors import InternalError
from nfvbed.sites.openstack.devcloud.services.service import Copy

FOLDER = "/usr/lib/nfvbed"
"""In a node."""
ENVIRONMENT = (("PYTHONPATH", FOLDER),)
AGENT_BINARY = names.BINARY
AGENT_MODULE = "nfvbed.dataplanes.vpp.neutron_vpp.agent"
_HERE = Path(nfvbed.__file__).parent
_PLUGIN = ("dataplanes", "dataplanes/vpp", "dataplanes/vpp/neutron_vpp")
_PAPI = "vpp_papi"
_PANEL = _HERE.parent / "horizon-plugin" / "nfvbed_horizon"
_ENABLED = "/usr/lib/python3/dist-packages/openstack_dashboard/local/enabled"


def _modules(packages: tuple[str, ...], files: tuple[str, ...]) -> tuple[Copy, ...]:
    """Return modules of nfvbed, with the packages that they are in."""
    names = ("__init__.py", *(f"{package}/__init__.py" for package in packages), *files)
    return tuple(Copy(f"{FOLDER}/nfvbed/{name}", _HERE / name) for name in names)


def _papi() -> tuple[Copy, ...]:
    """Return VPP's API for Python, with the definitions by which it asks VPP for all others."""
    found = importlib.util.find_spec(_PAPI)
    if found is None or found.origin is None:
        raise InternalError(f"{_PAPI} is not installed", fix="make setup")
    folder = Path(found.origin).parent
    files = sorted([*folder.glob("*.py"), *folder.glob("data/*.py"), *folder.glob("data/*.json")])
    return tuple(Copy(f"{FOLDER}/{_PAPI}/{path.relative_to(folder)}", path) for path in files)


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


_OWN = "dataplanes/vpp/neutron_vpp"
DRIVER = _modules(_PLUGIN, (f"{_OWN}/driver.py", f"{_OWN}/names.py"))
"""Of Neutron's server."""
AGENT = (
    *_modules(
        _PLUGIN,
        (
            "errors.py",
            "patience.py",
            "dataplanes/vpp/api.py",
            "dataplanes/vpp/calls.py",
            f"{_OWN}/agent.py",
            f"{_OWN}/names.py",
            f"{_OWN}/plumbing.py",
        ),
    ),
    *_papi(),
)
"""Of the agent."""
PANEL = _panel()
"""Of Horizon."""
