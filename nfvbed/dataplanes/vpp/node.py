"""The node with VPP, declared: nfvbed's own agent and mechanism driver of Neutron, and VPP beside its services."""

from nfvbed.cloud.devcloud.services import library, libvirt, neutron, nova
from nfvbed.cloud.devcloud.services.computes import ComputeKind
from nfvbed.cloud.devcloud.services.service import File, Folder, Mechanism, Process, Service
from nfvbed.dataplanes.vpp.neutron_vpp import names
from nfvbed.dataplanes.vpp.nodeprocess import NodeVpp

_PACKAGES = ("dataplanes", "dataplanes/vpp", "dataplanes/vpp/neutron_vpp")
_OWN = "dataplanes/vpp/neutron_vpp"
DRIVER = library.modules(_PACKAGES, (f"{_OWN}/driver.py", f"{_OWN}/names.py"))
"""What Neutron's server needs of nfvbed."""
AGENT = (
    *library.modules(
        _PACKAGES,
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
    # VPP's API for Python, with the definitions by which it asks VPP for all others.
    *library.installed("vpp_papi", ("*.py", "data/*.py", "data/*.json")),
)
"""What the agent needs."""
_AGENT_MODULE = "nfvbed.dataplanes.vpp.neutron_vpp.agent"
_SERVICE = Service(
    "neutron",
    files=(File("/etc/neutron/neutron.conf", "neutron-of-agent.conf.j2", "root:neutron"),),
    copies=AGENT,
    folders=(Folder("/var/lib/neutron", "neutron:neutron", 0o755),),
    processes=(
        Process(
            names.BINARY,
            ("/usr/bin/python3", "-m", _AGENT_MODULE, *neutron.SERVER),
            environment=library.ENVIRONMENT,
            after_apis=True,
        ),
    ),
)
KIND = ComputeKind(
    "vpp",
    names.BINARY,
    (libvirt.SERVICE, nova.COMPUTE, _SERVICE),
    Mechanism("vpp", "nfvbed.dataplanes.vpp.neutron_vpp.driver:VppMechanismDriver", DRIVER),
    NodeVpp(),
)
