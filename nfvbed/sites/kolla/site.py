"""The site of machines that kolla-ansible deploys: once it has, its cloud is onboarded on and measured."""

from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured.cloud import DeployedRack, RackCloud
from nfvbed.sites.kolla.measured.described import described
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.openstack.site import OpenstackSite
from nfvbed.sites.openstack.tackervnfs import TackerVnfs
from nfvbed.spec.site import KollaSiteSpec


def open_site(spec: KollaSiteSpec, root: Path) -> OpenstackSite:
    """Open a rack that is deployed; nothing is asked of it yet.

    Raises:
        UnsupportedError: nothing is deployed on it, or not all.
        ConfigurationError: its file does not say what the generator is.
    """
    places = RackPlaces.of(root, spec.name)
    found = journal.read(places)
    if found is None or found.destroying or found.stopped_in() or not places.clouds.is_file():
        raise UnsupportedError(
            f"site {spec.name} has no cloud",
            where=f"deploy/sites/{spec.name}.yml",
            observed="nothing is deployed on it" if found is None else f"{found.variant} is not complete on it",
            fix=f"nfvbed deploy VARIANT --site {spec.name} (docs/howto/kolla.md)",
        )
    project = open_project(root)
    flavors = tuple(project.load_flavor(name) for name in project.flavor_names)
    cloud = described(spec, found.release)
    target = RackCloud(cloud, root, DeployedRack(spec, places, found.variant, flavors))
    provider = TackerVnfs(spec.name, cloud.onboarding, target, root)
    return OpenstackSite(spec.name, LabMachine(cloud, root), target, provider)
