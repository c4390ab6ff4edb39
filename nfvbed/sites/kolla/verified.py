"""Compares a rack with its variants: by what its deployment recorded, else by the user's word."""

import contextlib
from collections.abc import Callable
from functools import partial

from nfvbed.cloud.tacker.connection import connect, connect_as_named
from nfvbed.errors import UsageError
from nfvbed.records.findings import Finding, State
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.executor.takeover import KOLLAS_NAME
from nfvbed.sites.kolla.measured.described import without_program
from nfvbed.sites.kolla.measured.opened import bare, deployed_rack
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.render import order_pinned
from nfvbed.sites.kolla.site import RackSite, keep
from nfvbed.sites.kolla.verify.rack import verify_rack
from nfvbed.sites.stages import StagedCloud, VerifiedCloud
from nfvbed.sites.verify.path import TOPIC, verify_with_path
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

Found = tuple[Finding, ...]
Choose = Callable[[Variant], VnfChoice | None]


def verify(
    project: Project,
    stages: StagedCloud,
    site: KollaSiteSpec,
    asked: tuple[str | None, Choose | None],
    named: tuple[str | None, str | None],
) -> VerifiedCloud:
    """Verify a rack: by its journal where nfvbed has deployed it, unless the user says what is on it.

    Args:
        asked: variant and choice; see `verify_deployed`.
        named: release and cloud; see `verify_unknown`.
    """
    if any(named) or journal.read(RackPlaces.of(project.root, site.name)) is None:
        return verify_unknown(project, site, asked[0], named)
    return verify_deployed(project, stages, site, *asked)


def verify_deployed(
    project: Project, stages: StagedCloud, site: KollaSiteSpec, variant: str | None, choose: Choose | None
) -> VerifiedCloud:
    """Verify a rack by its journal, and write the findings there.

    Args:
        variant: name of the variant that must be there, and whose instances frames go through; None: all.
        choose: returns the VNF that is booted where none runs; None: no frame is sent.

    Raises:
        UnsupportedError: the deployment is not complete.
        UsageError: another variant is deployed.
    """
    rack = deployed_rack(site, project.root)
    if variant is not None and not rack.pinning.computes_of(variant):
        raise UsageError(
            f"{variant} is not deployed on site {site.name}",
            observed=f"{rack.pinning.name} is deployed",
            fix=f"nfvbed verify --site {site.name}; or nfvbed deploy {variant} --site {site.name} --redeploy",
        )
    # As a run has them: what the site's file says of a variant's ports is in it.
    named = [project.load_variant(one.name, site) for one in rack.pinning.each if variant in (None, one.name)]
    untold = "none was asked for" if choose is None else _without_generator(site)
    if choose is None or untold:
        reading = verify_rack(rack.order, connect(site.name, rack.places.clouds))
        found = (*reading, Finding(topic=TOPIC, state=State.UNKNOWN, summary=untold, probed="not tried"))
    else:
        found = _with_paths(partial(RackSite, rack, project.root, stages), named, choose)
    keep(rack, found)
    return VerifiedCloud(rack.pinning.name, bare(rack, named[0]).deployment.id, found)


def _without_generator(site: KollaSiteSpec) -> str:
    """Return why no frame can be sent; empty: one can."""
    lacking = without_program(site)
    return f"{lacking} (generator.{site.generator.engine if site.generator else 'nfvgen'})" if lacking else ""


def _with_paths(opened: Callable[[], RackSite], variants: list[Variant], choose: Choose) -> Found:
    """Verify, and send frames through an instance of each variant, one after the other: each has the networks alone."""
    found: dict[str, Finding] = {}
    for variant in variants:
        with contextlib.closing(opened()) as place:
            for one in verify_with_path(place, place.to_verify(variant), variant, partial(choose, variant)):
                topic = f"{one.topic}: {variant.name}" if one.topic == TOPIC and len(variants) > 1 else one.topic
                found[topic] = one.model_copy(update={"topic": topic})
    return tuple(found.values())


def verify_unknown(
    project: Project, site: KollaSiteSpec, variant: str | None, named: tuple[str | None, str | None]
) -> VerifiedCloud:
    """Verify a rack that nfvbed has not deployed: the user names its variant.

    Args:
        named: the release, and the cloud's name in `clouds.yaml`; None: the default ones.

    Raises:
        UsageError: no variant is named.
    """
    if variant is None:
        raise UsageError(
            f"say which variant is deployed on site {site.name}", fix=f"nfvbed verify VARIANT --site {site.name}"
        )
    release, os_cloud = named
    pinning = pinning_of(project, site, variant)
    order = order_pinned(pinning, site, project.load_kolla_release(release or NEWEST))
    found = verify_rack(order, connect_as_named(os_cloud or KOLLAS_NAME, None))
    reason = "no frame is sent on a rack that nfvbed did not deploy"
    untried = Finding(topic=TOPIC, state=State.UNKNOWN, summary=reason, probed="not tried")
    return VerifiedCloud(pinning.name, "", (*found, untried))
