"""What an installation without an extra lacks; looking at stores needs no extra."""

from typing import Final

from nfvbed.errors import PrerequisiteError

EXTRA_OF: Final = {
    **dict.fromkeys(("MLRsearch", "ovs", "ovsdbapp", "pyroute2", "qemu", "vpp_papi"), "lab"),
    **dict.fromkeys(("keystoneauth1", "openstack", "tackerclient", "toscaparser", "translator"), "openstack"),
    **dict.fromkeys(("ansible_runner",), "kolla"),
    **dict.fromkeys(
        ("bson", "diameter", "pycrate_asn1dir", "pycrate_asn1rt", "pycrate_core", "pycrate_mobile"),
        "vepc",
    ),
}
"""By imported package: the extra of pyproject.toml that brings it."""


def missing_extra(error: ModuleNotFoundError) -> PrerequisiteError | None:
    """Return what to tell the user where an extra would have brought the module; None: none would have."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRA_OF:
        return None
    return PrerequisiteError(
        "nfvbed was installed without what this verb needs",
        where=f"the Python package {package}",
        observed="not installed",
        fix=f"install nfvbed[{EXTRA_OF[package]}], or use a checkout (make setup); looking at stores needs neither",
    )
