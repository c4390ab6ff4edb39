"""Examines machines for a variant that is to follow another one, before that one is taken down for it.

What machines answer while they have a variant goes by it: its ports, its hugepages, the rack's virtual address. So the
answers from before anything was deployed are kept, and the next variant is examined with them.
"""

import json

from pydantic import ValidationError

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.records import Record
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.executor.deploying import RackRequest, require_no_fault
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.pinning import Pinning
from nfvbed.sites.kolla.preflight.checks import examine_gathered
from nfvbed.sites.kolla.preflight.facts import MachineFacts
from nfvbed.sites.kolla.preflight.finding import Finding
from nfvbed.sites.kolla.preflight.gather import MachineAnswers, gather
from nfvbed.spec.kollarelease import KollaReleaseSpec
from nfvbed.spec.loader import Project
from nfvbed.spec.rack import RackHostSpec
from nfvbed.spec.site import KollaSiteSpec


class UndeployedMachines(Record):
    """The answers of machines that nothing is deployed on."""

    hosts: dict[str, RackHostSpec]
    """The site's file about them at that time."""
    facts: dict[str, MachineFacts]
    findings: tuple[Finding, ...]


def examine(project: Project, site: KollaSiteSpec, pinning: Pinning, release: KollaReleaseSpec) -> list[Finding]:
    """Ask the machines, and return all faults; the answers are kept where nothing is on the machines yet."""
    places = RackPlaces.of(project.root, site.name)
    answers, found = gather(site), journal.read(places)
    if found is None or not found.on_machines:
        keep(places, site, answers)
    return examine_gathered(project, site, pinning, release, answers)


def require_machines(project: Project, wish: RackRequest) -> None:
    """Refuse a variant that the machines could not have once another one is taken down, as far as they are known.

    Raises:
        ConfigurationError: there are faults; with all of them.
    """
    answers = _kept(RackPlaces.of(project.root, wish.site.name), wish.site)
    if answers is not None:
        findings = examine_gathered(project, wish.site, wish.pinning, wish.release, answers)
        require_no_fault(wish, findings, "nothing is taken down, nor deployed", is_prepared=False)


def keep(places: RackPlaces, site: KollaSiteSpec, answers: MachineAnswers) -> None:
    """Keep the answers of machines that nothing is deployed on."""
    kept = UndeployedMachines(hosts=dict(site.hosts), facts=dict(answers.facts), findings=answers.findings)
    write_private(places.undeployed, json.dumps(kept.model_dump(mode="json"), indent=1) + "\n")


def _kept(places: RackPlaces, site: KollaSiteSpec) -> MachineAnswers | None:
    """Return what is kept; None: nothing, or the site's file has described other machines since."""
    try:
        kept = UndeployedMachines.model_validate_json(places.undeployed.read_text())
    except (FileNotFoundError, ValidationError):
        return None
    return MachineAnswers(kept.facts, kept.findings) if kept.hosts == dict(site.hosts) else None
