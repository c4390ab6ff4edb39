"""Deploys and takes down the cloud of a rack as ordered; another cloud there is taken down first, if confirmed."""

from collections.abc import Callable

from nfvbed.sites.kolla.executor import destroying, journal, stages, succession
from nfvbed.sites.kolla.executor.deploying import RackRequest, deploy, is_another, prepare, require_free
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.measured.tenants import require_own
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.stages import CloudOrder, DeployedCloud, Observer
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec


def deploy_order(
    project: Project, site: KollaSiteSpec, order: CloudOrder, confirm: Callable[[], None], observer: Observer
) -> DeployedCloud:
    """Deploy what is ordered; as `StagedCloud.deploy`."""
    wish, places = _wish(project, site, order), RackPlaces.of(project.root, site.name)
    prepare(project, wish)  # before another one is taken down for it
    if order.replaces and _has_another(places, wish):
        succession.require_machines(project, wish)
        require_own(places, site.name, evict=order.evicts)
        confirm()
        for line in destroying.destroy(project, site, observer):
            observer.say(line)
    existed = deploy(project, wish, observer, succession.examine)
    found = journal.read(places)
    record = found.model_dump(mode="json") if found else {}
    return DeployedCloud(wish.pinning.name, existed, places.clouds, places.logs, record, wish.tags)


def foresee_order(project: Project, site: KollaSiteSpec, order: CloudOrder) -> tuple[str, ...]:
    """Return what deploying an order would do; as `StagedCloud.foresee`."""
    wish, places = _wish(project, site, order), RackPlaces.of(project.root, site.name)
    found, lines = journal.read(places), list[str]()
    prepare(project, wish)
    if not (order.replaces and _has_another(places, wish)):
        require_free(found, wish)
    else:
        succession.require_machines(project, wish)
        require_own(places, site.name, evict=order.evicts)
        lines += destroying.foresee(project, site.name)
    for stage in stages.deploying(project.root, site, order.tags):
        known = found.stages.get(stage.name) if found else None
        lines.append(f"{stage.name:18} {known.outcome if known else 'to do':12} {stage.summary}")
    return tuple(lines)


def is_there(project: Project, site: str, *, evicts: bool) -> bool:
    """Return whether anything is deployed; as `StagedCloud.is_there`."""
    places = RackPlaces.of(project.root, site)
    found = journal.read(places)
    require_own(places, site, evict=evicts)
    return found is not None


def take_down(project: Project, site: KollaSiteSpec, observer: Observer, *, evicts: bool) -> tuple[str, ...]:
    """Take down what is deployed; as `StagedCloud.take_down`."""
    if not is_there(project, site.name, evicts=evicts):
        return destroying.foresee(project, site.name)
    return destroying.destroy(project, site, observer)


def foresee_take_down(project: Project, site: str, *, evicts: bool) -> tuple[str, ...]:
    """Return what would be taken down; as `StagedCloud.foresee_take_down`."""
    is_there(project, site, evicts=evicts)
    return destroying.foresee(project, site)


def _wish(project: Project, site: KollaSiteSpec, order: CloudOrder) -> RackRequest:
    release = project.load_kolla_release(order.release or NEWEST)
    return RackRequest(pinning_of(project, site, order.variant), site, release, order.inventory, order.tags)


def _has_another(places: RackPlaces, wish: RackRequest) -> bool:
    found = journal.read(places)
    if found is None or not found.on_machines:
        return False
    return found.destroying or is_another(found, wish)
