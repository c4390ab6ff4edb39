"""The deployment of a rack, from its journal: which compute has which variant, and of which release."""

from collections.abc import Mapping
from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import Deployment
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.complete import require_complete
from nfvbed.sites.kolla.executor.journal import Journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured.cloud import DeployedRack
from nfvbed.sites.kolla.pinning import Pinning
from nfvbed.sites.openstack.paths import BARE
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

_SHOWN = 8


def deployed_rack(spec: KollaSiteSpec, root: Path) -> DeployedRack:
    """Return a deployed rack; nothing is asked of its machines.

    Raises:
        UnsupportedError: nothing is deployed on it, or not all.
        DeployError: the journal cannot be read.
    """
    places = RackPlaces.of(root, spec.name)
    found = require_complete(spec.name, places)
    project = open_project(root)
    flavors = tuple(project.load_flavor(name) for name in project.flavor_names)
    release = project.load_kolla_release(found.release)
    return DeployedRack(spec, places, pinning_in(found, project, spec), flavors, release)


def pinning_in(found: Journal, project: Project, spec: KollaSiteSpec) -> Pinning:
    """Return which compute has which variant, as a journal has it."""
    names: Mapping[str, str] = found.pins or dict.fromkeys(spec.hosts_with("compute"), found.variant)
    return Pinning({host: project.load_variant(name) for host, name in names.items()})


def bare(rack: DeployedRack, variant: Variant) -> DeploymentRecord:
    """Return the record of one of a rack's variants as deployed without VNFs."""
    found = journal.read(rack.places)
    digest = found.digest[:_SHOWN] if found else ""
    since = max((one.at for one in found.stages.values()), default="") if found else ""
    deployment = Deployment(id=digest, variant=variant.name, site=rack.site.name, topology=BARE, ports=())
    return DeploymentRecord(
        deployment, variant, None, str(rack.places.journal), since, rack.pinning.computes_of(variant.name)
    )
