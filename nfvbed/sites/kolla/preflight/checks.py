"""All faults of a rack at once: what its file says, what a variant and a release want, and what its machines have."""

from collections.abc import Mapping

from nfvbed.cloud.kolla.placement import Placement
from nfvbed.cloud.kolla.plane import KollaPlane
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.sites.kolla import boxglobals
from nfvbed.sites.kolla.options import check_options
from nfvbed.sites.kolla.ownglobals import KollaVariables
from nfvbed.sites.kolla.pinning import Pinning, check_together, plane_of
from nfvbed.sites.kolla.preflight.collection import check_collection
from nfvbed.sites.kolla.preflight.controllers import check_controllers
from nfvbed.sites.kolla.preflight.cores import check_cores
from nfvbed.sites.kolla.preflight.facts import MachineFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.sites.kolla.preflight.gather import MachineAnswers
from nfvbed.sites.kolla.preflight.kernel import check_kernel, check_variables
from nfvbed.sites.kolla.preflight.machines import check_machine, check_twice
from nfvbed.sites.kolla.preflight.networks import check_flavors, check_networks
from nfvbed.sites.kolla.preflight.nics import check_nics
from nfvbed.sites.kolla.preflight.subject import Subject
from nfvbed.sites.kolla.render import check_release, order_of
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant


def examine_gathered(
    project: Project, site: KollaSiteSpec, pinning: Pinning, release: KollaReleaseSpec, gathered: MachineAnswers
) -> list[Finding]:
    """Return all faults, from what machines have answered.

    Args:
        project: its flavors are checked too, as they are made in the cloud.
        release: release that is to be deployed.
    """
    flavors = tuple(project.load_flavor(name) for name in project.flavor_names)
    computes = {name for name, one in pinning.variants.items() if plane_of(one).has_functions}
    tried = [finding for finding in gathered.functions if finding.machine in computes]
    known = KollaVariables.of(project.root, site.name, boxglobals.rendered(site, boxglobals.this_host()))
    of_kolla = (*check_collection(project.root, site), *check_variables(site, known))
    of_kernels = (*_check_box(site, pinning), *check_kernel(site, gathered.facts, known))
    return [
        *of_kolla,
        *gathered.findings,
        *of_kernels,
        *preflight(site, pinning, release, gathered.facts, flavors),
        *tried,
    ]


def preflight(
    site: KollaSiteSpec,
    pinning: Pinning,
    release: KollaReleaseSpec,
    facts: Mapping[str, MachineFacts],
    flavors: tuple[Flavor, ...] = (),
) -> list[Finding]:
    """Return all faults, from facts alone.

    Args:
        release: release that is to be deployed.
        facts: facts of the machines that could be asked, by name; of the others only the file is checked.
        flavors: flavors that are made in the cloud.
    """
    findings = [finding for variant in pinning.each for finding in _check_variant(variant, release)]
    findings += _check_together(pinning, site)
    placements = dict[str, Placement]()
    for name, variant in pinning.variants.items() if not findings else ():
        findings += _place(site, name, variant, release, placements)
    findings += check_networks(site, pinning)
    for variant in pinning.each:
        placed = {name: placements[name] for name in pinning.computes_of(variant.name) if name in placements}
        findings += check_flavors(site, variant, placed, flavors)
    findings += check_twice(site, facts)
    findings += check_controllers(site, facts)
    for name, found in facts.items():
        subject = Subject(site, name, site.hosts[name], found, _plane_on(pinning, name), placements.get(name))
        for check in (check_machine, check_nics, check_cores):
            findings += check(subject)
    return findings


def _plane_on(pinning: Pinning, name: str) -> KollaPlane:
    """Return the data plane of a compute; of another machine one that needs its tunnel address, where there is one."""
    if name in pinning.variants:
        return plane_of(pinning.on(name))
    needing = (plane for plane in pinning.planes if plane.neutron.overlay_address != "unused")
    return next(needing, pinning.planes[0])


def _check_box(site: KollaSiteSpec, pinning: Pinning) -> list[Finding]:
    try:
        boxglobals.require_kernel(site, pinning.each)
    except UnsupportedError as failure:
        return [_of_file("", failure)]
    return []


def _check_together(pinning: Pinning, site: KollaSiteSpec) -> list[Finding]:
    try:
        check_together(pinning, site)
    except ConfigurationError as failure:
        return [_of_file("", failure)]
    return []


def _check_variant(variant: Variant, release: KollaReleaseSpec) -> list[Finding]:
    found = []
    try:
        check_release(variant, release)
    except UnsupportedError as failure:
        found.append(_of_file("", failure))
    else:
        try:
            check_options(variant)
        except UnsupportedError as failure:
            found.append(_of_file("", failure))
    return found


def _place(
    site: KollaSiteSpec, name: str, variant: Variant, release: KollaReleaseSpec, placements: dict[str, Placement]
) -> list[Finding]:
    """Place a variant on one compute, which has faults of its own."""
    alone = site.model_copy(update={"hosts": {name: site.hosts[name]}})
    try:
        placements.update(order_of(variant, alone, release).placements)
    except (ConfigurationError, UnsupportedError) as failure:
        return [_of_file(name, failure)]
    return []


def _of_file(machine: str, failure: ConfigurationError | UnsupportedError) -> Finding:
    return Finding(machine=machine, what=failure.what, key=failure.where, observed=failure.observed, fix=failure.fix)
